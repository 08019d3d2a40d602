/**
 * What has happened, line by line, for people; and its digest: the same seed gives the same. Lines are kept only where
 * somebody will read them.
 */
import { createHash } from "node:crypto";
import type { Commit } from "./observed.js";
import { COMPONENT } from "./deployment.js";

export class Trace {
  readonly lines: string[] = [];
  readonly #hash = createHash("sha256");
  commits = 0;

  constructor(
    private readonly now: () => number,
    private readonly keeps: boolean,
  ) {}

  add(who: string, what: string, detail?: unknown): void {
    const said = detail === undefined ? "" : ` ${readable(detail)}`;
    const line = `${this.now().toFixed(2).padStart(12)}  ${who.padEnd(9)} ${what}${said}`;
    this.#hash.update(line);
    if (this.keeps) this.lines.push(line);
  }

  commit(commit: Commit, nameOf: (id: string) => string): void {
    this.commits += 1;
    for (const { namespace, table, id, before, after } of commit.changes) {
      this.#hash.update(`${commit.at} ${table} ${id} ${after === null ? "-" : "+"}`);
      if (!this.keeps) continue;
      if (namespace === COMPONENT && table === "jobs") {
        const fields =
          after === null ? "deleted" : `${after["status"]} attempt ${after["attempt"]}`;
        const came = before === null ? "" : `${before["status"]} → `;
        this.add("job", nameOf(id), `${came}${fields}`);
      } else if (!QUIET.has(table)) {
        this.add("row", `${table} ${id.slice(0, 6)}`, after ?? "deleted");
      }
    }
  }

  digest(): string {
    return this.#hash.digest("hex").slice(0, 16);
  }
}

/** Said by other lines already, or of no use to anybody. */
const QUIET = new Set(["_session_requests"]);

function readable(detail: unknown): string {
  if (typeof detail === "string") return detail;
  const text = JSON.stringify(detail, (_key, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
  return text === undefined ? "" : text.length > 400 ? `${text.slice(0, 400)}…` : text;
}

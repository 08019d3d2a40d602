/**
 * The run line by line, for people; and its digest: the same seed gives the same. Lines are kept only where they will be read.
 */
import { createHash } from "node:crypto";
import { SCHEDULED_TABLE } from "../../local/functions/scheduledTable.js";
import type { Change, Commit, Row } from "./observed.js";
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
    this.#hash.update(`${this.now()} ${who} ${what}${said}\n`);
    this.#keep(who, what, said);
  }

  commit(commit: Commit, nameOf: (id: string) => string): void {
    this.commits += 1;
    for (const change of commit.changes) {
      const { table, id, after } = change;
      const status = after?.["status"] as string | undefined;
      this.#hash.update(`${commit.at} ${table} ${id} ${after === null ? "-" : (status ?? "+")}\n`);
      if (this.keeps && !QUIET.has(table)) this.#keep(...sayChange(change, nameOf));
    }
  }

  #keep(who: string, what: string, said: string): void {
    if (!this.keeps) return;
    this.lines.push(`${this.now().toFixed(2).padStart(12)}  ${who.padEnd(9)} ${what}${said}`);
  }

  digest(): string {
    return this.#hash.digest("hex").slice(0, 16);
  }
}

/** Rows that other lines cover already, or that are of no use in a trace. */
const QUIET = new Set(["_session_requests"]);

function sayChange(
  change: Change,
  nameOf: (id: string) => string,
): [who: string, what: string, said: string] {
  const { namespace, table, id, before, after } = change;
  if (namespace === COMPONENT && table === "jobs") {
    const came = before === null ? "" : `${before["status"] as string} → `;
    const is =
      after === null
        ? "deleted"
        : `${after["status"] as string}, attempt ${after["attempt"] as number}`;
    return ["job", nameOf(id), ` ${came}${is}`];
  }
  if (table === SCHEDULED_TABLE) {
    const row = after ?? before!;
    const { kind } = row["state"] as { kind: string };
    const said = before === null ? `is due in ${inMs(row)}` : after === null ? "is gone" : kind;
    return ["schedule", row["name"] as string, ` ${said}`];
  }
  const what = `${table} ${id.slice(0, 6)}`;
  if (after === null) return ["row", what, " deleted"];
  return ["row", what, ` ${readable(before === null ? bare(after) : changed(before, after))}`];
}

function inMs(row: Row): string {
  return `${((row["due"] as number) - (row["_creationTime"] as number)).toFixed()} ms`;
}

function bare(row: Row): object {
  const { _id, _creationTime, ...rest } = row;
  return rest;
}

/** The changed fields; removed ones are `null`. */
function changed(before: Row, after: Row): object {
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]);
  return Object.fromEntries(
    [...fields]
      .filter((field) => readable(before[field]) !== readable(after[field]))
      .map((field) => [field, (after[field] ?? null) as unknown]),
  );
}

function readable(detail: unknown): string {
  if (typeof detail === "string") return detail;
  const text = JSON.stringify(detail, (_key, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
  return text === undefined ? "" : text.length > 400 ? `${text.slice(0, 400)}…` : text;
}

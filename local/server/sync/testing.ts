/** For tests: a database of named rows with all its past. A query reads one of them, a commit writes some. */
import type { JSONValue } from "convex/values";
import type { PublishedCommit, ReadSet, Ts } from "../../engine/types.js";
import type { CalledQuery, Call } from "../calls.js";

export class FakeBackend {
  latestTs: Ts = 10n;
  runs: string[] = [];
  /** Called while a query runs, between its snapshot and its result. */
  duringRun: (path: string) => void | Promise<void> = () => {};
  mostAtOnce = 0;
  logs: string[] = [];
  /** When set, every query fails with it. */
  failure: string | null = null;
  #running = 0;
  readonly #rows = new Map<string, { ts: Ts; value: JSONValue }[]>();
  readonly #listeners = new Set<(commit: PublishedCommit) => void>();

  write(rows: Record<string, JSONValue>): Ts {
    const ts = ++this.latestTs;
    for (const [row, value] of Object.entries(rows)) {
      const versions = this.#rows.get(row) ?? [];
      versions.push({ ts, value });
      this.#rows.set(row, versions);
    }
    const touches = (reads: ReadSet): boolean => (reads as FakeReads).row in rows;
    for (const listener of this.#listeners) listener({ ts, touches } as PublishedCommit);
    return ts;
  }

  valueAt(row: string, ts: Ts): JSONValue {
    return this.#rows.get(row)?.findLast((version) => version.ts <= ts)?.value ?? null;
  }

  onPublish(listener: (commit: PublishedCommit) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async query({ path, at, journal }: Call): Promise<CalledQuery> {
    this.runs.push(path);
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.#running);
    const ts = at ?? this.latestTs;
    const value = this.valueAt(path, ts);
    await Promise.resolve();
    await this.duringRun(path);
    this.#running--;
    const told = { ts, reads: new FakeReads(path), logs: this.logs };
    if (this.failure === null) {
      return { ok: true, value, journal: journal ? `${journal}+` : null, ...told };
    }
    const request = this.runs.length.toString(16);
    const message = `[Request ID: ${request}] Server Error\n${this.failure}`;
    return { ok: false, message, journal: null, ...told };
  }
}

class FakeReads implements ReadSet {
  readonly intervals = 1;
  constructor(readonly row: string) {}
  union(): ReadSet {
    throw new Error("not needed");
  }
}

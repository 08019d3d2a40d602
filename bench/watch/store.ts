/**
 * The facts of jobs in commits: when a job's end was recorded, and how many of the written bytes are payloads and
 * results, which no alternative can save.
 */
import { getConvexSize, getDocumentSize, type Value } from "convex/values";
import type { StoredCommit, StoredWrite } from "../../local/engine/store.js";
import { MemoryStore } from "../../local/store/memoryStore.js";

export type Row = Record<string, any>;

/** Where a row has its payload and its result, by namespace and table. */
const PAYLOADS: Record<string, (row: Row) => (Value | undefined)[]> = {
  "conveyor/jobs": ({ payload, result }) => [payload?.inline, result?.inline],
  "conveyor/payloads": ({ value }) => [value],
  "workpool/work": ({ fnArgs }) => [fnArgs],
  "workpool/payload": ({ args }) => [args],
  "workpool/pendingCompletion": ({ runResult }) => [runResult.returnValue],
  "/farmJobs": ({ work }) => [work],
  "/ringItems": ({ work }) => [work],
};

/** All workpools as one. */
const placeOf = (namespace: string, table: string): string =>
  `${namespace.replace(/^workpool\d+$/, "workpool")}/${table}`;

const ENDS = ["succeeded", "failed", "canceled", "timedOut"];

export class WatchingStore extends MemoryStore {
  /**
   * When the commit was made that records a job's end, where only commits show it: of Conveyor, and of workpool, which
   * forgets it then. All other alternatives log it.
   */
  readonly recorded = new Map<number, number>();
  payloadBytes = 0;
  /** Of rows that say of a job that it has ended, and stay: Conveyor's alone. */
  keptBytes = 0;
  /** The first version of the first row of each table since this was last cleared, by namespace and table. */
  readonly first = new Map<string, Row>();
  /** The job's number, by the row that has its payload. */
  readonly #numbers = new Map<string, number>();

  override async append(commits: readonly StoredCommit[]): Promise<void> {
    for (const { ts, writes } of commits) {
      // Large payloads have rows of their own, which the job's row names.
      for (const write of writes) this.#number(write);
      for (const write of writes) this.#see(write, Number(ts) / 1e6);
    }
    await super.append(commits);
  }

  #number({ namespace, table, id, doc }: StoredWrite): void {
    if (doc === null) return;
    const values = PAYLOADS[placeOf(namespace, table)]?.(doc) ?? [];
    const [payload] = values as { n?: number }[];
    if (payload?.n !== undefined) this.#numbers.set(id, payload.n);
  }

  #see({ namespace, table, id, doc: row }: StoredWrite, at: number): void {
    const place = placeOf(namespace, table);
    if (row !== null && !this.first.has(place)) this.first.set(place, row);
    for (const value of row === null ? [] : (PAYLOADS[place]?.(row) ?? [])) {
      if (value !== undefined) this.payloadBytes += getConvexSize(value);
    }
    if (place === "conveyor/jobs" && row !== null) {
      const { status, payload } = row as Row;
      if (!this.#numbers.has(id)) this.#numbers.set(id, this.#numbers.get(payload.row)!);
      if (ENDS.includes(status)) {
        this.recorded.set(this.#numbers.get(id)!, at);
        this.keptBytes += getDocumentSize(row as Record<string, Value>);
      }
    }
    if (place === "workpool/work") {
      const { payloadId } = (row ?? {}) as Row;
      if (row === null) this.recorded.set(this.#numbers.get(id)!, at);
      else if (payloadId !== undefined) this.#numbers.set(id, this.#numbers.get(payloadId)!);
    }
  }
}

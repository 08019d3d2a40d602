/** What commits say of Conveyor's jobs: when an end was recorded; and how many bytes written are payloads, of all three. */
import { getConvexSize, type Value } from "convex/values";
import type { StoredCommit, StoredWrite } from "../../local/engine/store.js";
import { MemoryStore } from "../../local/store/memoryStore.js";

type Row = Record<string, any>;

/** Where a row has its payload and its result. */
const PAYLOADS: Record<string, (row: Row) => (Value | undefined)[]> = {
  "conveyor/jobs": ({ payload, result }) => [payload?.inline, result?.inline],
  "/farmJobs": ({ work }) => [work],
  "/ringItems": ({ work }) => [work],
};

export class WatchingStore extends MemoryStore {
  /** When the commit was made that says of a job that it has ended. */
  readonly recorded = new Map<number, number>();
  payloadBytes = 0;

  override async append(commits: readonly StoredCommit[]): Promise<void> {
    for (const { ts, writes } of commits) {
      for (const write of writes) this.see(write, Number(ts) / 1e6);
    }
    await super.append(commits);
  }

  private see({ namespace, table, doc }: StoredWrite, at: number): void {
    const row = doc as Row | null;
    const payloads = PAYLOADS[`${namespace}/${table}`];
    if (row === null || payloads === undefined) return;
    for (const value of payloads(row)) {
      if (value !== undefined) this.payloadBytes += getConvexSize(value);
    }
    if (namespace === "conveyor" && row["status"] === "succeeded") {
      this.recorded.set((row["payload"].inline as { n: number }).n, at);
    }
  }
}

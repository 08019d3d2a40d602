/**
 * What commits say of jobs: when a job's end was recorded, and how many bytes of what was written are payloads and results,
 * which no alternative can save.
 */
import { getConvexSize, type Value } from "convex/values";
import type { StoredCommit, StoredWrite } from "../../local/engine/store.js";
import { MemoryStore } from "../../local/store/memoryStore.js";

type Row = Record<string, Value | undefined>;

export class WatchingStore extends MemoryStore {
  /** When the commit was made that says of a job that it has ended. */
  readonly recorded = new Map<number, number>();
  payloadBytes = 0;
  private readonly ofWork = new Map<string, number>();

  override async append(commits: readonly StoredCommit[]): Promise<void> {
    for (const { ts, writes } of commits) {
      for (const write of writes) this.see(write, Number(ts) / 1e6);
    }
    await super.append(commits);
  }

  private see({ namespace, table, id, doc }: StoredWrite, at: number): void {
    const row = doc as Row | null;
    if (namespace === "conveyor" && table === "jobs" && row !== null) {
      const [payload, result] = [inline(row["payload"]), inline(row["result"])];
      this.payloadBytes += sizeOf(payload) + sizeOf(result);
      if (row["status"] === "succeeded") this.recorded.set(numberOf(payload), at);
    }
    if (namespace === "workpool" && table === "pendingCompletion" && row !== null) {
      this.payloadBytes += sizeOf((row["runResult"] as Row)["returnValue"]);
    }
    if (namespace === "workpool" && table === "work") {
      if (row === null) this.recorded.set(this.ofWork.get(id)!, at);
      else {
        this.payloadBytes += sizeOf(row["fnArgs"]);
        this.ofWork.set(id, numberOf(row["fnArgs"]));
      }
    }
  }
}

function inline(stored: Value | undefined): Value | undefined {
  return (stored as Row | undefined)?.["inline"];
}

function sizeOf(value: Value | undefined): number {
  return value === undefined ? 0 : getConvexSize(value);
}

function numberOf(payload: Value | undefined): number {
  return (payload as { n: number }).n;
}

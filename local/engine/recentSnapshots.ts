/**
 * Snapshots that were the latest a moment ago, for reads at a timestamp that has just passed. Each shares all but the
 * changed branches with the next, so a remembered one costs about as much as its successor's commit wrote.
 */
import { MAX_RECENT_SNAPSHOTS, SNAPSHOT_RETENTION_MS } from "./limits.js";
import type { Snapshot } from "./snapshot.js";
import type { Ts } from "./types.js";

interface Past {
  snapshot: Snapshot;
  /** The timestamp of the commit that replaced it. */
  until: Ts;
  replacedAt: number;
}

export class RecentSnapshots {
  /** A ring: the oldest is overwritten. */
  readonly #ring: (Past | undefined)[] = new Array<Past | undefined>(MAX_RECENT_SNAPSHOTS);
  #next = 0;
  #oldest = 0;

  replaced(snapshot: Snapshot, until: Ts, now: number): void {
    this.#ring[this.#next++ % MAX_RECENT_SNAPSHOTS] = { snapshot, until, replacedAt: now };
    this.#oldest = Math.max(this.#oldest, this.#next - MAX_RECENT_SNAPSHOTS);
    while (
      this.#oldest < this.#next &&
      this.#entry(this.#oldest).replacedAt < now - SNAPSHOT_RETENTION_MS
    ) {
      this.#ring[this.#oldest++ % MAX_RECENT_SNAPSHOTS] = undefined;
    }
  }

  at(ts: Ts): Snapshot | null {
    let low = this.#oldest;
    let high = this.#next;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#entry(middle).until > ts) high = middle;
      else low = middle + 1;
    }
    const found = low < this.#next ? this.#entry(low).snapshot : null;
    // For a timestamp before all of them the search ends at the oldest, which is too new.
    return found !== null && found.ts <= ts ? found : null;
  }

  #entry(index: number): Past {
    return this.#ring[index % MAX_RECENT_SNAPSHOTS]!;
  }
}

import { beforeEach, describe, expect, test } from "vitest";
import { MAX_RECENT_SNAPSHOTS, SNAPSHOT_RETENTION_MS } from "./limits.js";
import { RecentSnapshots } from "./recentSnapshots.js";
import { Snapshot } from "./snapshot.js";

describe("snapshots that were the latest a moment ago", () => {
  let recent: RecentSnapshots;
  beforeEach(() => {
    recent = new RecentSnapshots();
  });

  /** One at each tenth timestamp, each replaced by the next. */
  function replace(from: number, to: number, now: (at: number) => number = () => 0): void {
    for (let at = from; at < to; at++) {
      recent.replaced(Snapshot.empty(BigInt(at * 10)), BigInt(at * 10 + 10), now(at));
    }
  }
  const tsAt = (ts: number) => recent.at(BigInt(ts))?.ts;

  test("hold from their own timestamp until that of the commit that replaced them", () => {
    replace(1, 4);
    expect([10, 19, 20, 29, 30, 39].map(tsAt)).toEqual([10n, 10n, 20n, 20n, 30n, 30n]);
  });

  test("give nothing for a time before all of them, nor for one that only the latest covers", () => {
    expect(tsAt(10)).toBeUndefined();
    replace(1, 4);
    expect([0, 9, 40, 1000].map(tsAt)).toEqual([undefined, undefined, undefined, undefined]);
  });

  test("are forgotten some seconds after they were replaced, and not before", () => {
    replace(1, 3, () => 1_000);
    replace(3, 4, () => 1_000 + SNAPSHOT_RETENTION_MS);
    expect([10, 20, 30].map(tsAt)).toEqual([10n, 20n, 30n]);
    replace(4, 5, () => 1_001 + SNAPSHOT_RETENTION_MS);
    expect([10, 20, 30, 40].map(tsAt)).toEqual([undefined, undefined, 30n, 40n]);
  });

  test("are so many at most: a burst of commits forgets the oldest, however young", () => {
    replace(0, MAX_RECENT_SNAPSHOTS + 5);
    expect([40, 49, 50].map(tsAt)).toEqual([undefined, undefined, 50n]);
    // Every one that is left is found, wherever the ring has its seam.
    for (let at = 5; at < MAX_RECENT_SNAPSHOTS + 5; at++) {
      expect(tsAt(at * 10 + 9)).toBe(BigInt(at * 10));
    }
  });

  test("all forgotten, they begin anew", () => {
    replace(0, 10, () => 0);
    replace(10, 11, () => 10 * SNAPSHOT_RETENTION_MS);
    expect([5, 95, 105].map(tsAt)).toEqual([undefined, undefined, 100n]);
  });
});

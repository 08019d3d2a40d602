/** The cursor after a claim: how far it rises past what the claim has seen. */
import { describe, expect, test } from "vitest";
import { decodeCursor, type PrivateCursor } from "../rows/cursors.js";
import type { Scan } from "./choose.js";
import type { LeaseBatch } from "./leaseBatch.js";
import { nextCursor } from "./nextCursor.js";

const EPOCH = 3;
const key = (seq: number) => ({ seq: BigInt(seq), creationTime: 0 });

type Row = { isPassed?: boolean; isDear?: boolean };

/** The row that lies at this `seq`, and is called by it. */
const row = (seq: number, { isPassed = false, isDear = false }: Row = {}) =>
  ({ id: `job${seq}`, key: key(seq), isPassed, isDear }) as Scan["rows"][number];

const scan = (rows: Scan["rows"], more: Partial<Scan> = {}): Scan => ({
  ...{ queue: "tiles", order: 20, shard: 0, rows, end: null, isBehindDear: false },
  ...more,
});

const bound = (order: number, shard: number, seq: number) => ({ order, shard, ...key(seq) });

/** The bounds after a claim that has dealt with the rows at these `seq`s: for all budgets, and for its own alone. */
function after(
  scans: Scan[],
  taken: number[],
  { maxCost, before = decodeCursor(undefined) }: { maxCost?: number; before?: PrivateCursor } = {},
) {
  const batch = {
    offer: { labels: [], maxCost, groups: [] },
    queues: new Map([["tiles", { epoch: EPOCH }]]),
    dealtWith: new Set(taken.map((seq) => `job${seq}`)),
  } as unknown as LeaseBatch;
  const { queues, dear } = decodeCursor(nextCursor(before, scans, batch));
  const ofDear = (dear.get("tiles") ?? []).map((one) => [one.maxCost, one.bounds]);
  return { all: queues.get("tiles")?.bounds ?? [], dear: ofDear };
}

const known = (epoch: number, bounds: ReturnType<typeof bound>[]): PrivateCursor => ({
  ...{ conditions: [], dear: new Map() },
  queues: new Map([["tiles", { epoch, bounds }]]),
});

describe("the cursor after a claim", () => {
  test("never passes a job that was seen and not taken, or that job would wait for ever", () => {
    const left = scan([row(1), row(2), row(3)], { end: key(9) });
    expect(after([left], [1, 3])).toEqual({ all: [bound(20, 0, 1)], dear: [] });
    expect(after([left], [2, 3])).toEqual({ all: [], dear: [] });
  });

  test("passes jobs that are never for this worker, and goes to the end of a place in which no other was", () => {
    const rows = [row(1), row(2, { isPassed: true })];
    expect(after([scan(rows, { end: key(9) })], [1]).all).toEqual([bound(20, 0, 9)]);
    // More jobs may have the very key of the last one.
    expect(after([scan(rows)], [1]).all).toEqual([bound(20, 0, 2)]);
    expect(after([scan([], { end: key(9) })], []).all).toEqual([bound(20, 0, 9)]);
  });

  test("passes jobs that are too dear for claims of the same budget alone", () => {
    const rows = [row(1), row(2, { isDear: true }), row(3)];
    const passed = { all: [bound(20, 0, 1)], dear: [[5, [bound(20, 0, 3)]]] };
    expect(after([scan(rows)], [1, 3], { maxCost: 5 })).toEqual(passed);
    const left = { all: [bound(20, 0, 1)], dear: [[5, [bound(20, 0, 2)]]] };
    expect(after([scan(rows)], [1], { maxCost: 5 })).toEqual(left);
    expect(after([scan(rows)], [1, 3]).dear).toEqual([]);
    expect(after([scan([row(1)])], [1], { maxCost: 5 })).toEqual({
      ...{ all: [bound(20, 0, 1)], dear: [] },
    });
  });

  test("says nothing about larger budgets where its scan began behind jobs that are too dear", () => {
    const behind = scan([row(7)], { isBehindDear: true });
    expect(after([behind], [7], { maxCost: 5 })).toEqual({
      ...{ all: [], dear: [[5, [bound(20, 0, 7)]]] },
    });
  });

  test("stays as it was in other places, has one bound for each, and is never lowered", () => {
    const elsewhere = [bound(20, 1, 4), bound(21, 0, 5), bound(21, 1, 6)];
    const raised = (seq: number) => {
      const before = known(EPOCH, [bound(20, 0, 8), ...elsewhere]);
      return after([scan([row(seq)])], [seq], { before }).all;
    };
    for (const [seq, highest] of [
      [7, 8],
      [9, 9],
    ] as const) {
      const all = raised(seq);
      expect(all).toHaveLength(4);
      expect(all).toEqual(expect.arrayContaining([bound(20, 0, highest), ...elsewhere]));
    }
  });

  test("forgets the bounds of another epoch, as of rows before an import", () => {
    const before = known(EPOCH - 1, [bound(20, 0, 8), bound(20, 1, 8)]);
    expect(after([scan([row(2)])], [2], { before }).all).toEqual([bound(20, 0, 2)]);
  });
});

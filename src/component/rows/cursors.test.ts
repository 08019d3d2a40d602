import { describe, expect, test } from "vitest";
import {
  afterCommit,
  boundOf,
  boundsFor,
  boundsToRaise,
  compareKeys,
  decodeCursor,
  encodeCursor,
  justAfter,
  START,
} from "./cursors.js";

describe("keys", () => {
  test("the key just after is the very next float: rows of one transaction have consecutive ones", () => {
    const creationTime = 1_767_225_600_000.25;
    const next = justAfter({ seq: 5n, creationTime });
    expect(next.creationTime).toBeGreaterThan(creationTime);
    // Nothing lies between two neighbouring floats: their middle is one of them.
    const middle = creationTime + (next.creationTime - creationTime) / 2;
    expect([creationTime, next.creationTime]).toContain(middle);
  });

  // Shows WP-05.
  // Rules out D6c.
  test("a key after a commit lies above every row of it, and below every row of the next", () => {
    const key = afterCommit(5n);
    expect(compareKeys({ seq: 5n, creationTime: Number.MAX_VALUE }, key)).toBeLessThan(0);
    expect(compareKeys(key, { seq: 6n, creationTime: 1 })).toBeLessThan(0);
  });
});

describe("bounds", () => {
  const at = (seq: bigint) => ({ order: 21, shard: 0, seq, creationTime: 1 });

  test("of two cursors the higher holds", () => {
    const low = { epoch: 1, bounds: [at(3n)] };
    const high = { epoch: 1, bounds: [at(7n)] };
    expect(boundOf([low, high], 1, 21, 0).seq).toBe(7n);
    expect(boundOf([high, low], 1, 21, 0).seq).toBe(7n);
  });

  test("of an older epoch, of another band and of another shard do not", () => {
    const cursor = { epoch: 1, bounds: [at(7n)] };
    expect(boundOf([cursor], 2, 21, 0)).toEqual(START);
    expect(boundOf([cursor], 1, 20, 0)).toEqual(START);
    expect(boundOf([cursor], 1, 21, 1)).toEqual(START);
    expect(boundOf([undefined], 1, 21, 0)).toEqual(START);
  });
});

describe("a floor", () => {
  test("is the bound of every place that is not named, and of no other", () => {
    const floor = { seq: 9n, creationTime: 0 };
    const cursor = { epoch: 1, bounds: [{ order: 21, shard: 0, seq: 3n, creationTime: 1 }], floor };
    expect(boundOf([cursor], 1, 21, 0).seq).toBe(3n);
    expect(boundOf([cursor], 1, 21, 1)).toEqual(floor);
    expect(boundOf([cursor], 1, 3, 200)).toEqual(floor);
    expect(boundOf([cursor], 2, 21, 1)).toEqual(START);
  });
});

describe("the private cursor's string", () => {
  // Rules out P27.
  test("carries 64 bits and the whole float", () => {
    const seq = 1_767_225_600_000_000_123n;
    const bounds = [{ order: 21, shard: 3, seq, creationTime: 1_767_225_600_000.0625 }];
    const queues = new Map([["tiles", { epoch: 2, bounds }]]);
    const cursor = { conditions: [], queues, dear: new Map() };
    expect(decodeCursor(encodeCursor(cursor))).toEqual(cursor);
  });

  test("writes a key shared by all places once: a lane writes it with every call", () => {
    const key = { seq: 1_767_225_600_000_000_123n, creationTime: 0 };
    const bounds = [20, 21].flatMap((order) =>
      Array.from({ length: 8 }, (_, shard) => ({ order, shard, ...key })),
    );
    const other = { order: 20, shard: 64, seq: 5n, creationTime: 1.5 };
    const queues = new Map([["tiles", { epoch: 0, bounds: [...bounds, other] }]]);
    const cursor = encodeCursor({ conditions: [], queues, dear: new Map() });
    expect(decodeCursor(cursor).queues).toEqual(queues);
    expect(cursor.length).toBeLessThan(100);
  });

  test("knows nothing for other groups than it was made for: their rows lie below", () => {
    const bounds = [{ order: 21, shard: 3, seq: 7n, creationTime: 1 }];
    const queues = new Map([["tiles", { epoch: 2, bounds }]]);
    const cursor = encodeCursor({ conditions: ["a", "b"], queues, dear: new Map() });
    expect(decodeCursor(cursor, ["a", "b"]).queues).toEqual(queues);
    for (const conditions of [[], ["a"], ["a", "b", "c"]]) {
      expect(decodeCursor(cursor, conditions).queues.size).toBe(0);
    }
    const everybodys = encodeCursor({ conditions: [], queues, dear: new Map() });
    expect(decodeCursor(everybodys, ["a"]).queues.size).toBe(0);
    expect(decodeCursor(everybodys).queues).toEqual(queues);
  });

  const at = (seq: bigint) => ({ order: 21, shard: 3, seq, creationTime: 1 });

  test("keeps bounds for a budget apart, the latest four of a queue: they do not hold for larger budgets", () => {
    const cursor = decodeCursor(undefined);
    const raised = (maxCost?: number) => boundsToRaise(cursor, "tiles", 1, maxCost).bounds;
    raised().push(at(3n));
    for (const maxCost of [9, 8, 7, 6, 5]) raised(maxCost).push(at(BigInt(maxCost)));
    const known = decodeCursor(encodeCursor(cursor));
    const bound = (maxCost?: number) => boundOf(boundsFor(known, "tiles", maxCost), 1, 21, 3).seq;
    expect([bound(), bound(9), bound(8), bound(6), bound(1)]).toEqual([3n, 3n, 8n, 8n, 8n]);
    expect(boundOf(boundsFor(known, "others", 1), 1, 21, 3)).toEqual(START);
  });

  test("leaves out bounds for a budget where they would make it too long", () => {
    const cursor = decodeCursor(undefined);
    boundsToRaise(cursor, "tiles", 1).bounds.push(at(3n));
    const { bounds } = boundsToRaise(cursor, "tiles", 1, 5);
    for (let shard = 0; shard < 2_000; shard += 1) bounds.push({ ...at(BigInt(shard)), shard });
    const known = decodeCursor(encodeCursor(cursor));
    expect(known.dear.size).toBe(0);
    expect(known.queues.get("tiles")?.bounds).toEqual([at(3n)]);
  });

  test("is given up when it would be too long: a scan from the start is slow, and right", () => {
    const bound = { order: 21, creationTime: 1_767_225_600_000.0625 };
    const bounds = Array.from({ length: 2_000 }, (_, shard) => ({
      ...{ ...bound, shard, seq: 2n ** 62n + BigInt(shard) },
    }));
    const queues = new Map([["tiles", { epoch: 0, bounds }]]);
    expect(encodeCursor({ conditions: [], queues, dear: new Map() })).toBe("{}");
  });

  test.each([
    "",
    "null",
    "[",
    '{"tiles":1}',
    '{"tiles":[0,["x",1,[21,0]]]}',
    '{"tiles":[0,["7",null,[21,0]]]}',
    '{"tiles":[0,["7",1,21]]}',
    '{"tiles":[0,["7",1,[21,"0"]]]}',
    `{"tiles":[0,["${2n ** 63n}",1,[21,0]]]}`,
    `{"tiles":[0,["${-(2n ** 63n) - 1n}",1,[21,0]]]}`,
    "x".repeat(70_000),
  ])("is refused when it is none", (cursor) => {
    expect(() => decodeCursor(cursor)).toThrow("no cursor");
  });
});

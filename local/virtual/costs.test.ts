import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { Step } from "../environment.js";
import { createCosts, DEFAULT_COSTS, JITTER, type CostOptions } from "./costs.js";
import { randomStream } from "./random.js";

const MIB = 1 << 20;
const costs = (options: Partial<CostOptions> = {}) =>
  createCosts({ class: "s16", random: randomStream(1, "costs"), jitter: 0, ...options });
const read = (given: Partial<Step & { kind: "read" }>): Step => ({
  kind: "read",
  documents: 0,
  bytes: 0,
  tombstones: 0,
  ...given,
});
const ZERO = Object.fromEntries(Object.keys(DEFAULT_COSTS).map((name) => [name, 0]));

describe("a read", () => {
  const roundTrips = costs({
    constants: { ...ZERO, readRoundTripMs: 1, largestGrownBatch: 8 },
  });

  test("of one row over dead entries takes batches of 1, 2, 4, 8, and then of 8: the first one costs", () => {
    const taken = [0, 1, 2, 3, 6, 7, 14, 15, 8_000].map((tombstones) =>
      roundTrips.of(read({ documents: 1, tombstones, wanted: 1 })),
    );
    expect(taken).toEqual([1, 2, 2, 3, 3, 4, 4, 5, 1_003]);
  });

  test("that finds nothing knows so from a batch that is not full", () => {
    const taken = [0, 1, 2, 3].map((tombstones) => roundTrips.of(read({ tombstones, wanted: 1 })));
    expect(taken).toEqual([1, 2, 2, 3]);
  });

  test("of many rows passes as many dead entries in a round trip as it asks for", () => {
    expect(roundTrips.of(read({ documents: 100, tombstones: 1_000, wanted: 100 }))).toBe(11);
  });

  test("of documents that the transaction has already takes no round trip", () => {
    expect(roundTrips.of(read({ documents: 1, wanted: 1, isThere: true }))).toBe(0);
  });

  test("takes time for documents and bytes on top", () => {
    const one = costs().of(read({ documents: 1, bytes: 100 }));
    expect(costs().of(read({ documents: 101, bytes: 100, wanted: 101 })) - one).toBeCloseTo(1);
    expect(costs().of(read({ documents: 1, bytes: 100 + MIB })) - one).toBeCloseTo(10);
  });
});

test("a nested call starts sooner than the first, a commit takes longer than a read", () => {
  const of = (step: Step) => costs().of(step);
  expect(of({ kind: "context", nested: true })).toBeLessThan(
    of({ kind: "context", nested: false }),
  );
  expect(of({ kind: "persist", documents: 1, bytes: 100 })).toBeGreaterThan(of(read({})));
});

test("the scheduler takes a moment to start a due function, and a permit hardly any to change hands", () => {
  expect(costs().of({ kind: "dispatch" })).toBe(DEFAULT_COSTS.dispatchMs);
  expect(costs().of({ kind: "permit" })).toBe(DEFAULT_COSTS.permitMs);
});

test("JavaScript's own time is part of a step, and is not uneven", () => {
  const constants = { ...ZERO, largestGrownBatch: 8, userPerCallMs: 3, userPerStartMs: 5 };
  const uneven = costs({ constants, jitter: 1 });
  expect([uneven.of(read({})), uneven.of({ kind: "write", bytes: 9 })]).toEqual([3, 3]);
  expect(uneven.of({ kind: "context", nested: false })).toBe(5);
  expect([uneven.user("start"), uneven.user("call")]).toEqual([5, 3]);
});

test("draws lie around the median, and wider in the smaller class", () => {
  const spread = (of: CostOptions["class"]): number => {
    const drawn = createCosts({ class: of, random: randomStream(7, "costs") });
    const logs = Array.from({ length: 4_000 }, () => Math.log(drawn.network() / 15));
    expect(logs.reduce((sum, log) => sum + log, 0) / logs.length).toBeCloseTo(0, 1);
    return Math.sqrt(logs.reduce((sum, log) => sum + log * log, 0) / logs.length);
  };
  expect(spread("s16")).toBeCloseTo(JITTER.s16, 1);
  expect(spread("d1024")).toBeCloseTo(JITTER.d1024, 1);
});

test("every constant names its source or says that it is an assumption", () => {
  const source = readFileSync(path.join(import.meta.dirname, "costs.ts"), "utf8");
  const constants = /interface CostConstants \{(.*?)\n\}/s.exec(source)![1]!;
  const documented = [...constants.matchAll(/\/\*\*(.*?)\*\/\s*(\w+): number;/gs)];
  expect(documented.map(([, , name]) => name)).toEqual(Object.keys(DEFAULT_COSTS));
  const says = /ASSUMPTION:\s|\.rs:\d+/;
  expect(
    documented.filter(([, comment]) => !says.test(comment!)).map(([, , name]) => name),
  ).toEqual([]);
});

test("a cost that is no time is refused by its name", () => {
  expect(() => costs({ constants: { persistMs: -1 } })).toThrow(/persistMs is -1/);
});

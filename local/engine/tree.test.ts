import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_IN_NODE, OrderedMap } from "./tree.js";

const keyOf = (n: number) => String.fromCharCode(n >> 8, n & 0xff);
const KEYS = 4_000;
const vKey = fc.integer({ min: 0, max: KEYS }).map(keyOf);
/** Runs of neighbours fill and empty whole nodes, which single keys hardly ever do. */
const vOperation = fc.oneof(
  fc.record({ kind: fc.constant("set" as const), key: vKey, value: fc.nat() }),
  fc.record({ kind: fc.constant("delete" as const), key: vKey }),
  fc.record({
    kind: fc.constantFrom("setRun" as const, "deleteRun" as const),
    from: fc.integer({ min: 0, max: KEYS }),
    length: fc.integer({ min: 1, max: 12 * MAX_IN_NODE }),
    step: fc.constantFrom(1, -1, 7),
  }),
  fc.record({ kind: fc.constant("clone" as const) }),
  fc.record({ kind: fc.constant("scan" as const), start: vKey, end: vKey }),
);

interface Pair {
  map: OrderedMap<number>;
  model: Map<string, number>;
}

const sorted = (model: Map<string, number>) =>
  [...model].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));

function scanned(
  map: OrderedMap<number>,
  start: string,
  end: string,
  order: "asc" | "desc",
  most = Infinity,
): [string, number][] {
  const found: [string, number][] = [];
  map.scan(start, end, order, (key, value) => {
    found.push([key, value]);
    return found.length < most;
  });
  return found;
}

function expectSame({ map, model }: Pair, start = "", end = "\u0100"): void {
  const entries = sorted(model).filter(([key]) => key >= start && key < end);
  expect(scanned(map, start, end, "asc")).toEqual(entries);
  expect(scanned(map, start, end, "desc")).toEqual(entries.toReversed());
}

const runOf = ({ from, length, step }: { from: number; length: number; step: number }) =>
  Array.from({ length }, (_, i) => keyOf((from + i * step + 2 * KEYS) % KEYS));

describe("the ordered map", () => {
  test("does what a sorted list would, and its clones are never touched by it", () => {
    fc.assert(
      fc.property(fc.array(vOperation, { maxLength: 40 }), (operations) => {
        let live: Pair = { map: new OrderedMap(), model: new Map() };
        const kept: Pair[] = [];
        const set = (key: string, value: number) => {
          live.map.set(key, value);
          live.model.set(key, value);
        };
        const remove = (key: string) => {
          expect(live.map.delete(key)).toBe(live.model.delete(key));
          expect(live.map.has(key)).toBe(false);
        };
        for (const operation of operations) {
          switch (operation.kind) {
            case "set":
              set(operation.key, operation.value);
              break;
            case "delete":
              remove(operation.key);
              break;
            case "setRun":
              runOf(operation).forEach(set);
              break;
            case "deleteRun":
              runOf(operation).forEach(remove);
              break;
            case "clone":
              // Either side may be the one that goes on.
              kept.push(live);
              live = { map: live.map.clone(), model: new Map(live.model) };
              if (kept.length % 2 === 0) [live, kept[0]] = [kept[0]!, live];
              break;
            case "scan":
              expectSame(live, operation.start, operation.end);
          }
          expect(live.map.size).toBe(live.model.size);
        }
        for (const pair of [live, ...kept]) {
          expectSame(pair);
          for (const [key, value] of pair.model) expect(pair.map.get(key)).toBe(value);
          expect([...pair.map.values()]).toEqual(sorted(pair.model).map(([, value]) => value));
        }
      }),
      { numRuns: 150, seed: 1 },
    );
  });

  test("a scan stops where it is told to, in either direction", () => {
    const map = new OrderedMap<number>();
    for (let n = 0; n < 1_000; n++) map.set(keyOf(n), n);
    expect(scanned(map, keyOf(40), keyOf(900), "asc", 3).map(([, n]) => n)).toEqual([40, 41, 42]);
    expect(scanned(map, keyOf(40), keyOf(900), "desc", 3).map(([, n]) => n)).toEqual([
      899, 898, 897,
    ]);
  });

  test("a range without keys, or upside down, is empty", () => {
    const map = new OrderedMap<number>();
    for (let n = 0; n < 1_000; n++) map.set(keyOf(2 * n), n);
    for (const order of ["asc", "desc"] as const) {
      expect(scanned(map, keyOf(501), keyOf(502), order)).toEqual([]);
      expect(scanned(map, keyOf(900), keyOf(100), order)).toEqual([]);
    }
  });

  test("a queue that is filled at its end and emptied at its beginning stays small", () => {
    const map = new OrderedMap<number>();
    for (let n = 0; n < 20_000; n++) {
      map.set(keyOf(n), n);
      if (n >= 100) expect(map.delete(keyOf(n - 100))).toBe(true);
    }
    expect(map.size).toBe(100);
    expect([...map.values()]).toEqual(Array.from({ length: 100 }, (_, i) => 19_900 + i));
  });
});

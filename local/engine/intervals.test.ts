import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { IntervalSet } from "./intervals.js";

const LETTERS = "abcdefghij";

function setOf(...intervals: [string, string][]): IntervalSet {
  const set = new IntervalSet();
  for (const [start, end] of intervals) set.add(start, end);
  return set;
}

describe("an interval set", () => {
  test("holds its starts and not its ends", () => {
    const set = setOf(["b", "d"]);
    expect(["a", "b", "c", "cz", "d"].map((key) => set.has(key))).toEqual([
      false,
      true,
      true,
      true,
      false,
    ]);
  });

  test("merges intervals that overlap or touch, because the platform counts merged intervals", () => {
    expect([...setOf(["a", "b"], ["c", "d"])]).toEqual([
      ["a", "b"],
      ["c", "d"],
    ]);
    expect([...setOf(["a", "b"], ["c", "d"], ["b", "c"])]).toEqual([["a", "d"]]);
    expect([...setOf(["b", "c"], ["a", "z"])]).toEqual([["a", "z"]]);
  });

  test("takes nothing from an empty or reversed interval", () => {
    expect(setOf(["b", "b"], ["c", "a"]).size).toBe(0);
  });

  test("holds exactly the added keys, in as few intervals as there are gaps", () => {
    const letter = fc.integer({ min: 0, max: LETTERS.length - 1 });
    fc.assert(
      fc.property(fc.array(fc.tuple(letter, letter), { maxLength: 12 }), (pairs) => {
        const held = [...LETTERS].map((_, i) => pairs.some(([low, high]) => low <= i && i < high));
        const set = setOf(...pairs.map(([a, b]) => [LETTERS[a]!, LETTERS[b]!] as [string, string]));
        expect([...LETTERS].map((key) => set.has(key))).toEqual(held);
        expect(set.size).toBe(held.filter((is, i) => is && !held[i - 1]).length);
      }),
      { seed: 2, numRuns: 2000 },
    );
  });
});

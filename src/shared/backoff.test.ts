import { expect, test } from "vitest";
import { backoffMs, jittered } from "./backoff.js";

// Shows DE-19, E2.
test("each failure doubles the wait, from the first on, up to the bound", () => {
  const waits = [1, 2, 3, 4, 5, 6].map((failures) => backoffMs(failures, 1_000, 10_000));
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
});

test("no failure waits as long as one, and a thousand no longer than the bound", () => {
  expect(backoffMs(0, 1_000, 10_000)).toBe(1_000);
  expect(backoffMs(1_000, 1_000, 10_000)).toBe(10_000);
});

test("no wait stays none, also where the power is beyond all numbers", () => {
  expect(backoffMs(999, 0, 10_000, 10)).toBe(0);
  expect(backoffMs(999, 1, 10_000, 10)).toBe(10_000);
});

// Shows DE-19, E2.
test("jitter takes all of the wait, its second half, or nothing of it", () => {
  const waits = (random: number) => [
    jittered(1_000, random),
    jittered(1_000, random, "equal"),
    jittered(1_000, random, "none"),
  ];
  expect(waits(0)).toEqual([0, 500, 1_000]);
  expect(waits(0.5)).toEqual([500, 750, 1_000]);
});

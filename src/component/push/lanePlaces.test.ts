import { expect, test } from "vitest";
import { fewerIfTried } from "./lanePlaces.js";

test("a call that is retried takes half as many jobs for each 200 ms of its age, and always one", () => {
  expect([0, 199, 200, 400, 650, 1_000, 60_000].map((forMs) => fewerIfTried(48, forMs))).toEqual([
    48, 48, 24, 12, 6, 2, 1,
  ]);
  expect([0, 200, 60_000].map((forMs) => fewerIfTried(1, forMs))).toEqual([1, 1, 1]);
});

test("a clock that is ahead where the call was made takes nothing away", () => {
  expect(fewerIfTried(48, -5_000)).toBe(48);
});

test("without room it takes none", () => {
  expect(fewerIfTried(0, 0)).toBe(0);
});

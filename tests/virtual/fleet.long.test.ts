import { expect, test } from "vitest";
import { check, drain, play } from "./fleet.js";

const JOBS = 120;

test("a hundred jobs, four workers of which one is killed: each job is done once, and all of it happens again", async () => {
  const played = await play(1, JOBS);
  check(played, JOBS);
  expect(await play(1, JOBS)).toEqual(played);
}, 240_000);

// Shows CR-18.
test("four workers take less than half of the time that one takes", async () => {
  const [alone, four] = [await drain(1, 160, 1), await drain(1, 160, 4)];
  console.log(
    `160 jobs of 500 ms: one worker ${Math.round(alone)} ms, four ${Math.round(four)} ms`,
  );
  // Eight at once of half a second each: no worker does more than sixteen a second.
  expect(alone).toBeGreaterThanOrEqual(10_000);
  expect(four).toBeLessThan(alone / 2);
}, 480_000);

import { expect, test } from "vitest";
import { counts } from "../../local/counts.js";
import { check, drain, play } from "./fleet.js";

const JOBS = 120;
const DRAINED = counts(80, 160);

// In CI `queue.long.test.ts` has the same with fewer jobs.
test.skipIf(counts(true, false))(
  "a hundred jobs, four workers of which one is killed: each job is done once, and all of it happens again",
  async () => {
    const played = await play(1, JOBS);
    check(played, JOBS);
    expect(await play(1, JOBS)).toEqual(played);
  },
  240_000,
);

// Shows CR-18.
test("four workers take less than half of the time that one takes", async () => {
  const [alone, four] = [await drain(1, DRAINED, 1), await drain(1, DRAINED, 4)];
  console.log(
    `${DRAINED} jobs of 500 ms: one worker ${Math.round(alone)} ms, four ${Math.round(four)} ms`,
  );
  // Eight at once of half a second each: no worker does more than sixteen a second.
  expect(alone).toBeGreaterThanOrEqual((DRAINED / 16) * 1_000);
  expect(four).toBeLessThan(alone / 2);
}, 480_000);

/** The promised cost of a job, checked as counts in virtual time. */
import { expect, test } from "vitest";
import { costOfJob, idleHour } from "../support/cost.js";

/** An idle worker beats once a minute, so that people see it. */
const BEATS_AN_HOUR = 60;

// Rules out D19.
test("a plain job writes at most four documents with two mutations, one at a time", async () => {
  const { writes, mutations, otherCalls, behind } = await costOfJob({ jobs: 16, batch: 1 });
  expect(writes).toBeLessThanOrEqual(4);
  expect(mutations).toBeLessThanOrEqual(2);
  expect(otherCalls).toBe(0);
  // Later upkeep is counted too: at most it deletes each job once.
  const late = Object.values(behind).reduce((sum, of) => sum + of.writes, 0);
  expect(late).toBeLessThan(2);
});

// Rules out D19.
test("sixteen in a call cost a job a quarter of a mutation at most", async () => {
  const { writes, mutations, otherCalls } = await costOfJob({ jobs: 32, batch: 16 });
  expect(writes).toBeLessThanOrEqual(3.25);
  expect(mutations).toBeLessThanOrEqual(0.25);
  expect(otherCalls).toBe(0);
});

// Shows C11.
// Rules out D19.
test("an hour with nothing to do calls nothing but the beats of idle workers", async () => {
  expect(await idleHour(2)).toEqual({ "work:heartbeat": 2 * BEATS_AN_HOUR });
});

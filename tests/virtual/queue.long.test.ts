import { expect, test } from "vitest";
import { check, play } from "./fleet.js";

const JOBS = 48;

// Shows SG-48.
test("jobs of a killed worker are done by other workers, and the same seed repeats all of it", async () => {
  const played = await play(1, JOBS);
  check(played, JOBS);
  expect(await play(1, JOBS)).toEqual(played);
});

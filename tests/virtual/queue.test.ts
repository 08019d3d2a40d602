import { expect, test } from "vitest";
import { check, play } from "./fleet.js";

const JOBS = 48;

test("jobs of a worker that is killed are done by others, and all of it happens again with the same seed", async () => {
  const played = await play(1, JOBS);
  check(played, JOBS);
  expect(await play(1, JOBS)).toEqual(played);
});

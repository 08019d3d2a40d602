import { expect, test } from "vitest";
import { check, play } from "./fleet.js";

const JOBS = 120;

test("a hundred jobs, four workers of which one is killed: each job is done once, and all of it happens again", async () => {
  const played = await play(1, JOBS);
  check(played, JOBS);
  expect(await play(1, JOBS)).toEqual(played);
}, 240_000);

/** What the design promises a job to cost that Convex itself runs, held as counts in virtual time. */
import { expect, test } from "vitest";
import { count } from "../../bench/push/count.js";
import { play } from "../../bench/push/play.js";
import type { Scenario } from "../../bench/push/scenarios.js";

const cost = async (scenario: Omit<Scenario, "name" | "class">) =>
  count("conveyor", await play("conveyor", { name: "", class: "s16", ...scenario }));

test("an isolated job costs a wake, a lane, its handler and a completion", async () => {
  const load = { everyMs: 60_000, jobs: 2 };
  const { calls, errors } = await cost({ kind: "act", workMs: 20, parallelism: 10, load });
  expect(calls).toBeLessThanOrEqual(4);
  expect(errors).toBe(0);
});

test("in a backlog a job costs at most two calls and four documents, and never more run than may", async () => {
  const parallelism = 20;
  const load = { inOne: 80 };
  const counted = await cost({ kind: "act", workMs: 100, parallelism, load });
  expect(counted.calls).toBeLessThanOrEqual(2);
  expect(counted.documents).toBeLessThanOrEqual(4);
  expect(counted.atOnce).toBeLessThanOrEqual(parallelism);
});

test("mutations in a backlog share calls: less than one for each", async () => {
  const load = { inOne: 60 };
  const { calls, documents } = await cost({ kind: "book", workMs: 0, parallelism: 20, load });
  expect(calls).toBeLessThanOrEqual(0.9);
  expect(documents).toBeLessThanOrEqual(4);
});

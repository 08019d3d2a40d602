/**
 * The cost of full calls of `enqueue` on the engine, which charges as the platform does: rows in proportion to the jobs, and no
 * reads for rows that the jobs share.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Spent } from "../../local/functions/account.js";
import type { Enqueued, JobOptions } from "../../src/shared/index.js";
import { COMPONENT, deploymentOf } from "./deployment.js";
import { Stage } from "./stage.js";
import { World } from "./world.js";

let stage: Stage;
let world: World;
let spent: Spent | undefined;

beforeAll(async () => {
  stage = new Stage(await deploymentOf([]));
  stage.runner.onCompletion((completion) => {
    if (completion.address.path === "lib:enqueue") spent = completion.spent;
  });
  await stage.begin(0);
  world = new World(stage);
  await world.open();
});
afterAll(() => stage.close());

async function enqueue(count: number, options: (n: number) => JobOptions): Promise<Enqueued[]> {
  const payload = "x".repeat(600);
  const jobs = Array.from({ length: count }, (_, n) => ({ payload, options: options(n) }));
  return (await world.call(COMPONENT, "lib:enqueue", { queue: world.queue, jobs })) as Enqueued[];
}

test("jobs with everything that a job can have write six rows each, and few alarms", async () => {
  const rules = { leaseMs: 5_000 };
  const enqueued = await enqueue(100, (n) => ({
    ...{ key: { value: `key-${n}` }, runAfter: 60_000 + n * 1_000, expiresAfterMs: 60_000, rules },
    ...{ labels: ["gpu"], priority: 5, tags: ["a"], group: "g", context: "x".repeat(600) },
    deadlineMs: 600_000 + n * 1_000,
  }));
  expect(enqueued.every(({ isNew }) => isNew)).toBe(true);
  const { documentsWritten } = spent!.cost.user;
  // The rule and some alarms besides.
  expect(documentsWritten).toBeGreaterThanOrEqual(601);
  expect(documentsWritten).toBeLessThan(650);
});

test("rows that jobs share are read once: their route, their rules, their queue", async () => {
  await enqueue(2, () => ({ labels: ["gpu"], priority: 5, rules: { leaseMs: 5_000 } }));
  const few = spent!.cost.user.documentsRead;
  await enqueue(200, () => ({ labels: ["gpu"], priority: 5, rules: { leaseMs: 5_000 } }));
  expect(spent!.cost.user.documentsRead).toBeLessThanOrEqual(few + 2);
});

test("a key that is replaced within one call, over and over, has one job and one row in the end", async () => {
  const key = { value: "k", onConflict: "replace" as const };
  world.queue = { ...world.queue, name: "replaced" };
  const enqueued = await enqueue(5, () => ({ key }));
  expect(new Set(enqueued.map(({ id }) => id)).size).toBe(5);
  const jobs = (await world.rows("jobs")).filter((job) => job["queue"] === "replaced");
  expect(jobs.map((job) => job["status"]).sort()).toEqual([
    ...["canceled", "canceled", "canceled", "canceled"],
    "pending",
  ]);
  expect(new Set(jobs.map((job) => job["seq"])).size).toBe(1);
  const keys = (await world.rows("keys")).filter((row) => row["queue"] === "replaced");
  expect(keys).toMatchObject([{ job: enqueued[4]!.id }]);
});

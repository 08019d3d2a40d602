/** Reads of many rows stay under half of what one transaction may read, with rows of jobs and sessions of the greatest size. */
import { beforeAll, expect, test } from "vitest";
import { PLATFORM_LIMITS } from "../../local/limits.js";
import { PAYLOAD_MAX_BYTES, QUEUES_MAX, STATUS_BATCH_MAX_BYTES } from "../../src/shared/index.js";
import { Transactions, type Call } from "../interleavings/transactions.js";
import { deploymentOf } from "../races/deployment.js";
import { begunJob, declarationOf, many, PUSH_QUEUES, queueName } from "./fullShapes.js";
import { plantServed } from "./fullUpkeep.js";
import { plantSessions } from "./fullWorkers.js";
import { LargeWorld, usedBy } from "./largeWorld.js";
import { query } from "./lookCalls.js";

let world: LargeWorld;

beforeAll(async () => {
  world = new LargeWorld(new Transactions(await deploymentOf([]), { class: "d2048" }));
  await world.line.open();
  const queues = [0, ...many(QUEUES_MAX, (n) => PUSH_QUEUES + n)].map(declarationOf);
  for (const queue of queues) await world.plantQueue(queue);
  await plantSessions(world, world.line.rows("tokens")[0]!._id);
  const running = many(400, () => begunJob(world, queueName(0), "running", 60_000));
  await world.plant(
    "jobs",
    running.map((job) => ({ ...job, worker: `${queueName(0)}#1` })),
  );
  await plantServed(world);
}, 120_000);

async function bytesReadBy(call: Call): Promise<number> {
  const begun = await world.transactions.run(world.line.point, call);
  expect(begun.result).toMatchObject({ ok: true });
  return usedBy(begun).bytesRead;
}

const HALF = PLATFORM_LIMITS.bytesRead / 2;

test("why a job waits is answered from the first of the running jobs: it names three of them", async () => {
  const waits = world.waiting(queueName(0), 21, 0, 60_000);
  const [id] = await world.plant("jobs", [waits]);
  expect(await bytesReadBy(query("observe:why", { id }))).toBeLessThan(0.75 * HALF);
});

test("the workers of a queue are shown with the first of the jobs that they hold", async () => {
  const workers = query("lib:workers", { queue: queueName(PUSH_QUEUES) });
  expect(await bytesReadBy(workers)).toBeLessThan(HALF);
});

test("a batch with large results is refused before they are read, and else read with its jobs' rows", async () => {
  const fit = Math.floor(STATUS_BATCH_MAX_BYTES / PAYLOAD_MAX_BYTES);
  const value = "x".repeat(PAYLOAD_MAX_BYTES);
  const values = await world.plant(
    "payloads",
    many(8, () => ({ value })),
  );
  const large = (n: number) => ({
    ...begunJob(world, "large", "succeeded", 60_000),
    result: { row: values[n], bytes: PAYLOAD_MAX_BYTES },
  });
  const results = await world.plant("jobs", many(8, large));
  const rest = await world.plant(
    "jobs",
    many(92, () => begunJob(world, "large", "canceled", 60_000)),
  );
  const batch = (count: number) =>
    query("lib:statusBatch", { ids: [...rest, ...results.slice(0, count)] });
  expect(await bytesReadBy(batch(fit))).toBeLessThan(HALF);
  const refused = await world.transactions.run(world.line.point, batch(8));
  expect(refused.result).toMatchObject({ ok: false });
  expect(usedBy(refused).bytesRead).toBeLessThan(HALF);
});

test("a plan of a sweep reads as much of many queues as a sweep of few", async () => {
  const plan = query("tend/sweepPlan:planSweep", { now: world.transactions.now });
  expect(await bytesReadBy(plan)).toBeLessThan(0.75 * HALF);
});

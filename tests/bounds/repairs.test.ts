/** Repairs cover all queues: their reads are bounded for all of them together, and every queue has its turn. */
import { expect, test } from "vitest";
import { mutation } from "../interleavings/line.js";
import { Transactions } from "../interleavings/transactions.js";
import { Worker } from "../interleavings/worker.js";
import { deploymentOf } from "../races/deployment.js";
import { placeOf } from "../../src/shared/index.js";
import { LargeWorld, PRIORITIES, SHARDS_MAX, usedBy } from "./largeWorld.js";

const deployment = await deploymentOf([]);
const HALF_OF_RANGES = 2_048;

async function newWorld(): Promise<LargeWorld> {
  const world = new LargeWorld(new Transactions(deployment));
  await world.line.open();
  return world;
}

/** A push queue. */
const push = (name: string, shards = 8) => ({
  name,
  config: { leaseMs: 10_000, maxResets: 3, shards, push: true, maxParallelism: 10 },
});

test("watch reads less than half of its limit, with any places of 64 push queues", async () => {
  const world = await newWorld();
  for (let i = 0; i < 64; i += 1) {
    const queue = push(`push${i}`, SHARDS_MAX);
    await world.plantQueue(queue, { routes: 8, priorities: PRIORITIES });
  }
  await world.fill("push0", SHARDS_MAX, PRIORITIES);
  const begun = await world.transactions.run(world.line.point, mutation("lib:watch"));
  expect(begun.result).toMatchObject({ ok: true });
  expect(usedBy(begun).databaseQueries).toBeLessThan(HALF_OF_RANGES);
});

test("a dead worker's job comes back beside push queues of all priorities", async () => {
  const world = await newWorld();
  const { line } = world;
  for (let i = 0; i < 24; i += 1)
    await world.plantQueue(push(`push${i}`), { priorities: PRIORITIES });
  const [id] = await line.enqueue();
  await new Worker(line, "dead").claim();
  await line.pass(120_000);
  expect(line.job(id!)["status"]).toBe("pending");
});

/** A wake that was lost in the last of more queues than one page has. */
async function lostWake(world: LargeWorld, queues: number): Promise<string> {
  const names = Array.from({ length: queues }, (_, i) => `push${String(i).padStart(3, "0")}`);
  for (const name of names) await world.plantQueue(push(name));
  const last = names.at(-1)!;
  await world.plant("jobs", [world.waiting(last, 21, 0, 60_000)]);
  return last;
}

const isWoken = ({ line }: LargeWorld, queue: string) =>
  line.rows("_scheduled_job_args").some((row) => JSON.stringify(row).includes(`"${queue}"`));

test("a job that no lane may take is no lost wake: its queue is not woken again and again", async () => {
  const world = await newWorld();
  const { line } = world;
  await world.plantQueue(push("labelled"), { routes: 2 });
  const job = world.waiting("labelled", 21, placeOf(1, 0), 60_000);
  await world.plant("jobs", [{ ...job, labels: ["label1"] }]);
  await line.do(mutation("lib:watch"));
  expect(isWoken(world, "labelled")).toBe(false);
  await line.do(mutation("push/wake:wake", { queue: "labelled" }));
  expect(isWoken(world, "labelled")).toBe(false);
});

test("a wake that can begin nothing schedules no other", async () => {
  const world = await newWorld();
  const queue = await lostWake(world, 1);
  await world.line.do(mutation("push/wake:wake", { queue }));
  expect(isWoken(world, queue)).toBe(false);
});

test("watch finds a lost wake in the last of 100 queues", async () => {
  const world = await newWorld();
  const queue = await lostWake(world, 100);
  await world.line.do(mutation("lib:watch"));
  for (let page = 0; page < 8 && !isWoken(world, queue); page += 1) {
    const next = world.transactions
      .due(world.line.point)
      .find(({ row }) => row!.target.path.startsWith("tend/watchdog"));
    await world.line.do(next!);
  }
  expect(isWoken(world, queue)).toBe(true);
});

test("sweeps come by every queue in turn, also where each job has a sweep of its own", async () => {
  const world = await newWorld();
  const { line } = world;
  const queue = await lostWake(world, 40);
  const worker = new Worker(line, "one");
  for (let round = 0; round < 10 && !isWoken(world, queue); round += 1) {
    await line.enqueue();
    await worker.complete(await worker.claim());
    await line.pass(15_000);
  }
  expect(isWoken(world, queue)).toBe(true);
});

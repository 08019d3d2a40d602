/** Wakes of jobs that are left to workers outside: a claim calls off the one that it makes needless, and no other. */
import { expect, test, vi } from "vitest";
import { api, internal } from "../_generated/api.js";
import { newToldWorld, newWorld, type World } from "../setup.test.js";

/** A queue in which jobs are left to workers, with one shard, and a worker that is there. */
async function shared() {
  const world = await newWorld({ push: true, fallbackAfterMs: 60_000, shards: 1 });
  const worker = world.worker("here");
  await worker.claim();
  return { world, worker };
}

/** So many calls of `enqueue` for one job each in one transaction. */
const together = async (world: World, calls: number) =>
  await world.t.run(async (ctx) => {
    for (let n = 0; n < calls; n += 1)
      await ctx.runMutation(api.lib.enqueue, { queue: world.queue, jobs: [{ payload: n }] });
  });

async function wakes(world: World): Promise<string[]> {
  const all = await world.t.run((ctx) => ctx.db.system.query("_scheduled_functions").collect());
  return all.filter(({ name }) => name === "push/wake:wake").map(({ state }) => state.kind);
}

test("a worker that takes a job calls off its wake", async () => {
  const { world, worker } = await shared();
  await world.enqueue(1);
  await world.enqueue(2);
  expect(await wakes(world)).toEqual(["pending", "pending"]);
  await worker.claim(1);
  expect((await wakes(world)).sort()).toEqual(["canceled", "pending"]);
  expect((await world.all("jobs")).filter((job) => job.wake !== undefined)).toHaveLength(1);
});

test("calls of one transaction share a wake, which stays until the last of their jobs is taken", async () => {
  const { world, worker } = await shared();
  await together(world, 3);
  expect(await wakes(world)).toEqual(["pending"]);
  await worker.claim(1);
  await worker.claim(1);
  expect(await wakes(world)).toEqual(["pending"]);
});

test("a job that was paused and resumed has a wake of its own, and that of its transaction stays", async () => {
  const { world, worker } = await shared();
  await together(world, 2);
  const [first] = await world.all("jobs");
  await world.t.mutation(api.operate.pauseJob, { id: first!._id });
  await world.t.mutation(api.operate.resumeJob, { id: first!._id });
  expect((await world.all("jobs")).filter((job) => job.wake !== undefined)).toEqual([]);
  await worker.claim(2);
  expect(await wakes(world)).toEqual(["pending", "pending"]);
});

test("a wake for a job that is out of time leaves it to its alarm: it begins no lane, and asks no other for it", async () => {
  const world = await newToldWorld({ push: true, fallbackAfterMs: 60_000, maxParallelism: 5 });
  const job = await world.enqueue(1, { expiresAfterMs: 1_000 });
  await keepSpareLane(world);
  vi.setSystemTime(Date.now() + 2_000);
  const { queue } = world;
  await world.t.mutation(internal.push.wake.wake, { queue: queue.name, job, isAlone: true });
  expect(await world.status(job)).toMatchObject({ status: "pending", attempt: 0 });
  expect((await world.all("sessions")).map(({ state }) => state)).toEqual(["idle"]);
  await world.advance(2_100);
  expect(await world.status(job)).toMatchObject({ status: "failed", attempt: 0 });
  expect(await world.all("told")).toHaveLength(1);
});

/** A lane that sleeps, and has kept room for one job. */
async function keepSpareLane({ t, queue }: World): Promise<void> {
  await t.run(async (ctx) => {
    const now = Date.now();
    const session = await ctx.db.insert("sessions", {
      ...{
        sessionKey: "lane",
        name: "lane",
        queues: [queue.name],
        state: "idle",
        leases: [],
        callSeq: 0,
      },
      ...{ acknowledged: true, reply: { answers: [] }, lastSeenAt: now, expiresAt: now },
    });
    const lane = await ctx.db.insert("lanes", { queue: queue.name, session, cap: 1, under: 5 });
    await ctx.db.patch("sessions", session, { lane });
  });
}

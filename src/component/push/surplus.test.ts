/** Wakes that a storm of callers has left behind: a late one cancels those behind it in its shard, and no other wake. */
import { expect, test, vi } from "vitest";
import { commitTimeOf } from "../../shared/index.js";
import { api, internal } from "../_generated/api.js";
import { newWorld, type World } from "../setup.test.js";

const CALLERS = 6;

/** A storm into a queue with one shard, whose gate is then as given. */
async function storm(state: "guarded" | "full" | "quiet", options = {}): Promise<World> {
  const world = await newWorld({ push: true, shards: 1, maxParallelism: 5, ...options });
  for (let n = 0; n < CALLERS; n += 1) await world.enqueue(n);
  if (state !== "quiet")
    await world.t.run(async (ctx) => {
      await ctx.db.insert("gates", { queue: world.queue.name, state });
    });
  return world;
}

/** The wake of the first job, so long after it was due. */
async function wakeOfFirst(world: World, lateMs: number): Promise<void> {
  const dueAt = Date.now();
  vi.setSystemTime(dueAt + lateMs);
  const { t, queue } = world;
  const [first] = await world.all("jobs");
  const args = { queue: queue.name, job: first!._id, isAlone: true, dueAt };
  await t.mutation(internal.push.wake.wake, args);
}

async function canceled({ t }: World): Promise<number[]> {
  const rows = await t.run((ctx) => ctx.db.system.query("_scheduled_functions").collect());
  return rows.flatMap(({ state }, n) => (state.kind === "canceled" ? [n] : []));
}

test.each(["guarded", "full"] as const)(
  "under a gate that is %s a late wake cancels the later wakes of its shard, but for the next",
  async (state) => {
    const world = await storm(state);
    await wakeOfFirst(world, 200);
    expect(await canceled(world)).toEqual([2, 3, 4, 5]);
  },
);

test("of calls with several jobs each the first job names the wake, which a late wake cancels", async () => {
  const world = await newWorld({ push: true, shards: 1, maxParallelism: 5 });
  for (let n = 0; n < CALLERS; n += 1) await world.enqueueBatch([n, n, n]);
  const named = (await world.all("jobs")).map(({ wake }) => wake !== undefined);
  expect(named).toEqual(Array.from({ length: CALLERS }, () => [true, false, false]).flat());
  await world.t.run(async (ctx) => {
    await ctx.db.insert("gates", { queue: world.queue.name, state: "guarded" });
  });
  await wakeOfFirst(world, 200);
  expect(await canceled(world)).toEqual([2, 3, 4, 5]);
});

test("a worker outside cancels no wake on which other jobs of the call rely", async () => {
  const world = await newWorld({ push: true, shards: 1 });
  const jobs = [5, 0].map((priority) => ({ payload: 0, options: { priority } }));
  await world.t.mutation(api.lib.enqueue, { queue: world.queue, jobs });
  await world.t.mutation(api.operate.configureQueue, {
    queue: world.queue.name,
    overrides: { fallbackAfterMs: 60_000 },
  });
  await world.worker("here").claim();
  const [first, second] = await world.all("jobs");
  expect([first!.status, second!.status]).toEqual(["running", "pending"]);
  expect(await canceled(world)).toEqual([]);
});

test("where jobs are left to workers outside first, several jobs of a call name no wake", async () => {
  const world = await newWorld({ push: true, shards: 1, fallbackAfterMs: 60_000 });
  await world.worker("here").claim();
  await world.enqueueBatch([1, 2]);
  expect((await world.all("jobs")).map(({ wake }) => wake)).toEqual([undefined, undefined]);
});

test("a wake that is in time cancels none", async () => {
  const world = await storm("guarded");
  await wakeOfFirst(world, 50);
  expect(await canceled(world)).toEqual([]);
});

test("a wake is late by its job's commit, and not by the clock of a caller that took long", async () => {
  const world = await storm("guarded");
  const [first] = await world.all("jobs");
  const dueAt = Date.now() - 200;
  const args = { queue: world.queue.name, job: first!._id, isAlone: true, dueAt };
  await world.t.mutation(internal.push.wake.wake, args);
  expect(await canceled(world)).toEqual([]);
});

test("under a quiet gate a late wake cancels none: no lane is relied on", async () => {
  const world = await storm("quiet");
  await wakeOfFirst(world, 200);
  expect(await canceled(world)).toEqual([]);
});

test("a wake that is not due yet stays: its job is left to workers outside first", async () => {
  const world = await newWorld({ push: true, shards: 1, fallbackAfterMs: 60_000 });
  await world.worker("here").claim();
  for (let n = 0; n < CALLERS; n += 1) await world.enqueue(n);
  await world.t.run(async (ctx) => {
    await ctx.db.insert("gates", { queue: world.queue.name, state: "guarded" });
  });
  await wakeOfFirst(world, 200);
  expect(await canceled(world)).toEqual([]);
  // Nor is any of them read: there may be hundreds.
  const [first] = await world.all("jobs");
  const { order, shard, seq } = first!;
  const place = { queue: world.queue.name, order, shard, seq: seq as bigint };
  const later = { ...place, upTo: commitTimeOf(Date.now() - 60_000) };
  expect(await world.t.query(internal.push.surplus.laterWakes, later)).toEqual([]);
});

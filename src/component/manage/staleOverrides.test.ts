/** Overrides that a later deploy leaves without a meaning: they stand in no job's way, and in no other override's. */
import { describe, expect, test } from "vitest";
import { api } from "../_generated/api.js";
import { newWorld, refusal, succeeded, type World } from "../setup.test.js";

const queue = "tiles";

async function configure(world: World, overrides: object) {
  return await world.t.mutation(api.operate.configureQueue, { queue, overrides });
}

/** The same queue, as a later version of the app declares it. */
async function deploy(world: World, config: object): Promise<void> {
  await world.advance(20_000);
  const { leaseMs, maxResets, shards } = world.queue.config;
  world.queue.config = { leaseMs, maxResets, shards, ...config };
}

describe("a queue with an override of deadlineMs that becomes a ring", () => {
  test("takes items, without a deadline", async () => {
    const world = await newWorld();
    await world.enqueue();
    await configure(world, { deadlineMs: 60_000 });
    await deploy(world, { circular: true });
    const id = await world.enqueue();
    expect((await world.job(id)).deadline).toBeUndefined();
    expect(await world.t.query(api.operate.queueState, { queue })).toMatchObject({
      overrides: { deadlineMs: 60_000 },
      inForce: { circular: true },
    });
    const worker = world.worker("a");
    const jobs = await worker.claim(2);
    await worker.complete(jobs.map((job) => succeeded(job)));
    expect((await world.job(id)).rounds).toBe(1);
  });

  test("can be given other overrides, and none of these again", async () => {
    const world = await newWorld();
    await world.enqueue();
    await configure(world, { deadlineMs: 60_000, logLevel: "debug" });
    await deploy(world, { circular: true });
    await world.enqueue();
    expect(await configure(world, { leaseMs: 3_000 })).toEqual({ changed: true });
    const fields = ["logLevel"];
    expect(await world.t.mutation(api.operate.resetConfig, { queue, fields })).toEqual({
      changed: true,
    });
    const { code } = await refusal(configure(world, { deadlineMs: 70_000 }));
    expect(code).toBe("invalidArgument");
  });
});

describe("a ring with an override of restMs that becomes a queue", () => {
  test("can be given other overrides, and is a ring with that rest when it becomes one again", async () => {
    const world = await newWorld({ circular: true });
    await world.enqueue();
    await configure(world, { restMs: 5_000 });
    await deploy(world, {});
    const id = await world.enqueue();
    expect(await configure(world, { leaseMs: 3_000 })).toEqual({ changed: true });
    await deploy(world, { circular: true });
    await world.enqueue();
    const worker = world.worker("a");
    const jobs = await worker.claim(3);
    await worker.complete(jobs.map((job) => succeeded(job)));
    expect((await world.job(id)).status).toBe("scheduled");
  });
});

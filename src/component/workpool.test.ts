import { describe, expect, test } from "vitest";
import { WORKPOOL_CONFIG, WORKPOOL_QUEUE, type QueueConfig } from "../shared/index.js";
import { api } from "./_generated/api.js";
import { newWorld, refusal, type World } from "./setup.test.js";

const HANDLER = { kind: "action", handle: "function://;x:y", takes: "payload" } as const;

/** A pool in which nothing is begun, with so much work. */
async function pool(works: number, config: Partial<QueueConfig> = {}) {
  const world = await newWorld();
  await world.t.mutation(api.config.update, { maxParallelism: 0 });
  const ids = works === 0 ? [] : await enqueue(world, works, config);
  return { world, ids };
}

async function enqueue(
  world: World,
  works: number,
  config: Partial<QueueConfig> = {},
): Promise<string[]> {
  const rules = { handler: HANDLER };
  const enqueued = await world.t.mutation(api.lib.enqueue, {
    queue: { name: WORKPOOL_QUEUE, config: { ...WORKPOOL_CONFIG, ...config } },
    jobs: Array.from({ length: works }, () => ({ payload: {}, options: { rules } })),
  });
  return enqueued.map(({ id }) => id);
}

const stateOf = async (world: World, ids: string[]) =>
  (await world.t.query(api.workpool.statusBatch, { ids })).map(({ state }) => state);

describe("the status of work", () => {
  test("is finished for an id that names no work of the pool, or nothing at all", async () => {
    const { world } = await pool(0);
    const stranger = await world.enqueue();
    expect(await stateOf(world, [stranger, "", "x"])).toEqual(["finished", "finished", "finished"]);
  });

  test("is given for more of them than any page has, in their order", async () => {
    const { world, ids } = await pool(300);
    await world.t.mutation(api.workpool.cancel, { id: ids[7]! });
    const states = await stateOf(world, ids);
    expect(states.filter((state) => state === "pending")).toHaveLength(299);
    expect(states[7]).toBe("finished");
  });
});

describe("cancel", () => {
  test("does nothing for an id that names no work of the pool, also if it is a job of another queue", async () => {
    const { world } = await pool(1);
    const stranger = await world.enqueue();
    for (const id of [stranger, "", "x"]) await world.t.mutation(api.workpool.cancel, { id });
    const job = await world.t.query(api.lib.status, { id: stranger });
    expect(job).toMatchObject({ status: "pending" });
  });

  test("of all: nothing in a fresh deployment, and nothing of other queues", async () => {
    const fresh = await newWorld();
    await fresh.t.mutation(api.workpool.cancelAll, {});
    const { world, ids } = await pool(3);
    const stranger = await world.enqueue();
    await world.t.mutation(api.workpool.cancelAll, { limit: 1_000 });
    expect(new Set(await stateOf(world, ids))).toEqual(new Set(["finished"]));
    const job = await world.t.query(api.lib.status, { id: stranger });
    expect(job).toMatchObject({ status: "pending" });
  });

  test("of all leaves work that the same mutation enqueues after it, however much there was before", async () => {
    const { world, ids } = await pool(100);
    const queue = { name: WORKPOOL_QUEUE, config: WORKPOOL_CONFIG };
    const jobs = [{ payload: {}, options: { rules: { handler: HANDLER } } }];
    const [before, after] = await world.t.run(async (ctx) => {
      const [first] = await ctx.runMutation(api.lib.enqueue, { queue, jobs });
      await ctx.runMutation(api.workpool.cancelAll, {});
      const [second] = await ctx.runMutation(api.lib.enqueue, { queue, jobs });
      return [first!.id, second!.id];
    });
    await world.advance(5_000);
    expect(new Set(await stateOf(world, [...ids, before]))).toEqual(new Set(["finished"]));
    expect(await stateOf(world, [after])).toEqual(["pending"]);
  });

  test("of all refuses a limit that is no number of works", async () => {
    const { world } = await pool(1);
    for (const limit of [0, -1, 1.5, NaN]) {
      const refused = await refusal(world.t.mutation(api.workpool.cancelAll, { limit }));
      expect(refused).toMatchObject({ code: "invalidArgument" });
    }
  });
});

describe("config.update", () => {
  const inForce = async (world: World) =>
    (await world.t.query(api.operate.queueState, { queue: WORKPOOL_QUEUE })).inForce;

  test("applies before the first enqueue, and wins over a class's later declaration", async () => {
    const { world } = await pool(0);
    expect((await inForce(world)).maxParallelism).toBe(0);
    await world.advance(60_000);
    await enqueue(world, 1, { maxParallelism: 7, logLevel: "debug" });
    expect(await inForce(world)).toMatchObject({ maxParallelism: 0, logLevel: "debug" });
    await world.t.mutation(api.config.update, { maxParallelism: 3, logLevel: "ERROR" });
    expect(await inForce(world)).toMatchObject({ maxParallelism: 3, logLevel: "error" });
  });

  test("leaves fields that it does not name, and refuses values that no queue may have", async () => {
    const { world } = await pool(0);
    await world.t.mutation(api.config.update, {});
    await world.t.mutation(api.config.update, { logLevel: "DEBUG" });
    expect((await inForce(world)).maxParallelism).toBe(0);
    const update = world.t.mutation(api.config.update, { maxParallelism: -1 });
    expect(await refusal(update)).toMatchObject({ code: "invalidArgument" });
  });
});

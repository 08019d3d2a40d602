/** The overview of queues, and the names of all of them. */
import { describe, expect, test } from "vitest";
import { OVERVIEW_QUEUES_MAX } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import { newWorld, refusal, type World } from "../setup.test.js";

const overview = async (world: World, beside?: number) =>
  await world.t.query(api.observe.overview, {
    queue: "tiles",
    ...(beside === undefined ? {} : { beside }),
  });

async function declare(world: World, names: string[]): Promise<void> {
  for (const name of names) {
    const queue = { ...world.queue, name };
    await world.t.mutation(api.lib.enqueue, { queue, jobs: [{ payload: null }] });
  }
}

describe("the names of queues", () => {
  test("are all that code has declared, in their order, page by page", async () => {
    const world = await newWorld();
    const page = async (after?: string) =>
      await world.t.query(api.observe.queues, {
        limit: 2,
        ...(after === undefined ? {} : { after }),
      });
    expect(await page()).toEqual({ names: [], more: false });
    await declare(world, ["b", "c", "a"]);
    expect(await page()).toEqual({ names: ["a", "b"], more: true });
    expect(await page("b")).toEqual({ names: ["c"], more: false });
    for (const limit of [0, 1.5, 1_001]) {
      expect(await refusal(world.t.query(api.observe.queues, { limit }))).toMatchObject({
        code: "invalidArgument",
      });
    }
  });
});

describe("a queue's overview", () => {
  test("has its state, its gauge, and its last 30 minutes", async () => {
    const world = await newWorld();
    expect(await overview(world)).toBeNull();
    await world.enqueueBatch([1, 2]);
    await world.t.mutation(api.operate.pauseQueue, { queue: "tiles" });
    const found = (await overview(world))!;
    expect(found).toMatchObject({
      state: { name: "tiles", pausedAt: expect.any(Number) },
      isPush: false,
      gauge: { counts: { pending: { count: 2, more: false } } },
    });
    expect(found.recent).toHaveLength(30);
  });

  test("beside many other queues counts less far, so that all of them fit into one query", async () => {
    const world = await newWorld();
    await world.enqueueBatch(Array.from({ length: 150 }, (_, i) => i));
    const pending = async (beside?: number) =>
      (await overview(world, beside))!.gauge.counts.pending;
    expect(await pending()).toEqual({ count: 150, more: false });
    expect(await pending(2)).toEqual({ count: 100, more: true });
    expect(await pending(OVERVIEW_QUEUES_MAX)).toEqual({ count: 10, more: true });
    expect(await refusal(overview(world, OVERVIEW_QUEUES_MAX + 1))).toMatchObject({
      code: "invalidArgument",
    });
  });
});

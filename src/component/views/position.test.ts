import { describe, expect, test } from "vitest";
import { POSITION_MAX } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import { newWorld, released, succeeded, T0, type World } from "../setup.test.js";

const position = async (world: World, id: string, queue?: string) =>
  await world.t.query(api.observe.position, { id, ...(queue === undefined ? {} : { queue }) });

/** The row of a minute. */
async function minute(world: World, at: number, counts: Record<string, number>): Promise<void> {
  await world.t.run(async (ctx) => {
    const none = {
      ...{ enqueued: 0, started: 0, succeeded: 0, failed: 0, canceled: 0, timedOut: 0 },
      ...{ waitMs: [], runMs: [], waitSumMs: 0, runSumMs: 0 },
    };
    await ctx.db.insert("periods", { queue: "tiles", per: "minute", at, ...none, ...counts });
  });
}

describe("a job's position", () => {
  test("is its place in the queue's list, for every kind of job", async () => {
    const world = await newWorld({ shards: 8 });
    await world.enqueue({}, { priority: -1 });
    await world.enqueueBatch([1, 2, 3, 4]);
    await world.enqueue({}, { priority: 3, labels: ["gpu"] });
    await world.enqueue({}, { cost: 5 });
    const worker = world.worker("w");
    const [job] = await worker.claim();
    await worker.complete([released(job!)]);
    const [paused] = await world.enqueueBatch([9]);
    await world.t.mutation(api.operate.pauseJob, { id: paused! });
    const { page } = await world.t.query(api.observe.list, {
      ...{ queue: "tiles", filter: { status: "pending" } },
      paginationOpts: { numItems: 100, cursor: null },
    });
    expect(page.map(({ priority = 0 }) => priority)).toEqual([3, 0, 0, 0, 0, 0, -1, 0]);
    for (const [place, { id }] of page.slice(0, -1).entries()) {
      expect(await position(world, id)).toEqual({ ahead: place, more: false });
    }
    expect(await position(world, paused!)).toBeNull();
  });

  // Shows K18.
  test("is exact to a hundred, and from there on a bound", async () => {
    const world = await newWorld({ shards: 2 });
    const ids = await world.enqueueBatch(Array.from({ length: POSITION_MAX + 3 }, (_, n) => n));
    expect(await position(world, ids[99]!)).toEqual({ ahead: 99, more: false });
    expect(await position(world, ids[100]!)).toEqual({ ahead: 100, more: false });
    expect(await position(world, ids[101]!)).toEqual({ ahead: 100, more: true });
    expect(await position(world, ids[102]!)).toEqual({ ahead: 100, more: true });
  });

  test("is none of a job that does not wait to be claimed, and of no other queue's", async () => {
    const world = await newWorld();
    const [running] = [await world.enqueue()];
    const worker = world.worker("w");
    const [job] = await worker.claim();
    expect(await position(world, running)).toBeNull();
    await worker.complete([succeeded(job!)]);
    expect(await position(world, running)).toBeNull();
    expect(await position(world, await world.enqueue({}, { runAfter: 1_000 }))).toBeNull();
    expect(await position(world, "nonsense")).toBeNull();
    const waiting = await world.enqueue();
    expect(await position(world, waiting, "tiles")).toEqual({ ahead: 0, more: false });
    expect(await position(world, waiting, "other")).toBeNull();
  });

  // Shows K18.
  test("comes with when it will begin, at the pace of the best of the last minutes", async () => {
    const world = await newWorld();
    const ids = await world.enqueueBatch(Array.from({ length: 45 }, (_, n) => n));
    await minute(world, T0 - 61 * 60_000, { succeeded: 1_000 });
    expect(await position(world, ids[30]!)).toEqual({ ahead: 30, more: false });
    await minute(world, T0 - 2 * 60_000, { succeeded: 10, failed: 5 });
    await minute(world, T0 - 60_000, { succeeded: 2 });
    await minute(world, T0, { succeeded: 0 });
    expect(await position(world, ids[30]!)).toMatchObject({ startsAt: T0 + 2 * 60_000 });
    expect(await position(world, ids[0]!)).toMatchObject({ ahead: 0, startsAt: T0 });
    await world.t.mutation(api.operate.pauseQueue, { queue: "tiles" });
    expect(await position(world, ids[30]!)).toEqual({ ahead: 30, more: false });
  });

  test("is estimated by minutes in which jobs ended, also where jobs only came in since", async () => {
    const world = await newWorld();
    const ids = await world.enqueueBatch(Array.from({ length: 31 }, (_, n) => n));
    await minute(world, T0 - 8 * 60_000, { succeeded: 15 });
    for (let ago = 0; ago < 6; ago += 1)
      await minute(world, T0 - ago * 60_000, { succeeded: 0, enqueued: 1, canceled: 1 });
    expect(await position(world, ids[30]!)).toMatchObject({ startsAt: T0 + 2 * 60_000 });
  });
});

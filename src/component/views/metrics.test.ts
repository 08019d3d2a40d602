/** Metrics of a queue as a monitoring system reads them. */
import { describe, expect, test } from "vitest";
import { api } from "../_generated/api.js";
import { failed, newWorld, succeeded, type World } from "../setup.test.js";

describe("counts since the beginning", () => {
  const totals = async (world: World) =>
    (await world.t.query(api.observe.metrics, { queue: "tiles" }))!.totals;

  test("is nothing of a queue that has done nothing", async () => {
    const world = await newWorld();
    expect(await world.t.query(api.observe.metrics, { queue: "tiles" })).toBeNull();
    await world.enqueue();
    const none = await totals(world);
    expect(none).toMatchObject({ enqueued: 0, succeeded: 0, waitSumMs: 0 });
    expect(none.waitMs).toHaveLength(32);
  });

  test("only grows: also when the rows of its time are gone, and its jobs deleted", async () => {
    const world = await newWorld();
    const worker = world.worker("a");
    const ids = await world.enqueueBatch([1, 2, 3]);
    await world.advance(1_000);
    const jobs = await worker.claim(3);
    await world.advance(500);
    await worker.complete([succeeded(jobs[0]!), succeeded(jobs[1]!), failed(jobs[2]!)]);
    // New jobs of a queue that has few are counted up to ten minutes behind.
    await world.advance(15 * 60_000);
    const counted = { enqueued: 3, succeeded: 2, failed: 1, waitSumMs: 3_000, runSumMs: 1_500 };
    expect(await totals(world)).toMatchObject(counted);
    for (const id of ids) await world.t.mutation(api.operate.deleteJob, { id });
    await world.t.run(async ({ db }) => {
      const rows = await db.query("periods").collect();
      for (const row of rows) if (row.per !== "ever") await db.delete("periods", row._id);
    });
    await world.advance(60_000);
    const later = await totals(world);
    expect(later).toMatchObject(counted);
    expect(later.waitMs.reduce((sum, count) => sum + count, 0)).toBe(3);
    expect(later.runMs[9]).toBe(3);
  });
});

test("says whether the queue is paused and drains, and how it stands", async () => {
  const world = await newWorld();
  await world.enqueueBatch([1, 2]);
  const metrics = async () => await world.t.query(api.observe.metrics, { queue: "tiles" });
  expect(await metrics()).toMatchObject({
    ...{ isPaused: false, isDraining: false },
    gauge: { counts: { pending: { count: 2 } }, oldestPendingAt: expect.any(Number) },
  });
  await world.t.mutation(api.operate.pauseQueue, { queue: "tiles" });
  await world.t.mutation(api.operate.drainQueue, { queue: "tiles" });
  expect(await metrics()).toMatchObject({ isPaused: true, isDraining: true });
});

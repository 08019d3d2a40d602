import { describe, expect, test, vi } from "vitest";
import { api } from "../_generated/api.js";
import type { Id } from "../_generated/dataModel.js";
import { isExpired } from "./deadlines.js";
import { addExpiry, expireJob } from "./startDeadlines.js";
import { readLine } from "../claim/lines.test.js";
import { getQueue } from "../rows/queues.js";
import { alarms, pass } from "./scheduled.test.js";
import { app, newToldWorld, newWorld, released, succeeded, type World } from "../setup.test.js";
import { cancel, retry } from "./transitions.js";

/** A job that expires so many milliseconds from now, put in as `enqueue` puts it in. */
async function expiring(world: World, ms: number): Promise<Id<"jobs">> {
  const id = await world.enqueue();
  const expiresAt = Date.now() + ms;
  await world.step(async (ctx) => {
    await ctx.db.patch("jobs", id, { expiresAt });
    await addExpiry(ctx, "tiles", id, expiresAt);
  });
  return id;
}

describe("a job that is not begun in time", () => {
  // Shows LF-36, A22, H17.
  test("fails within a second or so, and the error says that it expired and by how much", async () => {
    const world = await newToldWorld();
    const id = await expiring(world, 90_000);
    await pass(world, 89_999);
    expect(await world.status(id)).toMatchObject({ status: "pending" });
    await pass(world, 1_100);
    const status = await world.status(id);
    expect(status).toMatchObject({ status: "failed", attempt: 0, failures: 0 });
    expect((status as { error: string }).error).toMatch(
      /expired: nobody began it within 90000 ms .* 1000 ms past/,
    );
    expect(await world.all("expiries")).toEqual([]);
    expect(await alarms(world)).toEqual([]);
    expect(await world.worker("a").claim()).toEqual([]);
  });

  test("delivers its end once, and a callback that throws does not undo it", async () => {
    const world = await newToldWorld();
    app.onComplete = () => {
      throw new Error("not today");
    };
    const id = await expiring(world, 1_000);
    await pass(world, 2_100);
    expect(await world.status(id)).toMatchObject({ status: "failed" });
    expect(await world.all("told")).toEqual([]);
    app.onComplete = () => undefined;
    await world.advance(5_000);
    expect(await world.all("told")).toMatchObject([{ id, status: "failed" }]);
  });

  test("more than one ring takes all fail, in batches", async () => {
    const world = await newWorld();
    for (let i = 0; i < 70; i += 1) await expiring(world, 1_000 + i);
    await pass(world, 2_100);
    const statuses = new Set((await world.all("jobs")).map(({ status }) => status));
    expect([...statuses]).toEqual(["failed"]);
    expect(await world.all("expiries")).toEqual([]);
  });
});

describe("a job that was begun does not expire", () => {
  test("while it runs, and when it comes back", async () => {
    const world = await newWorld();
    const id = await expiring(world, 3_000);
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await pass(world, 4_100);
    expect(await world.status(id)).toMatchObject({ status: "running" });
    expect(await world.all("expiries")).toEqual([]);
    await worker.complete([released(job!)]);
    expect(isExpired(await world.job(id), Date.now())).toBe(false);
    expect(await worker.claim()).toHaveLength(1);
  });

  test("nor one that has ended, nor one that was wanted again after it had expired", async () => {
    const world = await newWorld();
    const ended = await expiring(world, 1_000);
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await worker.complete([succeeded(job!)]);
    const canceled = await expiring(world, 1_000);
    const again = await expiring(world, 1_000);
    await world.step(async (ctx) => {
      const queue = await getQueue(ctx.db, "tiles");
      const row = async (id: Id<"jobs">) => (await ctx.db.get("jobs", id))!;
      await cancel(ctx, await row(canceled), queue);
      await expireJob(ctx, queue, await row(again));
      await retry(ctx, await row(again), queue, { keepResult: false });
    });
    await pass(world, 2_100);
    expect(await world.status(ended)).toMatchObject({ status: "succeeded" });
    expect(await world.status(canceled)).toMatchObject({ status: "canceled" });
    expect(await world.status(again)).toMatchObject({ status: "pending" });
    expect(await world.all("expiries")).toEqual([]);
  });
});

test("a job far from its end has one alarm for its day, and expires to the second all the same", async () => {
  const world = await newWorld();
  const days = 3 * 24 * 60 * 60_000;
  const id = await expiring(world, days);
  await expiring(world, days + 1);
  expect(await alarms(world)).toHaveLength(1);
  await pass(world, days - 1);
  expect(await world.status(id)).toMatchObject({ status: "pending" });
  await pass(world, 1_100);
  expect(await world.status(id)).toMatchObject({ status: "failed" });
});

// Rules out D14.
test("one job that makes every ring fail is at last left as it is, with an event, and the other jobs expire", async () => {
  const world = await newWorld();
  const bad = await expiring(world, 1_000);
  const good = await expiring(world, 1_001);
  const [alarm] = await alarms(world);
  await world.t.run((ctx) => ctx.db.patch("timers", alarm!._id, { failures: 7 }));
  const complaints = vi.spyOn(console, "error").mockImplementation(() => undefined);
  await pass(world, 2_500);
  const lines = complaints.mock.calls.map(([text]) => readLine(text));
  complaints.mockRestore();
  expect(await world.status(bad)).toMatchObject({ status: "pending" });
  expect(await world.status(good)).toMatchObject({ status: "failed" });
  expect(await world.all("events")).toMatchObject([{ kind: "expiryFailed", queue: "tiles" }]);
  expect(lines.filter(({ conveyor }) => conveyor === "expiryFailed")).toMatchObject([
    { level: "error", queue: "tiles", details: { jobs: [bad] } },
  ]);
});

test("a job that was deleted meanwhile is in no other's way, and a row is left of neither", async () => {
  const world = await newWorld();
  const complaints = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const gone = await expiring(world, 1_000);
  const other = await expiring(world, 1_010);
  await world.t.mutation(api.operate.deleteJob, { id: gone });
  await pass(world, 2_100);
  complaints.mockRestore();
  expect(await world.status(other)).toMatchObject({ status: "failed" });
  expect([await world.all("expiries"), await world.all("events")]).toEqual([[], []]);
});

test("a job that expires while it is not due yet has ended too, with the count that follows", async () => {
  const world = await newWorld();
  const id = await world.enqueue(1, { runAfter: 60_000 });
  const expiresAt = Date.now() + 1_000;
  await world.step(async (ctx) => {
    await ctx.db.patch("jobs", id, { expiresAt });
    await addExpiry(ctx, "tiles", id, expiresAt);
  });
  await pass(world, 2_100);
  expect(await world.status(id)).toMatchObject({ status: "failed" });
  expect((await world.all("timers")).map(({ kind }) => kind)).toContain("rollUp");
});

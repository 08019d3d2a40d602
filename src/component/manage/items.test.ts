import { describe, expect, test } from "vitest";
import { api } from "../_generated/api.js";
import { underCanceled } from "../edges/scheduled.test.js";
import { app, failed, newToldWorld, newWorld, succeeded, type World } from "../setup.test.js";
import { deleteJob } from "./items.js";

const pause = async (world: World, id: string) =>
  await world.t.mutation(api.operate.pauseJob, { id });
const resume = async (world: World, id: string) =>
  await world.t.mutation(api.operate.resumeJob, { id });
const remove = async (world: World, id: string) =>
  await world.t.mutation(api.operate.deleteJob, { id });

describe("a paused job", () => {
  // Shows CR-05, G11.
  // Rules out D6f.
  test("that waits leaves the range that claims read, and comes to the end of its line when it is resumed", async () => {
    const world = await newWorld();
    const [first, second] = await world.enqueueBatch([1, 2]);
    const worker = world.worker("a");
    expect(await pause(world, first!)).toEqual({ changed: true, paused: true, status: "pending" });
    expect((await worker.claim(2)).map(({ id }) => id)).toEqual([second]);
    expect(await resume(world, first!)).toMatchObject({ changed: true, paused: false });
    expect((await worker.claim(2)).map(({ id }) => id)).toEqual([first]);
  });

  test("is no work for a watcher, and keeps its status", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    await pause(world, id);
    const watch = { token: world.token, queues: ["tiles"] };
    expect(await world.t.query(api.lib.hasWork, watch)).toBe(false);
    expect(await world.status(id)).toMatchObject({ status: "pending", paused: true });
  });

  test("that is due later falls due and stays paused", async () => {
    const world = await newWorld();
    const id = await world.enqueue(1, { runAfter: 2_000 });
    expect(await pause(world, id)).toMatchObject({ changed: true, status: "scheduled" });
    await world.advance(3_000);
    const worker = world.worker("a");
    expect(await worker.claim()).toEqual([]);
    await resume(world, id);
    expect(await worker.claim()).toHaveLength(1);
  });

  test("that runs goes on, and is parked when it comes back", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    expect(await pause(world, id)).toMatchObject({ changed: true, status: "running" });
    await worker.complete([{ id, attempt: job!.attempt, outcome: { kind: "released" } }]);
    expect(await worker.claim()).toEqual([]);
    await resume(world, id);
    expect(await worker.claim()).toHaveLength(1);
  });

  test("that ends instead is paused no more, so that a retry of it is claimed", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await pause(world, id);
    await worker.complete([failed(job!)]);
    await world.t.mutation(api.operate.retryJob, { id });
    expect(await worker.claim()).toHaveLength(1);
  });

  test("paused or resumed twice says that nothing changed; one that has ended is left", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    await pause(world, id);
    expect(await pause(world, id)).toMatchObject({ changed: false, paused: true });
    await resume(world, id);
    expect(await resume(world, id)).toMatchObject({ changed: false, paused: false });
    await world.t.mutation(api.operate.cancelJob, { id });
    expect(await pause(world, id)).toEqual({ changed: false, paused: false, status: "canceled" });
  });
});

describe("a deleted job", () => {
  // Rules out D31a.
  test("is gone with all its rows, in any status", async () => {
    const world = await newToldWorld();
    const big = "x".repeat(600);
    const id = await world.enqueue(big, { key: { value: "k" }, context: big });
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await worker.report({ updates: [{ id, attempt: 1, value: 0.5 }] });
    app.onComplete = () => {
      throw new Error("not now");
    };
    await worker.complete([succeeded(job!, big)]);
    expect(await world.all("callbacks")).toHaveLength(1);
    expect(await remove(world, id)).toEqual({ deleted: true, status: "succeeded" });
    for (const table of [
      "jobs",
      "payloads",
      "keys",
      "progress",
      "callbacks",
      "attempts",
    ] as const) {
      expect(await world.all(table), table).toEqual([]);
    }
    await world.advance(5_000);
  });

  test("that was retried takes along the old result that a callback was still owed", async () => {
    const world = await newToldWorld();
    app.onComplete = () => {
      throw new Error("not now");
    };
    const id = await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await worker.complete([succeeded(job!, "x".repeat(600))]);
    await world.t.mutation(api.operate.retryJob, { id });
    expect(await world.all("payloads")).toHaveLength(1);
    await remove(world, id);
    expect([await world.all("payloads"), await world.all("callbacks")]).toEqual([[], []]);
  });

  test("gives its key back while it waits", async () => {
    const world = await newWorld();
    const id = await world.enqueue(1, { key: { value: "k" } });
    await remove(world, id);
    const again = await world.enqueueJobs([{ payload: 1, options: { key: { value: "k" } } }]);
    expect(again[0]!.isNew).toBe(true);
  });

  // Shows SG-35, F14.
  test("that runs is taken from its worker, which is asked to stop, and the worker's report is lost", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    expect(await remove(world, id)).toEqual({ deleted: true, status: "running" });
    expect((await world.all("cancels")).map((row) => row.job)).toEqual([id]);
    expect(await worker.heartbeat([job!])).not.toEqual(["ok"]);
    expect((await worker.complete([succeeded(job!)])).words).toEqual(["leaseLost"]);
    expect(await world.all("cancels")).toEqual([]);
    expect((await worker.session()).leases).toEqual([]);
  });

  test("of a worker that is never heard of again leaves nothing behind either", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    await world.worker("a").claim();
    await remove(world, id);
    await world.advance(11_000);
    expect(await world.all("cancels")).toEqual([]);
    expect((await world.all("sessions"))[0]!.leases).toEqual([]);
  });

  // Rules out D31a.
  test("with more rows than one transaction deletes is gone at once, and its rows by and by", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    await world.t.run(async (ctx) => {
      for (let i = 0; i < 1_050; i += 1) {
        await ctx.db.insert("chunks", {
          job: id,
          attempt: 1,
          index: i,
          text: "x",
          total: i,
        });
      }
    });
    await remove(world, id);
    expect(await world.status(id)).toBeNull();
    expect((await world.all("chunks")).length).toBeGreaterThan(0);
    await world.advance(200);
    expect(await world.all("chunks")).toEqual([]);
    expect((await world.all("timers")).filter(({ kind }) => kind === "bulk")).toEqual([]);
  });

  test("by a function that was canceled: its remaining rows go as soon as others see that nothing comes for them", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    await world.t.run(async (ctx) => {
      const chunk = { job: id, attempt: 1, text: "x", total: 1 };
      for (let index = 0; index < 1_050; index += 1)
        await ctx.db.insert("chunks", { ...chunk, index });
    });
    await world.t.run(async (ctx) => {
      await deleteJob(underCanceled(ctx), id);
    });
    expect([await world.status(id), (await world.all("chunks")).length]).toEqual([null, 50]);
    await world.advance(6_000);
    await world.t.mutation(api.lib.watch, {});
    await world.advance(200);
    expect(await world.all("chunks")).toEqual([]);
    expect(await world.all("timers")).toEqual([]);
  });

  test("with more given-up callbacks than one transaction deletes is gone at once, and they by and by", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    await world.t.run(async (ctx) => {
      const outcome = { status: "failed" as const, error: "boom" };
      const dead = { job: id, handle: "", attempt: 1, outcome, state: "dead" as const, tries: 10 };
      for (let i = 0; i < 1_050; i += 1) await ctx.db.insert("callbacks", { ...dead, dueAt: i });
    });
    await remove(world, id);
    expect(await world.status(id)).toBeNull();
    expect(await world.all("callbacks")).toHaveLength(50);
    await world.advance(200);
    expect(await world.all("callbacks")).toEqual([]);
  });

  test("is deleted once; a job of another queue is none", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    const foreign = { id, queue: "others" };
    const none = { deleted: false, status: null };
    expect(await world.t.mutation(api.operate.deleteJob, foreign)).toEqual(none);
    expect(await remove(world, id)).toMatchObject({ deleted: true });
    expect(await remove(world, id)).toEqual(none);
    expect(await remove(world, "nonsense")).toEqual(none);
  });
});

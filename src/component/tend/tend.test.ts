/** The work of a sweep that is late, done by the process that has noticed. */
import { expect, test, vi } from "vitest";
import { api } from "../_generated/api.js";
import { newWorld, succeeded, type Worker, type World } from "../setup.test.js";
import { underCanceled } from "../edges/scheduled.test.js";
import { tend } from "./tend.js";

/** A job, and the worker that has begun it and then goes silent; no sweep comes for it. */
async function silentWorker(world: World): Promise<{ id: string; gone: Worker }> {
  const id = await world.enqueue();
  const gone = world.worker("gone");
  await gone.heartbeat(await gone.claim());
  await world.stopAlarms();
  return { id, gone };
}

/** The fleet's row says so, as it was counted once. */
async function countedOnce(world: World, size: number): Promise<void> {
  await world.t.run((ctx) =>
    ctx.db.insert("fleets", { queue: "tiles", members: new Uint32Array(size).buffer, at: 0 }),
  );
}

const timers = async (world: World) =>
  (await world.all("timers")).filter(({ kind }) => kind === "janitor");

// Shows CR-04, C27.
// Rules out D4.
test("a worker ends the leases of a session that has gone silent, and gets its jobs, without the scheduler", async () => {
  const world = await newWorld();
  const { id, gone } = await silentWorker(world);
  await world.advance(11_000);
  const worker = world.worker("b");
  expect(await worker.claim(3)).toEqual([]);
  expect(worker.isLate, "a sweep may come a moment late").toBe(false);
  await world.advance(3_000);
  expect(await worker.claim(3)).toEqual([]);
  expect(worker.isLate).toBe(true);
  await worker.tend();
  const [taken] = await worker.claim(3);
  expect(taken).toMatchObject({ id, attempt: 2, resets: 1 });
  expect((await gone.session()).state).toBe("gone");
  expect(worker.isLate).toBe(false);
});

test("an idle worker, which claims nothing, learns by its beat that a sweep is late", async () => {
  const world = await newWorld();
  const id = await world.enqueue();
  const idle = world.worker("idle");
  await idle.claim();
  const gone = world.worker("gone");
  await world.enqueue();
  await gone.heartbeat(await gone.claim());
  const [held] = await idle.claim(1, { n: 1 });
  await idle.complete([succeeded(held!)]);
  await world.stopAlarms();
  await world.advance(11_000);
  await idle.heartbeat([]);
  expect(idle.isLate, "a sweep may come a moment late").toBe(false);
  await world.advance(30_000);
  await idle.heartbeat([]);
  expect(idle.isLate).toBe(true);
  await idle.tend();
  expect((await gone.session()).state).toBe("gone");
  expect(await world.status(id)).toMatchObject({ status: "succeeded" });
});

test("of many idle workers that beat at once, a few learn that a sweep is late", async () => {
  const world = await newWorld();
  await silentWorker(world);
  await countedOnce(world, 100);
  await world.advance(14_000);
  const fleet = Array.from({ length: 9 }, (_, n) => world.worker(`idle-${n}`));
  for (const one of fleet) await one.heartbeat([]);
  const idle = world.worker("idle");
  await idle.claim(1);
  const random = vi.spyOn(Math, "random");
  for (const [luck, isTold] of [
    [0.039, true],
    [0.041, false],
  ] as const) {
    random.mockReturnValue(luck);
    await idle.heartbeat([]);
    expect(idle.isLate).toBe(isTold);
  }
});

test("a few workers that are left of a large fleet learn it, however large it was when it was counted", async () => {
  const world = await newWorld();
  await silentWorker(world);
  await countedOnce(world, 1_000);
  await world.advance(14_000);
  const idle = world.worker("idle");
  await idle.claim(1);
  vi.spyOn(Math, "random").mockReturnValue(0.99);
  await idle.heartbeat([]);
  expect(idle.isLate).toBe(true);
});

test("a killed fleet's leases end in as many calls as sweeps would take, one after the other", async () => {
  const world = await newWorld();
  const ids = await world.enqueueBatch(Array.from({ length: 20 }, (_, n) => n));
  for (let n = 0; n < 20; n += 1) {
    const killed = world.worker(`killed-${n}`);
    await killed.heartbeat(await killed.claim());
  }
  await world.stopAlarms();
  await world.advance(14_000);
  const worker = world.worker("b");
  await worker.claim();
  await worker.tend();
  for (const id of ids) expect(await world.status(id)).toMatchObject({ status: "pending" });
});

test("of a sweep that comes after all, and a call that tends, the sweep finds its alarm moved", async () => {
  const world = await newWorld();
  await silentWorker(world);
  const [timer] = await timers(world);
  await world.advance(14_000);
  await world.t.mutation(api.lib.tend, { queues: [] });
  const [moved] = await timers(world);
  expect(moved).toMatchObject({ _id: timer!._id, generation: timer!.generation! + 1 });
  expect(moved!.dueAt).toBeGreaterThan(Date.now());
});

test("a timer that is gone while leases are over is made anew", async () => {
  const world = await newWorld();
  const { id } = await silentWorker(world);
  await world.t.run(async (ctx) => {
    for (const { _id } of await ctx.db.query("timers").collect())
      await ctx.db.delete("timers", _id);
  });
  const worker = world.worker("b");
  await worker.heartbeat([]);
  await world.advance(14_000);
  await worker.heartbeat([]);
  expect(worker.isLate, "an idle worker sees it too").toBe(true);
  await worker.claim();
  expect(worker.isLate).toBe(true);
  await worker.tend();
  await world.advance(1_000);
  expect(await world.status(id)).toMatchObject({ status: "pending" });
});

test("where nothing is late it writes nothing", async () => {
  const world = await newWorld();
  await world.enqueueBatch([1, 2]);
  const worker = world.worker("a");
  const [job] = await worker.claim();
  await worker.complete([succeeded(job!)], { claim: 1 });
  const before = await Promise.all([world.all("timers"), world.all("sessions")]);
  expect(await world.t.mutation(api.lib.tend, { queues: ["tiles"] })).toEqual({ isLate: false });
  expect(await Promise.all([world.all("timers"), world.all("sessions")])).toEqual(before);
});

test("more queues than a claim may name are refused", async () => {
  const world = await newWorld();
  const queues = Array.from({ length: 33 }, (_, n) => `queue-${n}`);
  await expect(world.t.mutation(api.lib.tend, { queues })).rejects.toThrow("The queues to tend");
});

test("a call of a process that was canceled changes nothing: all that it schedules is born canceled", async () => {
  const world = await newWorld();
  const { id } = await silentWorker(world);
  await world.advance(14_000);
  const before = await timers(world);
  const tending = world.t.run(async (ctx) => {
    await tend(underCanceled(ctx), []);
  });
  await expect(tending).rejects.toThrow("canceled");
  expect(await timers(world)).toEqual(before);
  expect(await world.status(id)).toMatchObject({ status: "running" });
  await world.t.mutation(api.lib.tend, { queues: [] });
  expect(await world.status(id)).toMatchObject({ status: "pending" });
});

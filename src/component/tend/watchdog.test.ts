import { describe, expect, test, vi } from "vitest";
import { api } from "../_generated/api.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import { ensureSegments } from "../loops/segments.js";
import { findQueue } from "../rows/queues.js";
import { alarms, pass, ringOf, schedule, underCanceled } from "../edges/scheduled.test.js";
import { cancel } from "../manage/cancel.js";
import { app, newToldWorld, newWorld, succeeded, type World } from "../setup.test.js";
import { insertJob } from "../edges/transitions.js";
import type { MutationCtx } from "../_generated/server.js";
import { lookForOverdue, watch } from "./watchdog.js";

/** Puts in a job that is due then and for which no alarm comes: the function that armed it was canceled. */
async function insertStray(world: World, dueAt: number): Promise<Id<"jobs">> {
  return await world.step(async (ctx) => {
    const queue = (await findQueue(ctx.db, "tiles"))!;
    const fields = { payload: { inline: 0 }, enqueuedAt: ctx.now };
    const id = await insertJob(ctx, queue, fields, dueAt);
    ctx.effects.dueTimes = [];
    return id;
  });
}

/** As by "cancel all" in the dashboard: the row says that the alarm is armed, and nothing will ring. */
async function kill(world: World, { scheduledId }: Doc<"timers">): Promise<void> {
  await world.t.run((ctx) => ctx.scheduler.cancel(scheduledId!));
}

describe("an alarm with a canceled scheduled function", () => {
  // Shows WP-34, F25.
  test("is revived by a watch, and its jobs are promoted", async () => {
    const world = await newWorld();
    const [id] = await schedule(world, [Date.now() + 1_000]);
    await kill(world, (await alarms(world))[0]!);
    await world.advance(5_500);
    await world.t.mutation(api.lib.watch, {});
    await world.advance(200);
    // Not yet overdue: it may merely be late.
    expect(await world.status(id!)).toMatchObject({ status: "scheduled" });
    await world.advance(1_000);
    await world.t.mutation(api.lib.watch, {});
    await world.advance(200);
    expect(await world.status(id!)).toMatchObject({ status: "pending" });
    expect(await alarms(world)).toEqual([]);
  });

  test("is revived by the next job that relies on it", async () => {
    const world = await newWorld();
    const at = Date.now() + 1_000;
    const [id] = await schedule(world, [at]);
    await kill(world, (await alarms(world))[0]!);
    await world.advance(7_000);
    await schedule(world, [at]);
    await world.advance(200);
    expect(await world.status(id!)).toMatchObject({ status: "pending" });
  });

  test("is revived while it hands over, too", async () => {
    const world = await newWorld();
    const [id] = await schedule(world, [Date.now() + 3 * 60 * 60_000]);
    const [wide] = await alarms(world);
    await pass(world, wide!.dueAt - Date.now() - 1);
    await ringOf(world, wide!);
    const [handingOver] = await alarms(world);
    expect(handingOver).toMatchObject({ _id: wide!._id, generation: 1 });
    await kill(world, handingOver!);
    await world.advance(6_000);
    await world.t.mutation(api.lib.watch, {});
    await world.advance(200);
    expect((await alarms(world))[0]!.width).toBe(60_000);
    await pass(world, 62 * 60_000);
    expect(await world.status(id!)).toMatchObject({ status: "pending" });
  });
});

describe("a call that revives", () => {
  /** A job that is due, a dead alarm, and no call that has noticed. */
  async function neglected(world: World): Promise<string> {
    const [id] = await schedule(world, [Date.now() + 1_000]);
    await kill(world, (await alarms(world))[0]!);
    return id!;
  }

  test("a worker with a claim that finds nothing; one that finds a job leaves it to other calls", async () => {
    const world = await newWorld();
    const id = await neglected(world);
    await world.advance(7_000);
    const worker = world.worker("a");
    expect(await worker.claim()).toHaveLength(1);
    expect(worker.isLate).toBe(false);
    expect(await worker.claim()).toEqual([]);
    expect(worker.isLate).toBe(true);
    expect(await world.status(id)).toMatchObject({ status: "scheduled" });
    await worker.tend();
    await world.advance(200);
    expect(await world.status(id)).toMatchObject({ status: "pending" });
  });

  // Rules out D4.
  test("an idle worker, by its beat", async () => {
    const world = await newWorld();
    const id = await neglected(world);
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await worker.complete([succeeded(job!)]);
    await world.advance(7_000);
    vi.spyOn(Math, "random").mockReturnValue(0.1);
    await worker.heartbeat([]);
    expect(worker.isLate).toBe(true);
    await worker.tend();
    await world.advance(200);
    expect(await world.status(id)).toMatchObject({ status: "pending" });
  });

  test("the janitor, while anything is leased", async () => {
    const world = await newWorld({ leaseMs: 60_000 });
    const id = await neglected(world);
    await world.worker("a").claim();
    await world.advance(30_300);
    expect(await world.status(id)).toMatchObject({ status: "pending" });
  });
});

describe("reviving", () => {
  test("keeps the generation: an alarm that was only late rings as well, and does nothing twice", async () => {
    const world = await newWorld();
    const [id] = await schedule(world, [Date.now() + 1_000]);
    const [alarm] = await alarms(world);
    await kill(world, alarm!);
    await world.advance(6_500);
    await world.t.mutation(api.lib.watch, {});
    expect((await alarms(world))[0]).toMatchObject({ _id: alarm!._id, generation: 0 });
    // The first, late.
    await ringOf(world, alarm!);
    expect(await world.status(id!)).toMatchObject({ status: "pending" });
    const { seq } = await world.job(id!);
    await world.advance(1_000);
    expect((await world.job(id!)).seq).toBe(seq);
    expect(await alarms(world)).toEqual([]);
  });

  test("is not repeated by every call: the revived one has its five seconds again", async () => {
    const world = await newWorld();
    await schedule(world, [Date.now() + 1_000]);
    await kill(world, (await alarms(world))[0]!);
    await world.advance(6_500);
    await world.t.mutation(api.lib.watch, {});
    const [revived] = await alarms(world);
    await world.t.mutation(api.lib.watch, {});
    expect(await alarms(world)).toEqual([revived]);
    await world.advance(200);
  });

  test("counts a ring that failed, so that the next takes half as much, and not one that was canceled", async () => {
    const world = await newWorld();
    await schedule(world, [Date.now() + 1_000]);
    const [alarm] = await alarms(world);
    const broken = { ...alarm!, queue: "nobody's" };
    await world.t.run((ctx) => ctx.db.patch("timers", alarm!._id, { queue: broken.queue }));
    // The queue is unknown, so the ring throws.
    await world.advance(7_000);
    await world.t.mutation(api.lib.watch, {});
    expect((await alarms(world))[0]).toMatchObject({ failures: 1 });
    await world.t.run((ctx) => ctx.db.patch("timers", alarm!._id, { queue: "tiles" }));
    await world.advance(200);
    expect(await alarms(world)).toEqual([]);
  });
});

describe("a job that is due without an alarm", () => {
  // Rules out D1.
  test("since its caller had been canceled leaves no row that says that one is armed", async () => {
    const world = await newWorld();
    await world.enqueue();
    const dueAt = Date.now() + 1_000;
    await world.t.run(async (ctx) => {
      await ensureSegments(underCanceled(ctx), "dispatcher", "tiles", [dueAt], Date.now());
    });
    expect(await alarms(world)).toEqual([]);
    // So the next caller, from elsewhere, arms one that rings.
    const [id] = await schedule(world, [dueAt]);
    await world.advance(1_250);
    expect(await world.status(id!)).toMatchObject({ status: "pending" });
  });

  // Shows F24.
  test("is found once it is overdue by five seconds, as if scheduled by a canceled function", async () => {
    const world = await newWorld();
    await world.enqueue();
    const id = await insertStray(world, Date.now() + 1_000);
    await world.advance(6_000);
    const look = () => world.t.run((ctx) => lookForOverdue(ctx.db, ["tiles"], Date.now()));
    expect(await look()).toMatchObject({ timers: [], strays: [], asleep: [] });
    await world.advance(200);
    expect((await look()).strays).toMatchObject([{ kind: "dispatcher", queue: "tiles" }]);
    await world.t.mutation(api.lib.watch, {});
    await world.advance(200);
    expect(await world.status(id)).toMatchObject({ status: "pending" });
  });

  test("is no stray while its segment is promoted slowly, and does not hide one behind it", async () => {
    const world = await newWorld();
    const at = Date.now();
    await schedule(world, [at]);
    await kill(world, (await alarms(world))[0]!);
    const stray = await insertStray(world, at + 500);
    await world.advance(6_000);
    const { strays } = await world.t.run((ctx) => lookForOverdue(ctx.db, ["tiles"], Date.now()));
    expect(strays.map((one) => one.at)).toEqual([at + 500]);
    await world.t.mutation(api.lib.watch, {});
    await world.advance(200);
    expect(await world.status(stray)).toMatchObject({ status: "pending" });
  });
});

// Rules out P17.
test("scheduled functions are read for real only where an alarm is overdue", async () => {
  const world = await newWorld();
  await world.enqueue();
  await world.worker("a").claim();
  await schedule(world, [Date.now() + 1_000]);
  const readBy = async () =>
    await world.t.run(async (ctx) => {
      const read: string[] = [];
      const get = async (table: "_scheduled_functions", id: Id<"_scheduled_functions">) => {
        read.push(table);
        return await ctx.db.system.get(table, id);
      };
      const db = { ...ctx.db, system: { ...ctx.db.system, get } };
      await watch({ ...ctx, db } as unknown as MutationCtx);
      return read;
    });
  expect(await readBy()).toEqual([]);
  await kill(world, (await alarms(world))[0]!);
  await world.advance(7_000);
  expect(await readBy()).toContain("_scheduled_functions");
});

// Rules out P17.
test("a healthy component costs a snapshot read, and nothing is written", async () => {
  const world = await newWorld();
  await world.enqueue();
  await world.worker("a").claim();
  await schedule(world, [Date.now() + 60 * 60_000]);
  const before = await world.all("timers");
  await world.t.mutation(api.lib.watch, {});
  expect(await world.all("timers")).toEqual(before);
});

test("a sweep that was canceled is replaced by a watch, also where nothing is leased any more: ended jobs are counted", async () => {
  const world = await newWorld();
  await world.enqueue();
  const worker = world.worker("w");
  const [job] = await worker.claim();
  const [sweep] = await timersOf(world, "janitor");
  await kill(world, sweep!);
  await worker.complete([succeeded(job!)]);
  await world.advance(120_000);
  expect(await countedMinutes(world)).toBe(0);
  await world.t.mutation(api.lib.watch, {});
  await world.advance(20_000);
  expect(await countedMinutes(world)).toBe(1);
  expect(await timersOf(world, "janitor")).toEqual([]);
});

test("a callback that a canceled function owes is delivered by a watch, where no other call comes", async () => {
  const world = await newToldWorld();
  const id = await world.enqueue();
  app.onComplete = () => {
    throw new Error("not yet");
  };
  await world.t.run(async (ctx) => cancel(underCanceled(ctx), id));
  app.onComplete = () => undefined;
  await world.advance(120_000);
  expect(await world.all("callbacks")).toMatchObject([{ job: id, state: "owed", tries: 0 }]);
  await world.t.mutation(api.lib.watch, {});
  await world.advance(10_000);
  expect(await world.all("callbacks")).toEqual([]);
  expect(await world.t.run((ctx: any) => ctx.db.query("told").collect())).toHaveLength(1);
});

const timersOf = (world: World, kind: "janitor") =>
  world.t.run((ctx) =>
    ctx.db
      .query("timers")
      .withIndex("kind", (q) => q.eq("kind", kind))
      .collect(),
  );

const countedMinutes = async (world: World) => (await world.minutes()).length;

import { describe, expect, test } from "vitest";
import { ORDER_PAUSED, pendingOrder, PROMOTE_MAX, ROUTES_MAX } from "../../shared/index.js";
import { getQueue } from "../rows/queues.js";
import { newWorld, type World } from "../setup.test.js";
import { alarms, pass, promoted, ringOf, schedule } from "./scheduled.test.js";
import { cancel } from "./transitions.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

async function statuses(world: World): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { status } of await world.all("jobs")) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

describe("a job that is due later", () => {
  // Shows SG-16, SG-47, B1.
  // Rules out P14.
  test("becomes claimable within 250 ms of its time and not before, from every width of segment", async () => {
    const world = await newWorld();
    for (const delay of [40, 1_234, 61_000, 3_700_000]) {
      const [id] = await schedule(world, [Date.now() + delay]);
      await pass(world, delay - 1);
      expect(await world.status(id!)).toMatchObject({ status: "scheduled" });
      await pass(world, 251);
      expect(await world.status(id!)).toMatchObject({ status: "pending" });
      expect(await alarms(world)).toEqual([]);
    }
  });

  test("in the first tenth of a day is as punctual as any: wide alarms ring before their segments", async () => {
    const world = await newWorld();
    const midnight = Math.ceil((Date.now() + 1) / (24 * HOUR)) * 24 * HOUR;
    const [id] = await schedule(world, [midnight]);
    await pass(world, 22 * HOUR);
    await pass(world, midnight - Date.now());
    expect(await world.status(id!)).toMatchObject({ status: "scheduled" });
    await pass(world, 250);
    expect(await world.status(id!)).toMatchObject({ status: "pending" });
  });

  // Shows WP-01.
  test("shares its segment's alarm: many jobs, one scheduled function", async () => {
    const world = await newWorld();
    const at = Date.now() + 3 * HOUR;
    await schedule(world, [at, at + 1, at + 1_000]);
    await schedule(world, [at + 2]);
    expect(await alarms(world)).toHaveLength(1);
  });

  test("goes where its priority says, or aside if it is paused", async () => {
    const world = await newWorld();
    const at = Date.now() + 1_000;
    const [urgent] = await schedule(world, [at], { priority: 7 });
    const [paused] = await schedule(world, [at], { paused: true });
    await pass(world, 1_200);
    const orders = [(await world.job(urgent!)).order, (await world.job(paused!)).order];
    expect(orders).toEqual([pendingOrder(false, 7), ORDER_PAUSED]);
  });

  test("that was canceled leaves an alarm that goes at its time, and does nothing", async () => {
    const world = await newWorld();
    const [id] = await schedule(world, [Date.now() + 1_000]);
    await world.step(async (ctx) => {
      const queue = await getQueue(ctx.db, "tiles");
      await cancel(ctx, (await ctx.db.get("jobs", id!))!, queue);
    });
    await pass(world, 1_200);
    expect(await world.status(id!)).toMatchObject({ status: "canceled" });
    expect(await alarms(world)).toEqual([]);
  });
});

describe("a ring", () => {
  // Rules out D15, P13.
  test("is bounded by its segment and not by the clock, which may be behind", async () => {
    const world = await newWorld();
    const at = Date.now() + 1_000;
    const [id] = await schedule(world, [at]);
    // As on a machine with a clock that is a second behind the one which schedules.
    await ringOf(world, (await alarms(world))[0]!);
    expect(await world.status(id!)).toMatchObject({ status: "pending" });
  });

  test("leaves alone jobs of the next segment, even if the clock has passed it", async () => {
    const world = await newWorld();
    const at = Date.now() + 1_000;
    const [first, second] = await schedule(world, [at + 99, at + 100]);
    const [alarm] = await alarms(world);
    await world.t.run(async (ctx) => {
      for (const { _id, scheduledId } of await ctx.db.query("timers").collect()) {
        if (scheduledId !== undefined) await ctx.scheduler.cancel(scheduledId);
        if (_id !== alarm!._id) await ctx.db.delete("timers", _id);
      }
    });
    await pass(world, 2_000);
    await ringOf(world, alarm!);
    expect(await world.status(first!)).toMatchObject({ status: "pending" });
    expect(await world.status(second!)).toMatchObject({ status: "scheduled" });
  });

  // Shows WP-03, F26.
  // Rules out D15.
  test("of an older generation does nothing", async () => {
    const world = await newWorld();
    const [id] = await schedule(world, [Date.now() + 1_000]);
    const [alarm] = await alarms(world);
    await world.t.run((ctx) => ctx.db.patch("timers", alarm!._id, { generation: 1 }));
    await ringOf(world, alarm!);
    expect(await world.status(id!)).toMatchObject({ status: "scheduled" });
  });

  test("that comes late promotes all the same, and a job that comes late for its segment has an alarm", async () => {
    const world = await newWorld();
    const [id] = await schedule(world, [Date.now() - 3_000]);
    await pass(world, 0);
    expect(await world.status(id!)).toMatchObject({ status: "pending" });
    expect(await alarms(world)).toEqual([]);
  });

  test("takes a large segment in batches, in the order in which jobs are due, and loses none", async () => {
    const world = await newWorld();
    const at = Date.now() + 1_000;
    const count = 2 * PROMOTE_MAX + 40;
    await schedule(
      world,
      Array.from({ length: count }, (_, i) => at + (i % 3)),
    );
    const [alarm] = await alarms(world);
    await ringOf(world, alarm!);
    const first = (await world.all("jobs")).filter(promoted).map((job) => job.payload);
    expect(first.filter((payload) => "inline" in payload && payload.inline === at)).toHaveLength(
      Math.ceil(count / 3),
    );
    expect(first).toHaveLength(PROMOTE_MAX);
    // It comes in below the place that the first batch has reached.
    await schedule(world, [at]);
    await pass(world, 1_500);
    expect(await statuses(world)).toEqual({ pending: count + 2 });
    expect(await alarms(world)).toEqual([]);
  });
});

describe("a crowd that is due at once", () => {
  // Rules out D28.
  test("is promoted as fast as it goes while claims keep up", async () => {
    const world = await newWorld();
    await schedule(world, Array(2 * PROMOTE_MAX).fill(Date.now() + 1_000));
    await pass(world, 1_100);
    expect(await statuses(world)).toEqual({ pending: 2 * PROMOTE_MAX + 1 });
  });

  // Rules out D28.
  test("is held back to a batch a second while a batch of jobs has waited for seconds", async () => {
    const world = await newWorld();
    await world.enqueueBatch(Array(PROMOTE_MAX).fill(0));
    await pass(world, 2_100);
    await schedule(world, Array(3 * PROMOTE_MAX).fill(Date.now() + 100));
    await pass(world, 250);
    expect((await statuses(world))["scheduled"]).toBe(2 * PROMOTE_MAX);
    await pass(world, 1_000);
    expect((await statuses(world))["scheduled"]).toBe(PROMOTE_MAX);
    // Jobs due in other segments meanwhile are as punctual as ever.
    const [id] = await schedule(world, [Date.now() + 100]);
    await pass(world, 250);
    expect(await world.status(id!)).toMatchObject({ status: "pending" });
  });
});

describe("a job that cannot be made claimable", () => {
  test("is put off, with an event, and the remaining ones are promoted", async () => {
    const world = await newWorld();
    const at = Date.now() + 1_000;
    const [bad] = await schedule(world, [at], { labels: ["one", "too", "many"] });
    const [good] = await schedule(world, [at]);
    const waiting: string[] = [];
    for (let number = 1; number < ROUTES_MAX; number += 1) {
      waiting.push(await world.enqueue(number, { labels: [`l${number}`] }));
    }
    await pass(world, 1_200);
    expect(await world.status(good!)).toMatchObject({ status: "pending" });
    expect(await world.status(bad!)).toMatchObject({ status: "scheduled" });
    const [event] = await world.all("events");
    expect(event).toMatchObject({ kind: "jobsPostponed", details: { jobs: [bad] } });
    expect(event!.message).toContain("different sets of labels");
    await world.cancel(waiting[0]!);
    await pass(world, 10 * MINUTE);
    expect(await world.status(bad!)).toMatchObject({ status: "pending" });
    expect(await alarms(world)).toEqual([]);
    await world.t.run((ctx) => ctx.db.delete("jobs", bad!));
  });

  // Rules out D14.
  test("in a way that no code can catch is found by halving, and put off", async () => {
    const world = await newWorld();
    const [id] = await schedule(world, [Date.now() + 1_000]);
    const [alarm] = await alarms(world);
    // As after nine rings that failed, each with half as many jobs.
    await world.t.run((ctx) => ctx.db.patch("timers", alarm!._id, { failures: 9 }));
    await pass(world, 1_200);
    expect(await world.status(id!)).toMatchObject({ status: "scheduled" });
    expect(await world.all("events")).toHaveLength(1);
    await pass(world, 10 * MINUTE);
    expect(await world.status(id!)).toMatchObject({ status: "pending" });
  });
});

describe("a wide segment's alarm", () => {
  // Shows B2.
  test("arms one alarm for each narrower segment that has a job, and rewrites no job", async () => {
    const world = await newWorld();
    const hour = Math.ceil(Date.now() / HOUR) * HOUR + 2 * HOUR;
    const minutes = [3, 3, 17, 44].map((minute, i) => hour + minute * MINUTE + i);
    const ids = await schedule(world, minutes);
    const before = await Promise.all(ids.map((id) => world.job(id)));
    await pass(world, hour - MINUTE - Date.now() + 50);
    const starts = (await alarms(world)).map(({ start, width }) => [
      (start! - hour) / MINUTE,
      width,
    ]);
    expect(starts).toEqual([3, 17, 44].map((minute) => [minute, MINUTE]));
    expect(await Promise.all(ids.map((id) => world.job(id)))).toEqual(before);
    await pass(world, HOUR + 2 * MINUTE);
    expect(await statuses(world)).toEqual({ pending: 5 });
    expect(await alarms(world)).toEqual([]);
  });

  test("that hands over learns of a job that comes in behind its place", async () => {
    const world = await newWorld();
    const at = Math.ceil(Date.now() / HOUR) * HOUR + 2 * HOUR;
    await schedule(world, [at]);
    const [alarm] = await alarms(world);
    await world.t.run((ctx) =>
      ctx.db.patch("timers", alarm!._id, { position: { from: at + 30 * MINUTE } }),
    );
    // By a clock that is behind: the alarm's time has not come yet.
    const [id] = await schedule(world, [at + MINUTE]);
    expect((await alarms(world))[0]).toMatchObject({ generation: 1, position: { from: at } });
    await pass(world, at + MINUTE + 250 - Date.now());
    expect(await world.status(id!)).toMatchObject({ status: "pending" });
    expect(await statuses(world)).toEqual({ pending: 3 });
  });

  test("has more narrow segments than one ring may arm, and arms them all", async () => {
    const world = await newWorld();
    const minute = Math.ceil(Date.now() / MINUTE) * MINUTE + 5 * MINUTE;
    await schedule(
      world,
      Array.from({ length: 80 }, (_, i) => minute + 700 * i),
    );
    expect(await alarms(world)).toHaveLength(1);
    await pass(world, minute - 4_900 - Date.now());
    expect(await alarms(world)).toHaveLength(80);
    await world.advance(MINUTE + 5_200);
    expect(await statuses(world)).toEqual({ pending: 81 });
  });
});

test("a batch of jobs at hundreds of near instants arms few alarms itself, and all are punctual", async () => {
  const world = await newWorld();
  const from = Date.now() + 1_000;
  const dueAts = Array.from({ length: 80 }, (_, i) => from + 295 * i);
  await schedule(world, dueAts);
  expect((await alarms(world)).length).toBeLessThan(64);
  for (const until of [5_000, 15_000, 25_000]) {
    await world.advance(from + until - Date.now());
    const jobs = await world.all("jobs");
    const late = jobs.filter(
      ({ status, order }) => status === "scheduled" && order < Date.now() - 250,
    );
    expect(late).toEqual([]);
  }
  expect(await statuses(world)).toEqual({ pending: 81 });
});

/** Several alarms of one segment, and the callers that arm them. */
import { expect, test, vi } from "vitest";
import { ALARM_AFTER_MS, ALARM_SLOTS, ARM_MAX, REBUCKET_MAX } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import type { Doc } from "../_generated/dataModel.js";
import { newWorld, type World } from "../setup.test.js";
import { alarms, pass, ringOf, schedule } from "../edges/scheduled.test.js";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** A second alarm of the same segment, as a concurrent caller has armed it. */
async function twin(world: World, { _id, _creationTime, ...alarm }: Doc<"timers">) {
  await world.t.run((ctx) => ctx.db.insert("timers", { ...alarm, slot: ALARM_SLOTS - 1 }));
  return (await alarms(world)).find(({ slot }) => slot === ALARM_SLOTS - 1)!;
}

test("of two alarms of a segment the later leaves it to the first", async () => {
  const world = await newWorld();
  const [id] = await schedule(world, [Date.now() + SECOND]);
  const [first] = await alarms(world);
  await ringOf(world, await twin(world, first!));
  expect(await world.status(id!)).toMatchObject({ status: "scheduled" });
  expect(await alarms(world)).toEqual([first]);
  await pass(world, 1_100);
  expect(await world.status(id!)).toMatchObject({ status: "pending" });
  expect(await alarms(world)).toEqual([]);
});

test("an alarm is not left to one that is overdue, which may be dead", async () => {
  const world = await newWorld();
  const [id] = await schedule(world, [Date.now() + SECOND]);
  const [first] = await alarms(world);
  const second = await twin(world, first!);
  await world.t.run((ctx) => ctx.db.patch("timers", first!._id, { dueAt: Date.now() - MINUTE }));
  await ringOf(world, second);
  expect(await world.status(id!)).toMatchObject({ status: "pending" });
  await pass(world, 1_100);
});

test("a wide segment is not left to an alarm that hands over: it may have passed jobs that relied on the other", async () => {
  const world = await newWorld();
  const at = Math.ceil(Date.now() / HOUR) * HOUR + 2 * HOUR;
  const [id] = await schedule(world, [at + MINUTE]);
  const [first] = await alarms(world);
  await twin(world, first!);
  await world.t.run((ctx) =>
    ctx.db.patch("timers", first!._id, { position: { from: at + 30 * MINUTE } }),
  );
  const second = (await alarms(world)).find(({ slot }) => slot !== undefined)!;
  await ringOf(world, second);
  expect(await alarms(world)).toHaveLength(2);
  await pass(world, at + MINUTE + 250 - Date.now());
  expect(await world.status(id!)).toMatchObject({ status: "pending" });
});

test("a caller that needs a segment relies on the alarm that has not begun to hand over, and writes none", async () => {
  const world = await newWorld();
  const at = Math.ceil(Date.now() / HOUR) * HOUR + 2 * HOUR;
  await schedule(world, [at]);
  const [first] = await alarms(world);
  await twin(world, first!);
  await world.t.run((ctx) => ctx.db.patch("timers", first!._id, { position: { from: at } }));
  const before = await alarms(world);
  await schedule(world, [at + 1]);
  expect(await alarms(world)).toEqual(before);
});

test("a loop of single calls in one mutation arms few alarms, and each job is punctual", async () => {
  const world = await newWorld();
  await world.enqueue();
  const from = Date.now() + 5_000;
  const dueAts = Array.from({ length: ARM_MAX + 36 }, (_, i) => from + 590 * i);
  await world.t.mutation(async (ctx) => {
    for (const runAt of dueAts) {
      const jobs = [{ payload: 0, options: { runAt } }];
      await ctx.runMutation(api.lib.enqueue, { queue: world.queue, jobs });
    }
  });
  const planned = await world.t.run((ctx) => ctx.db.system.query("_scheduled_functions").collect());
  expect(planned.length).toBeLessThan(ARM_MAX + 4);
  for (const until of [20_000, 50_000]) {
    await pass(world, from + until - Date.now());
    const jobs = await world.all("jobs");
    const late = (job: Doc<"jobs">) => job.status === "scheduled" && job.order < Date.now() - 250;
    expect(jobs.filter(late)).toEqual([]);
  }
});

test("one snapshot read finds a segment once, however many jobs it has, and comes to the segments behind it", async () => {
  const world = await newWorld();
  const hour = Math.ceil(Date.now() / HOUR) * HOUR + 2 * HOUR;
  const crowd = Array.from({ length: REBUCKET_MAX + 1 }, (_, i) => hour + 3 * MINUTE + i);
  await schedule(world, [...crowd, hour + 44 * MINUTE]);
  // It marks that it hands over, then reads.
  await ringOf(world, (await alarms(world))[0]!);
  await ringOf(world, (await alarms(world))[0]!);
  const starts = (await alarms(world)).map(({ start }) => (start! - hour) / MINUTE);
  expect(starts).toEqual([3, 44]);
});

test("the postponed jobs of one call share the alarms of their segments; beside one that is about to ring it arms another behind it", async () => {
  const world = await newWorld();
  const worker = world.worker("worker");
  await world.enqueueBatch([1, 2, 3, 4]);
  const jobs = await worker.claim(4);
  vi.setSystemTime(Math.ceil(Date.now() / SECOND) * SECOND + 50);
  const [soon] = await schedule(world, [Date.now() + 120]);
  const near = await alarms(world);
  const waits = [110, 120, 2_050, 2_060];
  await worker.complete(
    jobs.map(({ id, attempt }, i) => ({
      ...{ id, attempt },
      outcome: { kind: "snoozed" as const, runAfter: waits[i]! },
    })),
  );
  const [first, behind, far, ...more] = await alarms(world);
  expect(first).toEqual(near[0]);
  expect(behind).toMatchObject({ start: first!.start, dueAt: first!.dueAt + ALARM_AFTER_MS });
  expect(behind!.slot).toBeGreaterThanOrEqual(ALARM_SLOTS);
  expect(far!.start).toBe(first!.start! + 2_000);
  expect(more).toEqual([]);
  await pass(world, 300);
  const statuses = await Promise.all(jobs.map(async ({ id }) => (await world.status(id))!.status));
  expect(statuses).toEqual(["pending", "pending", "scheduled", "scheduled"]);
  expect(await world.status(soon!)).toMatchObject({ status: "pending" });
  expect(await alarms(world)).toEqual([far]);
});

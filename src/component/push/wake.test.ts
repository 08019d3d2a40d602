/** A wake that finds no reason to begin a lane, one that is late, and one that schedules another. */
import { expect, test, vi } from "vitest";
import { commitTimeOf } from "../../shared/index.js";
import { api, internal } from "../_generated/api.js";
import type { World } from "../setup.test.js";
import { CROWD_MS, LATE_MS } from "./surplus.js";
import {
  gateOf,
  jobsOf,
  lastCommit,
  MUTATION,
  pushedWorld,
  QUEUE,
  standingOf,
  wakeBy,
  wakesAmong,
} from "./wakeSetup.test.js";

const laterBy = (ms: number) => vi.setSystemTime(Date.now() + ms);

// --- Nothing to begin ----------------------------------------------------------------------------

test("a wake of a queue that no code has declared does nothing", async () => {
  const world = await pushedWorld();
  expect(await wakeBy(world, { queue: "unknown", againAfterMs: 1_000 })).toEqual([]);
  expect(await world.all("lanes")).toEqual([]);
});

test("a wake of a queue that is paused begins no lane and schedules no other wake: the resume does", async () => {
  const world = await pushedWorld();
  await jobsOf(world, 1);
  await world.t.mutation(api.operate.pauseQueue, { queue: QUEUE });
  expect(await wakeBy(world, { againAfterMs: 1_000 })).toEqual([]);
  expect(await standingOf(world)).toEqual({ running: [], gate: null, caps: [] });
});

test("a wake of a queue that Convex no longer runs begins no lane and schedules no other wake", async () => {
  const world = await pushedWorld();
  await jobsOf(world, 1);
  await world.t.run(async ({ db }) => {
    const { _id, config } = (await db.query("queues").first())!;
    await db.patch("queues", _id, { config: { ...config, push: false } });
  });
  expect(await wakeBy(world, { againAfterMs: 1_000 })).toEqual([]);
  expect(await standingOf(world)).toEqual({ running: [], gate: null, caps: [] });
});

test("under a guarded gate a wake for a job, or for capacity, leaves the jobs to the lane that polls", async () => {
  const world = await pushedWorld();
  const [job] = await jobsOf(world, 1);
  await gateOf(world, "guarded");
  for (const args of [{ job: job! }, {}, { againAfterMs: 1_000 }])
    expect(await wakeBy(world, args)).toEqual([]);
  expect(await standingOf(world)).toEqual({ running: [], gate: "guarded", caps: [] });
});

test("under a full gate a wake for a job leaves it to the lane that frees capacity, and a wake for that capacity takes it", async () => {
  const world = await pushedWorld();
  const [job] = await jobsOf(world, 1);
  await gateOf(world, "full");
  expect(await wakeBy(world, { job: job!, againAfterMs: 1_000 })).toEqual([]);
  expect(await standingOf(world)).toEqual({ running: [], gate: "full", caps: [] });
  await wakeBy(world);
  // The new lane polls from now on, with all the room of the queue.
  expect(await standingOf(world)).toEqual({ running: [0], gate: "guarded", caps: [5] });
});

test("a wake for capacity that finds no job opens the full gate, and schedules one that sees the jobs which came before", async () => {
  const world = await pushedWorld();
  await gateOf(world, "full");
  expect(wakesAmong(await wakeBy(world))).toEqual([{ afterMs: 0 }]);
  expect(await standingOf(world)).toMatchObject({ running: [], gate: "quiet" });
});

// --- Late wakes ------------------------------------------------------------------------------

/** Six jobs that came one by one under a guarded gate: the fate of the wakes after that of the first. */
async function callOff(world: World, args: { dueAt?: number }): Promise<number> {
  const [job] = await world.all("jobs");
  await wakeBy(world, { job: job!._id, ...args });
  const rows = await world.t.run((ctx) => ctx.db.system.query("_scheduled_functions").collect());
  return rows.filter(({ state }) => state.kind === "canceled").length;
}

test("a wake counts as late, and calls off the later ones, from exactly that delay on", async () => {
  const world = await pushedWorld();
  await jobsOf(world, 6);
  await gateOf(world, "guarded");
  const dueAt = Date.now();
  laterBy(LATE_MS - 1);
  expect(await callOff(world, { dueAt })).toBe(0);
  laterBy(1);
  expect(await callOff(world, { dueAt })).toBe(4);
});

test("a wake that was due later than its job came is late by the time that it was due", async () => {
  const world = await pushedWorld();
  await jobsOf(world, 6);
  await gateOf(world, "guarded");
  laterBy(10 * LATE_MS);
  expect(await callOff(world, { dueAt: Date.now() - LATE_MS + 1 })).toBe(0);
  expect(await callOff(world, { dueAt: Date.now() - LATE_MS })).toBe(4);
});

test("a late wake of a job that was left to workers outside calls off no wake of a job that came within that time", async () => {
  const world = await pushedWorld({ fallbackAfterMs: 60_000 });
  const worker = world.worker("here");
  await worker.claim(1, { groups: ["theirs"] });
  const left = { group: "theirs" };
  const dueAt = Date.now() + 60_000;
  for (let n = 0; n < 6; n += 1) await world.enqueue(n, left);
  vi.setSystemTime(dueAt + LATE_MS);
  // No worker is there for these, so that their wakes are due at once.
  for (let n = 0; n < 6; n += 1) await world.enqueue(n, { group: "others" });
  await gateOf(world, "guarded");
  expect(await callOff(world, { dueAt })).toBe(4);
});

test("a wake that was scheduled without a time is never late", async () => {
  const world = await pushedWorld();
  await jobsOf(world, 6);
  await gateOf(world, "guarded");
  laterBy(10 * LATE_MS);
  expect(await callOff(world, {})).toBe(0);
});

test("a late wake whose job is not waiting any more, or is gone, calls off no other", async () => {
  const world = await pushedWorld();
  const [first] = await jobsOf(world, 6);
  await gateOf(world, "guarded");
  await world.cancel(first!);
  const dueAt = Date.now();
  laterBy(LATE_MS);
  expect(await callOff(world, { dueAt })).toBe(0);
  await world.t.run((ctx) => ctx.db.delete("jobs", first!));
  await wakeBy(world, { job: first!, dueAt });
  const rows = await world.t.run((ctx) => ctx.db.system.query("_scheduled_functions").collect());
  expect(rows.filter(({ state }) => state.kind === "canceled")).toEqual([]);
});

test("a wake that is so late as one of a crowd takes the jobs that came before its own too, and one that is sooner takes its own", async () => {
  for (const [lateMs, running] of [
    [CROWD_MS - 1, [2]],
    [CROWD_MS, [0, 1, 2]],
  ] as const) {
    const world = await pushedWorld();
    const ids = await jobsOf(world, 4);
    const dueAt = Date.now();
    laterBy(lateMs);
    await wakeBy(world, { job: ids[2]!, isAlone: true, dueAt });
    // The fourth has a wake of its own.
    expect((await standingOf(world)).running).toEqual(running);
  }
});

test("a caller that took long before its commit makes its wake none of a crowd", async () => {
  const world = await pushedWorld();
  const ids = await jobsOf(world, 2);
  await wakeBy(world, { job: ids[1]!, isAlone: true, dueAt: Date.now() - 2 * CROWD_MS });
  expect((await standingOf(world)).running).toEqual([1]);
});

// --- Wakes that schedule another --------------------------------------------------------------------

test("a wake that is to come again does so after that time, for the jobs that it sees now", async () => {
  const world = await pushedWorld({ fallbackAfterMs: 60_000 });
  await world.worker("here").claim();
  await jobsOf(world, 2);
  const upTo = await lastCommit(world);
  expect(await wakeBy(world, { againAfterMs: 60_000 })).toEqual([
    { name: "push/wake:wake", args: { queue: QUEUE, upTo }, afterMs: 60_000 },
  ]);
  // They are left to workers outside until then.
  expect((await standingOf(world)).running).toEqual([]);
  laterBy(60_000);
  await wakeBy(world, { upTo });
  expect((await standingOf(world)).running).toEqual([0, 1]);
});

test("a wake for jobs up to a commit leaves the ones that came later to workers outside", async () => {
  const world = await pushedWorld({ fallbackAfterMs: 60_000 });
  await world.worker("here").claim();
  await jobsOf(world, 2);
  const upTo = await lastCommit(world);
  await jobsOf(world, 1);
  // None of them comes again.
  expect(wakesAmong(await wakeBy(world, { upTo }))).toEqual([]);
  expect((await standingOf(world)).running).toEqual([0, 1]);
});

test("jobs are left to workers outside for exactly their time where a wake comes for capacity", async () => {
  const world = await pushedWorld({ fallbackAfterMs: 60_000 });
  await world.worker("here").claim();
  laterBy(1_000);
  await jobsOf(world, 1);
  const cameAt = Date.now();
  laterBy(59_999);
  await wakeBy(world);
  expect((await standingOf(world)).running).toEqual([]);
  expect(commitTimeOf(cameAt)).toBe((await world.all("jobs"))[0]!.seq);
  laterBy(1);
  await wakeBy(world);
  expect((await standingOf(world)).running).toEqual([0]);
});

/** Two jobs are left to workers outside, and the one that the wake was for is gone. */
async function goneAmong(fallbackAfterMs: number, others: number, how: "canceled" | "deleted") {
  const world = await pushedWorld({ fallbackAfterMs });
  await world.worker("here").claim();
  const [job] = await jobsOf(world, 1 + others);
  await world.cancel(job!);
  if (how === "deleted") await world.t.run((ctx) => ctx.db.delete("jobs", job!));
  return { world, job: job! };
}

test.each(["canceled", "deleted"] as const)(
  "a wake whose job is %s has another come once the jobs that wait have been left to workers for their time",
  async (how) => {
    const { world, job } = await goneAmong(60_000, 2, how);
    const upTo = await lastCommit(world);
    expect(wakesAmong(await wakeBy(world, { job }))).toEqual([{ upTo, afterMs: 60_000 }]);
    expect((await standingOf(world)).running).toEqual([]);
  },
);

test("a wake whose job is gone has no other come where no job waits", async () => {
  const { world, job } = await goneAmong(60_000, 0, "canceled");
  expect(await wakeBy(world, { job })).toEqual([]);
  expect((await standingOf(world)).gate).toBeNull();
});

test("a wake whose job is gone takes the jobs that wait where none is left to workers outside, and has no other come", async () => {
  const { world, job } = await goneAmong(0, 2, "canceled");
  expect(wakesAmong(await wakeBy(world, { job }))).toEqual([]);
  expect((await standingOf(world)).running).toEqual([1, 2]);
});

test("a wake whose job is there has no other come, and takes the ones that came before: they have waited as long", async () => {
  const world = await pushedWorld({ fallbackAfterMs: 60_000 });
  await world.worker("here").claim();
  const ids = await jobsOf(world, 3);
  expect(wakesAmong(await wakeBy(world, { job: ids[1]! }))).toEqual([]);
  expect((await standingOf(world)).running).toEqual([0, 1]);
});

test("a wake of a job for which no worker is there takes that one, and leaves earlier ones to workers for their time", async () => {
  const world = await pushedWorld({ fallbackAfterMs: 60_000 });
  await world.worker("here").claim();
  const ids = await jobsOf(world, 2);
  await wakeBy(world, { job: ids[1]!, isApart: true });
  expect((await standingOf(world)).running).toEqual([1]);
});

test("a wake that has taken as many as it may schedules another for the same jobs", async () => {
  const world = await pushedWorld({ maxParallelism: 2 });
  await jobsOf(world, 3);
  const upTo = await lastCommit(world);
  expect(wakesAmong(await wakeBy(world))).toEqual([{ upTo, afterMs: 0 }]);
  expect(await standingOf(world)).toEqual({ running: [0, 1], gate: null, caps: [2] });
});

// --- The oldest job that waits ------------------------------------------------------------------

test("a snapshot says when the job came that has waited longest of the ones that may run inside, and how new it is", async () => {
  const world = await pushedWorld({ handler: MUTATION });
  const oldest = async (queue: string) =>
    await world.t.query(internal.push.wake.oldestWaiting, { queue });
  expect(await oldest("unknown")).toEqual({ at: null, snapshot: await lastCommit(world) });
  expect(await oldest(QUEUE)).toEqual({ at: null, snapshot: await lastCommit(world) });
  await world.enqueue(0, { labels: ["gpu"] });
  laterBy(50);
  const cameAt = Date.now();
  await jobsOf(world, 1);
  laterBy(50);
  await jobsOf(world, 1);
  expect(await oldest(QUEUE)).toEqual({ at: cameAt, snapshot: await lastCommit(world) });
});

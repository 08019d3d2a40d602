/** A wake that takes all that it may: as many jobs as the queue's other lanes leave room for, and the room of lanes that sleep. */
import { afterEach, expect, test, vi } from "vitest";
import {
  HANDLERS_PER_STEP,
  LANE_LOOK_MS,
  LANE_WIDTH,
  type QueueConfig,
} from "../../shared/index.js";
import type { MutationCtx } from "../_generated/server.js";
import type { World } from "../setup.test.js";
import { LANES_ASKED } from "./lanes.js";
import {
  ACTION,
  gateOf,
  jobsOf,
  lanesOf,
  lastCommit,
  MUTATION,
  namesOf,
  pushedWorld,
  standingOf,
  wakeAfter,
  wakeBy,
  wakesAmong,
} from "./wakeSetup.test.js";

afterEach(() => vi.restoreAllMocks());

const PROCESS = "push/laneAction:laneProcess";

/** The first lane goes to sleep. */
const sleeps = async ({ db }: MutationCtx) => {
  const { session } = (await db.query("lanes").first())!;
  await db.patch("sessions", session, { state: "idle" });
};

/** So many timers of the janitor there are. */
const timersOf = async (world: World) =>
  (await world.all("timers")).filter(({ kind }) => kind === "janitor").length;

// --- The room of a lane --------------------------------------------------------------------------

test("a wake takes as many jobs as the other lanes leave room for", async () => {
  const world = await pushedWorld();
  await jobsOf(world, 4);
  await lanesOf(world, "awake", 2, 1);
  const upTo = await lastCommit(world);
  expect(wakesAmong(await wakeBy(world))).toEqual([{ upTo, afterMs: 0 }]);
  expect(await standingOf(world)).toEqual({ running: [0, 1], gate: null, caps: [2, 1, 2] });
});

test("a lane with room to spare polls for all beside awake lanes, and keeps that room", async () => {
  const world = await pushedWorld();
  await jobsOf(world, 1);
  await lanesOf(world, "awake", 2);
  const planned = await wakeBy(world);
  const { args } = planned.find(({ name }) => name === PROCESS)!;
  expect(args.lanes[0].lookAfterMs).toBe(LANE_LOOK_MS);
  expect(await standingOf(world)).toEqual({ running: [0], gate: "guarded", caps: [2, 3] });
});

test("a lane with room to spare polls for all where the gate is not quiet, and gives that room away where it is and no lane is awake", async () => {
  for (const [state, gate, caps] of [
    ["leaving", "guarded", [5]],
    ["quiet", "quiet", [1]],
  ] as const) {
    const world = await pushedWorld();
    await jobsOf(world, 1);
    await gateOf(world, state);
    await wakeBy(world);
    expect(await standingOf(world)).toEqual({ running: [0], gate, caps });
  }
});

test("lanes that sleep count as room, and none of them as awake: one of them begins, with as much of the others' room as it needs", async () => {
  for (const [jobs, caps] of [
    [1, [1, 1, 1]],
    [2, [2, 0, 1]],
    [3, [3, 0, 0]],
  ] as const) {
    const world = await pushedWorld({ maxParallelism: 3 });
    await jobsOf(world, jobs);
    await lanesOf(world, "asleep", 1, 1, 1);
    await wakeBy(world);
    const { running, gate, caps: after } = await standingOf(world);
    expect([running.length, gate, after]).toEqual([jobs, null, caps]);
  }
});

test("a lane that sleeps without room adds none, and begins with room that is free", async () => {
  const world = await pushedWorld({ maxParallelism: 3 });
  await jobsOf(world, 3);
  await lanesOf(world, "asleep", 0);
  await lanesOf(world, "awake", 1);
  await wakeBy(world);
  expect(await standingOf(world)).toEqual({ running: [0, 1], gate: null, caps: [2, 1] });
});

test("of lanes that sleep as many give their room away as are needed beside the room that is free", async () => {
  const world = await pushedWorld({ maxParallelism: 5 });
  await jobsOf(world, 4);
  await lanesOf(world, "asleep", 1, 1, 1);
  await lanesOf(world, "awake", 1);
  await wakeBy(world);
  // One is free, and the lane that begins had one.
  expect(await standingOf(world)).toEqual({
    running: [0, 1, 2, 3],
    gate: null,
    caps: [4, 0, 0, 1],
  });
});

test("a lane that has woken since the snapshot gives no room away", async () => {
  const world = await pushedWorld({ maxParallelism: 3 });
  await jobsOf(world, 3);
  await lanesOf(world, "asleep", 1, 1, 1);
  await wakeAfter(world, async ({ db }) => {
    const { session } = (await db.query("lanes").collect())[1]!;
    await db.patch("sessions", session, { state: "active" });
  });
  expect(await standingOf(world)).toEqual({ running: [0, 1], gate: null, caps: [2, 1, 0] });
});

test("a lane takes as many jobs as a lane may have at most, and leaves the rest to others", async () => {
  const world = await pushedWorld({ maxParallelism: 100, handler: MUTATION });
  await world.enqueueBatch(Array.from({ length: LANE_WIDTH }, (_, n) => n));
  const upTo = await lastCommit(world);
  expect(wakesAmong(await wakeBy(world))).toEqual([{ upTo, afterMs: 0 }]);
  expect((await standingOf(world)).caps).toEqual([HANDLERS_PER_STEP]);
});

// --- No room -----------------------------------------------------------------------------------

test("a job that comes while the queue runs as many as it may waits for the lane that frees capacity", async () => {
  const world = await pushedWorld();
  const [job] = await jobsOf(world, 1);
  await lanesOf(world, "awake", 3, 2);
  expect(namesOf(await wakeBy(world, { job: job!, isAlone: true }))).toEqual([
    "tend/janitor:sweep",
  ]);
  expect(await standingOf(world)).toEqual({ running: [], gate: "full", caps: [3, 2] });
  // The lanes are looked after from now on.
  expect(await timersOf(world)).toBe(1);
});

test("a wake for capacity that finds none marks the queue as full only where a job waits", async () => {
  for (const [count, gate] of [
    [0, null],
    [1, "full"],
  ] as const) {
    const world = await pushedWorld();
    await jobsOf(world, count);
    await lanesOf(world, "awake", 5);
    await wakeBy(world);
    expect(await standingOf(world)).toEqual({ running: [], gate, caps: [5] });
    expect(await timersOf(world)).toBe(count);
  }
});

test("a wake for capacity that finds none marks the queue as full where its snapshot is too old to show the jobs", async () => {
  const world = await pushedWorld();
  await lanesOf(world, "awake", 5);
  const seen = await lastCommit(world);
  await wakeBy(world, { upTo: seen });
  expect((await standingOf(world)).gate).toBeNull();
  await wakeBy(world, { upTo: (await lastCommit(world)) + 1n });
  expect((await standingOf(world)).gate).toBe("full");
});

test("jobs that are left to workers outside do not make a queue full until their time is over", async () => {
  const world = await pushedWorld({ fallbackAfterMs: 60_000 });
  await world.worker("here").claim();
  vi.setSystemTime(Date.now() + 1_000);
  await jobsOf(world, 1);
  await lanesOf(world, "awake", 5);
  vi.setSystemTime(Date.now() + 59_999);
  await wakeBy(world);
  expect((await standingOf(world)).gate).toBeNull();
  vi.setSystemTime(Date.now() + 1);
  await wakeBy(world);
  expect((await standingOf(world)).gate).toBe("full");
});

test("a queue that is full stays so, without another timer", async () => {
  const world = await pushedWorld();
  await jobsOf(world, 1);
  await lanesOf(world, "awake", 5);
  await gateOf(world, "full");
  const [before] = await world.all("gates");
  expect(await wakeBy(world)).toEqual([]);
  expect(await world.all("gates")).toEqual([before]);
  expect(await timersOf(world)).toBe(0);
});

test("beside a lane that is about to stop polling a wake without room marks nothing: that lane schedules another", async () => {
  const world = await pushedWorld();
  const [job] = await jobsOf(world, 1);
  await lanesOf(world, "awake", 5);
  await gateOf(world, "leaving");
  for (const args of [{}, { job: job! }]) {
    expect(await wakeBy(world, args)).toEqual([]);
    expect(await standingOf(world)).toEqual({ running: [], gate: "leaving", caps: [5] });
  }
});

test("a queue that may run no job inside Convex begins none, and is not full: no lane of it will free any capacity", async () => {
  const world = await pushedWorld({ maxParallelism: 0 });
  const [job] = await jobsOf(world, 1);
  for (const args of [{}, { job: job! }, { job: job!, isAlone: true }]) {
    expect(await wakeBy(world, args)).toEqual([]);
    expect(await standingOf(world)).toEqual({ running: [], gate: null, caps: [] });
  }
});

// --- Lanes that have gone to sleep since ------------------------------------------------------------

test("where a snapshot shows no room, a lane that has gone to sleep since begins", async () => {
  for (const [running, isAlone] of [
    [0, false],
    [1, true],
  ] as const) {
    const world = await pushedWorld({ maxParallelism: 3 });
    const ids = await jobsOf(world, 2);
    await lanesOf(world, "awake", 1, 2);
    await wakeAfter(world, sleeps, isAlone ? { job: ids[1]!, isAlone } : {});
    expect(await standingOf(world)).toMatchObject({ running: [running], caps: [1, 2] });
    expect((await world.all("sessions"))[0]!.leases).toHaveLength(1);
  }
});

test("a lane that has gone to sleep since is not asked where the snapshot shows room", async () => {
  const world = await pushedWorld({ maxParallelism: 3 });
  await jobsOf(world, 3);
  await lanesOf(world, "awake", 1, 1);
  await wakeAfter(world, sleeps);
  expect(await standingOf(world)).toEqual({ running: [0], gate: null, caps: [1, 1, 1] });
});

test("of more lanes than a snapshot asks about the others are asked for real before a queue is full", async () => {
  const world = await pushedWorld({ maxParallelism: 2 * LANES_ASKED });
  const [job] = await jobsOf(world, 1);
  // The snapshot asks about the first of them.
  vi.spyOn(Math, "random").mockReturnValueOnce(0).mockReturnValue(0.5);
  await lanesOf(world, "awake", ...Array<number>(LANES_ASKED).fill(1));
  await lanesOf(world, "asleep", ...Array<number>(LANES_ASKED).fill(1));
  await wakeBy(world, { job: job! });
  expect((await standingOf(world)).running).toEqual([0]);
});

// --- `maxParallelism` was lowered ------------------------------------------------------------------

test("where `maxParallelism` was lowered below the room of awake lanes, lanes that sleep lose theirs, and another wake comes", async () => {
  const world = await pushedWorld({ maxParallelism: 3 });
  await jobsOf(world, 2);
  await lanesOf(world, "awake", 3);
  await lanesOf(world, "asleep", 1, 1);
  expect(wakesAmong(await wakeBy(world))).toEqual([{ afterMs: 0 }]);
  expect(await standingOf(world)).toEqual({ running: [], gate: "full", caps: [3, 0, 0] });
});

test("where no lane sleeps that could lose its room, no other wake comes: the lanes drain", async () => {
  const world = await pushedWorld({ maxParallelism: 3 });
  await jobsOf(world, 2);
  await lanesOf(world, "awake", 3, 2);
  expect(wakesAmong(await wakeBy(world))).toEqual([]);
  expect(await standingOf(world)).toEqual({ running: [], gate: "full", caps: [3, 2] });
});

test("lanes that sleep lose their room by the job that came by itself too, and by a lane that has gone to sleep since", async () => {
  const world = await pushedWorld({ maxParallelism: 3 });
  const ids = await jobsOf(world, 1);
  await lanesOf(world, "awake", 1, 4);
  expect(wakesAmong(await wakeAfter(world, sleeps, { job: ids[0]! }))).toEqual([{ afterMs: 0 }]);
  expect(await standingOf(world)).toEqual({ running: [], gate: "full", caps: [0, 4] });
});

// --- Mutations -----------------------------------------------------------------------------------

/** Lanes of a queue of mutations, and eight jobs: the ones that a wake begins. */
async function mutationsBeside(
  awake: number[],
  { maxParallelism = 20, handler = MUTATION }: Partial<QueueConfig> = {},
) {
  const world = await pushedWorld({ maxParallelism, handler });
  await jobsOf(world, 8);
  await lanesOf(world, "awake", ...awake);
  await wakeBy(world);
  return await standingOf(world);
}

test("mutations begin beside an awake lane only where there is room for half of those that one call runs", async () => {
  const half = HANDLERS_PER_STEP / 2;
  expect(await mutationsBeside([21 - half])).toEqual({
    ...{ running: [], gate: "full", caps: [21 - half] },
  });
  expect(await mutationsBeside([20 - half])).toMatchObject({ caps: [20 - half, half] });
  // Lanes with room for one job each are no such lane, and actions do not share a call.
  expect((await mutationsBeside(Array<number>(13).fill(1))).running).toHaveLength(7);
  expect((await mutationsBeside([13], { handler: ACTION })).running).toHaveLength(7);
});

test("of lanes beside a mutation's wake one with room for two is enough", async () => {
  expect((await mutationsBeside([1, 2], { maxParallelism: 7 })).running).toEqual([]);
});

test("lanes of mutations that sleep keep their room where a new one would have too little", async () => {
  const world = await pushedWorld({ maxParallelism: 5, handler: MUTATION });
  await jobsOf(world, 2);
  await lanesOf(world, "awake", 4);
  await lanesOf(world, "asleep", 1);
  expect(wakesAmong(await wakeBy(world))).toEqual([]);
  expect(await standingOf(world)).toEqual({ running: [], gate: "full", caps: [4, 1] });
});

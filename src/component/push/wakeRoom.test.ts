/** A wake that takes all that it may: as many jobs as the queue's other lanes leave room for, and the room of lanes that sleep. */
import { expect, test, vi } from "vitest";
import {
  HANDLERS_PER_STEP,
  LANE_LOOK_MS,
  LANE_WIDTH,
  limitsOf,
  PROCESS_LIFE_MS,
  WAKE_AGAIN_MS,
  type QueueConfig,
} from "../../shared/index.js";
import type { World } from "../setup.test.js";
import {
  ACTION,
  gateOf,
  jobsOf,
  lanesOf,
  lastCommit,
  MUTATION,
  namesOf,
  pushedWorld,
  slotsOf,
  standingOf,
  wakeBy,
  wakesAmong,
} from "./wakeSetup.test.js";

const PROCESS = "push/laneAction:laneProcess";
const OPEN = { state: "open" } as const;
const FREE = { state: "free" } as const;

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

test("a lane that sleeps without room is passed over where room is needed, and the next gives its room away", async () => {
  const world = await pushedWorld({ maxParallelism: 3 });
  await jobsOf(world, 3);
  await lanesOf(world, "asleep", 1, 0, 1);
  await lanesOf(world, "awake", 1);
  await wakeBy(world);
  expect(await standingOf(world)).toEqual({ running: [0, 1], gate: null, caps: [2, 0, 0, 1] });
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
    // Nor does it look for a process.
    expect(await world.all("processes")).toEqual([]);
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

/** Lanes that sleep keep their room although it is more than `maxParallelism` allows, and no other wake comes for it. */
async function keepsRoom(
  enqueue: (world: World) => Promise<unknown>,
  slots: Parameters<typeof slotsOf>[1][],
  { maxParallelism = 2, awake = [] as number[] } = {},
) {
  const world = await pushedWorld({ maxParallelism });
  await enqueue(world);
  const asleep = Array<number>(maxParallelism + 1 - awake.length).fill(1);
  await lanesOf(world, "asleep", ...asleep);
  await lanesOf(world, "awake", ...awake);
  await slotsOf(world, ...slots);
  expect(wakesAmong(await wakeBy(world))).toEqual([{ afterMs: WAKE_AGAIN_MS }]);
  const { running, gate, caps } = await standingOf(world);
  expect([running, gate, caps]).toEqual([[], "full", [...asleep, ...awake]]);
}

test("where a process or its places are missing, lanes that sleep keep their room although `maxParallelism` was lowered", async () => {
  const two = async (world: World) => await jobsOf(world, 2);
  await keepsRoom(two, [OPEN, OPEN, OPEN, OPEN]);
  const extra = limitsOf("s16").any - 1;
  await keepsRoom(two, [{ ...OPEN, extra }, FREE, FREE, FREE], { maxParallelism: 4, awake: [2] });
  // The receiver has time for jobs of the queue's bound, and not for this one.
  const young = { state: "receiving", ageMs: PROCESS_LIFE_MS - 19.75 * 60_000 } as const;
  const long = async (world: World) =>
    await world.enqueue(0, { rules: { timeoutMs: 20 * 60_000 } });
  await keepsRoom(long, [young, OPEN, OPEN, FREE]);
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

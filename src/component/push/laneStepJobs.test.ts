/** Which jobs a lane's call brings: how many, how old, and for how many places of its process. */
import { expect, test, vi } from "vitest";
import {
  LANE_LOOK_MS,
  LANE_RESCUE_MS,
  limitsOf,
  STEAL_AFTER_MS,
  type QueueConfig,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import { succeeded, type World } from "../setup.test.js";
import {
  gateFor,
  laneNow,
  laneOf,
  leasesOf,
  nextOf,
  stepBy,
  type Awake,
  type Said,
} from "./laneStepSetup.test.js";
import {
  gateOf,
  inOne,
  jobsOf,
  lanesOf,
  MUTATION,
  pushedWorld,
  wakesAmong,
} from "./wakeSetup.test.js";

interface Plan extends Partial<QueueConfig> {
  cap?: number;
  holds?: number;
  wait?: number;
  gate?: Doc<"gates">["state"] | null;
  isOwn?: boolean;
  ageMs?: number;
}

/** A lane that polls, if nothing else is said, with jobs that wait. */
async function lanesWorld(plan: Plan): Promise<{ world: World; lane: Awake }> {
  const {
    cap = 8,
    holds = 0,
    wait = 8,
    gate = "guarded",
    isOwn = true,
    ageMs = 0,
    ...config
  } = plan;
  const world = await pushedWorld({ maxParallelism: 8, ...config });
  await jobsOf(world, holds + wait);
  const lane = await laneOf(world, { cap, holds });
  const [other] = await lanesOf(world, "awake", 0);
  const guard = isOwn ? lane.lane : other!;
  const isNamed = gate === "guarded" || gate === "leaving";
  if (gate !== null) await gateOf(world, gate, isNamed ? { guard } : {});
  vi.setSystemTime(Date.now() + ageMs);
  return { world, lane };
}

/** What one call of such a lane brings, and its next step. */
async function callIn(plan: Plan, said: Said | (() => Said) = {}) {
  const { world, lane } = await lanesWorld(plan);
  const { reply } = await stepBy(world, lane, typeof said === "function" ? said() : said);
  const { jobs, lookAfterMs } = nextOf(reply);
  return { jobs, lookAfterMs };
}

// --- How many ------------------------------------------------------------------------------------

test("a lane takes as many jobs as it has room beside the ones that run, in their order", async () => {
  expect(await callIn({ holds: 5 })).toEqual({ jobs: [5, 6, 7], lookAfterMs: null });
  expect(await callIn({ holds: 5, wait: 2 })).toEqual({ jobs: [5, 6], lookAfterMs: LANE_LOOK_MS });
  expect(await callIn({ holds: 8 })).toEqual({ jobs: [], lookAfterMs: null });
});

test("a lane takes as many jobs as its process has places, and calls again at once where it has room for more", async () => {
  const few = { in: { places: 2 } };
  expect(await callIn({}, few)).toEqual({ jobs: [0, 1], lookAfterMs: 0 });
  // There may be none: it has found fewer than it looked for.
  expect(await callIn({ wait: 1 }, few)).toEqual({ jobs: [0], lookAfterMs: LANE_LOOK_MS });
  expect(await callIn({ cap: 2, maxParallelism: 2 }, few)).toEqual({
    jobs: [0, 1],
    lookAfterMs: null,
  });
});

test("in a process with no place left for now a lane takes no job, and polls on", async () => {
  const none = { in: { places: 0 } };
  expect(await callIn({}, none)).toEqual({ jobs: [], lookAfterMs: LANE_LOOK_MS });
});

test("mutations take no place: a lane takes as many as it has room for, without their payloads", async () => {
  const none = { in: { places: 0, isFull: true } };
  expect(await callIn({ wait: 3, handler: MUTATION }, none)).toMatchObject({
    jobs: [null, null, null],
  });
});

test("a lane takes no more jobs before it has received the ones that it was given", async () => {
  const { world, lane } = await lanesWorld({ holds: 2, wait: 2 });
  const { reply } = await stepBy(world, lane, { lastAckedCall: 0 });
  // It receives these again.
  expect(nextOf(reply)).toMatchObject({ jobs: [0, 1], lookAfterMs: LANE_LOOK_MS });
  expect(nextOf((await stepBy(world, lane)).reply)).toMatchObject({ jobs: [2, 3] });
});

test("a lane that was begun for one job takes no other, where each has a wake of its own or another lane polls", async () => {
  for (const gate of ["quiet", "guarded", "leaving", null] as const)
    for (const cap of [0, 1]) {
      const plan = { gate, isOwn: false, cap, ageMs: 2 * LANE_RESCUE_MS };
      const after = await callIn(plan);
      expect(after, `${gate ?? "none"} ${cap}`).toEqual({ jobs: [], lookAfterMs: null });
    }
});

test("a lane that was begun for one job takes others, and grows, where it polls or the queue is full", async () => {
  for (const gate of ["guarded", "full"] as const) {
    const { world, lane } = await lanesWorld({ gate, cap: 1 });
    const { reply } = await stepBy(world, lane);
    expect(nextOf(reply).jobs).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(await laneNow(world, lane)).toMatchObject({ cap: 8, held: 8 });
  }
});

test("a lane with room for two jobs takes jobs that have waited for a while, where no lane polls", async () => {
  const plan = { gate: null, cap: 2, ageMs: 2 * STEAL_AFTER_MS, maxParallelism: 2 };
  expect(await callIn(plan)).toEqual({ jobs: [0, 1], lookAfterMs: null });
});

test("a call that is run again after a while takes half as many jobs for each such while, at least one, and the lane calls again at once", async () => {
  const aged = (ms: number) => () => ({ sentAt: Date.now() - ms });
  expect(await callIn({}, aged(199))).toMatchObject({ lookAfterMs: null, jobs: { length: 8 } });
  expect(await callIn({}, aged(200))).toEqual({ lookAfterMs: 0, jobs: [0, 1, 2, 3] });
  expect(await callIn({}, aged(400))).toEqual({ lookAfterMs: 0, jobs: [0, 1] });
  expect(await callIn({}, aged(2_000))).toEqual({ lookAfterMs: 0, jobs: [0] });
  // It has found all: there is no reason for a call at once.
  expect(await callIn({ wait: 3 }, aged(200))).toEqual({
    lookAfterMs: LANE_LOOK_MS,
    jobs: [0, 1, 2],
  });
});

test("a call of mutations takes as many jobs as ever when it is run again", async () => {
  const again = () => ({ sentAt: Date.now() - 400 });
  const { jobs } = await callIn({ handler: MUTATION }, again);
  expect(jobs).toEqual(Array(8).fill(null));
});

test("a lane whose time is over does not call again at once, however few it has taken", async () => {
  const { world, lane } = await lanesWorld({ holds: 1 });
  const { reply } = await stepBy(world, lane, { in: { endsAt: 0, places: 1 } });
  expect(reply).toMatchObject({ jobs: [], lookAfterMs: null, isOver: true });
});

// --- How old -------------------------------------------------------------------------------------

test("the polling lane takes jobs however new they are, and while it leaves only ones whose wakes are late", async () => {
  const takes = async (gate: "guarded" | "leaving" | "full", ageMs: number) =>
    (await callIn({ gate, ageMs, wait: 1 })).jobs.length === 1;
  expect(await takes("guarded", 0)).toBe(true);
  expect(await takes("full", 0)).toBe(true);
  expect(await takes("leaving", STEAL_AFTER_MS - 50)).toBe(false);
  expect(await takes("leaving", STEAL_AFTER_MS + 50)).toBe(true);
});

test("where another lane polls, a lane takes only jobs that it seems to have missed; where none does, ones whose wakes are late", async () => {
  const takes = async (gate: Plan["gate"], ageMs: number) =>
    (await callIn({ gate: gate!, isOwn: false, ageMs, wait: 1, holds: 1 })).jobs.length === 1;
  for (const gate of ["guarded", "leaving"] as const) {
    expect(await takes(gate, LANE_RESCUE_MS - 50)).toBe(false);
    expect(await takes(gate, LANE_RESCUE_MS + 50)).toBe(true);
  }
  for (const gate of ["quiet", null] as const) {
    expect(await takes(gate, STEAL_AFTER_MS - 50)).toBe(false);
    expect(await takes(gate, STEAL_AFTER_MS + 50)).toBe(true);
  }
});

// --- Places --------------------------------------------------------------------------------------

const LIMITS = limitsOf("s16");

/** Another process has all places but for so many. */
async function leave(world: World, places: number): Promise<void> {
  await inOne(world, async ({ db }) => {
    const row = { number: 9, state: "open", generation: 0, openedAt: Date.now() } as const;
    const process = await db.insert("processes", row);
    await db.insert("grants", { process, extra: LIMITS.any - 1 - places });
  });
}

/** The places that a call of a lane in a full process is given, of so many that are left, with so many places of its own. */
async function givenOf(plan: Plan, left: number, places: number) {
  const { world, lane } = await lanesWorld(plan);
  await leave(world, left);
  const { reply, functions } = await stepBy(world, lane, { in: { places, isFull: true } });
  const { jobs, lookAfterMs, given } = reply;
  const own = (await world.all("grants")).find(({ process }) => process === lane.process);
  return {
    ...{ jobs: jobs.length, lookAfterMs, given, extra: own?.extra ?? 0 },
    ...{ wakes: wakesAmong(functions), gate: (await gateFor(world, lane))?.state },
  };
}

test("a lane of a process that has used all of its places is given more, and takes as many jobs", async () => {
  const given = { jobs: 5, given: 5, extra: 5 };
  expect(await givenOf({ holds: 2 }, 5, 0)).toMatchObject({ ...given, lookAfterMs: 0 });
  expect(await givenOf({ holds: 3 }, 9, 0)).toMatchObject({ ...given, lookAfterMs: null });
});

test("a lane that fills the last places of its process has more of them for its next call, which it makes at once", async () => {
  const after = await givenOf({ holds: 2 }, 9, 2);
  expect(after).toMatchObject({ jobs: 2, given: 4, extra: 4, lookAfterMs: 0 });
});

test("a lane that finds fewer jobs than there are places asks for no more", async () => {
  const after = await givenOf({ holds: 2, wait: 1 }, 9, 2);
  expect(after).toEqual({
    jobs: 1,
    given: undefined,
    extra: 0,
    lookAfterMs: LANE_LOOK_MS,
    wakes: [],
    gate: "guarded",
  });
});

test("a polling lane of a process that is given no place counts as full: it waits for its jobs, and a wake finds another process", async () => {
  for (const places of [0, 2]) {
    const after = await givenOf({ holds: 2 }, 0, places);
    const stuck = { jobs: places, given: undefined, extra: 0, lookAfterMs: null };
    expect(after).toEqual({ ...stuck, gate: "full", wakes: [{ afterMs: 0 }] });
  }
});

test("a polling lane without a job polls on where its process is given no place", async () => {
  const after = await givenOf({}, -5, 0);
  expect(after).toMatchObject({
    jobs: 0,
    given: undefined,
    lookAfterMs: LANE_LOOK_MS,
    gate: "guarded",
  });
});

test("places that a process gives back are free for other processes, and a queue that waits is woken", async () => {
  const { world, lane } = await lanesWorld({ wait: 0 });
  await inOne(world, async ({ db }) => {
    await db.insert("grants", { process: lane.process, extra: 5 });
    await db.insert("waitingQueues", { queue: "tiles", isServed: true });
  });
  const { functions } = await stepBy(world, lane, { in: { givenBack: 3 } });
  expect(await world.all("grants")).toMatchObject([{ extra: 2, givenBack: 3 }]);
  expect(functions.map(({ name }) => name)).toEqual(["push/mainLoop:rouseQueues"]);
});

// --- Watched -------------------------------------------------------------------------------------

test("a lane that takes a job relies on a sweep, and makes one where there is none", async () => {
  for (const wait of [0, 1]) {
    const { world, lane } = await lanesWorld({ wait });
    await stepBy(world, lane);
    const timers = (await world.all("timers")).map(({ kind }) => kind);
    expect(timers).toEqual(wait === 0 ? [] : ["janitor"]);
  }
});

test("a lane that ends a job and goes on is seen to live, and relies on the sweep that there is", async () => {
  const { world, lane } = await lanesWorld({ holds: 2, wait: 0 });
  const before = await world.all("timers");
  const [ended] = await leasesOf(world, lane);
  vi.setSystemTime(Date.now() + 1_000);
  await stepBy(world, lane, { finished: [succeeded(ended!)] });
  const session = (await world.all("sessions")).find(({ _id }) => _id === lane.session);
  expect(session).toMatchObject({ callSeq: 2, lastSeenAt: Date.now(), leases: { length: 1 } });
  expect(await world.all("timers")).toEqual(before);
});

/** A wake and the processes: places for its jobs, a lane that is handed over, one that waits, jobs that run for long. */
import { expect, test, vi } from "vitest";
import { limitsOf, placesLeft, PROCESS_LIFE_MS, type QueueConfig } from "../../shared/index.js";
import {
  gateOf,
  jobsOf,
  lanesOf,
  MUTATION,
  namesOf,
  pushedWorld,
  slotsOf,
  standingOf,
  wakeBy,
  wakesAmong,
} from "./wakeSetup.test.js";

const PROCESS = "push/laneAction:laneProcess";
const SWEEP = "tend/janitor:sweep";
const OPEN = { state: "open" } as const;
const FREE = { state: "free" } as const;
const RECEIVING = { state: "receiving" } as const;

const LIMITS = limitsOf("s16");
/** So many places are given to a process where these are left for queues that run two jobs or more. */
const givenAllBut = (any: number) => LIMITS.any - 1 - any;
/** The same where these are left for queues that run fewer. */
const givenAllButFew = (few: number) => LIMITS.all - LIMITS.slots - few;

/** A wake for jobs of a queue, beside processes with places, and lanes that are awake. */
async function wakeAmong(
  slots: Parameters<typeof slotsOf>[1][],
  jobs: number,
  { awake = [] as number[], ...config }: Partial<QueueConfig> & { awake?: number[] } = {},
) {
  const world = await pushedWorld(config);
  await jobsOf(world, jobs);
  await lanesOf(world, "awake", ...awake);
  await slotsOf(world, ...slots);
  const planned = await wakeBy(world);
  return { world, planned, ...(await standingOf(world)) };
}

test("places are as many as these tests say", () => {
  expect(placesLeft(LIMITS, [{ extra: givenAllBut(2) }]).any).toBe(2);
  expect(placesLeft(LIMITS, [{ extra: givenAllButFew(2) }])).toEqual({ any: 0, few: 2 });
  expect(placesLeft(LIMITS, [{ extra: givenAllBut(0) }])).toEqual({ any: 0, few: 5 });
});

// --- A process of its own ------------------------------------------------------------------------

test("a lane in a process of its own begins with as many jobs as places are left, besides the one that a process has", async () => {
  const among = [{ ...OPEN, extra: givenAllBut(2) }, FREE, FREE, FREE];
  const { world, planned, running, caps } = await wakeAmong(among, 5);
  expect([running, caps]).toEqual([[0, 1, 2], [3]]);
  expect(planned.find(({ name }) => name === PROCESS)!.args.places).toBe(3);
  const begun = (await world.all("processes")).filter(({ generation }) => generation === 1);
  expect(begun).toMatchObject([{ state: "open", openedAt: Date.now() }]);
  expect(await world.all("grants")).toMatchObject([{ extra: givenAllBut(2) }, { extra: 2 }]);
});

test("where no place is left a queue that runs none begins with the one that a process has", async () => {
  const { running } = await wakeAmong([{ ...OPEN, extra: givenAllBut(0) }, FREE, FREE, FREE], 3);
  expect(running).toEqual([0]);
});

test("where no place at all is left, a queue begins with the one of the process that takes a kept slot", async () => {
  const { running } = await wakeAmong([{ ...OPEN, extra: givenAllButFew(0) }, OPEN, FREE, FREE], 3);
  expect(running).toEqual([0]);
});

test("where no place is left a queue with a lane awake leaves the last ones to queues that run less, and waits", async () => {
  const among = [{ ...OPEN, extra: givenAllBut(0) }, FREE, FREE, FREE];
  const waiting = await wakeAmong(among, 3, { awake: [2] });
  expect(waiting).toMatchObject({ running: [], gate: "full", caps: [2], waits: "served" });
  expect(namesOf(waiting.planned)).toEqual([SWEEP, "push/wake:wake"]);
  // A queue that runs one job only is one of those.
  expect(await wakeAmong(among, 3, { awake: [1] })).toMatchObject({ waits: "unserved" });
  // With one more place it begins.
  const oneMore = [{ ...OPEN, extra: givenAllBut(1) }, FREE, FREE, FREE];
  expect((await wakeAmong(oneMore, 3, { awake: [2] })).running).toEqual([0, 1]);
});

test("a queue with room for one job beside a lane that is awake begins with the place that a process has", async () => {
  const among = [{ ...OPEN, extra: givenAllBut(0) }, FREE, FREE, FREE];
  expect((await wakeAmong(among, 3, { awake: [4] })).running).toEqual([0]);
});

test("a queue that is to run two jobs and runs fewer has the places that are kept for such queues", async () => {
  const among = [{ ...OPEN, extra: givenAllBut(0) }, FREE, FREE, FREE];
  expect((await wakeAmong(among, 3, { maxParallelism: 2 })).running).toEqual([0, 1]);
  expect((await wakeAmong(among, 3, { maxParallelism: 3, awake: [1] })).running).toEqual([0, 1]);
  // One that is to run more has not, and nor has one that runs two.
  expect((await wakeAmong(among, 3, { maxParallelism: 3 })).running).toEqual([0]);
  expect((await wakeAmong(among, 3, { maxParallelism: 4, awake: [2] })).running).toEqual([]);
});

test("mutations take no places, and a process begins with one for all of them", async () => {
  const among = [{ ...OPEN, extra: givenAllButFew(0) }, FREE, FREE, FREE];
  const { planned, running } = await wakeAmong(among, 3, { handler: MUTATION });
  expect(running).toEqual([0, 1, 2]);
  expect(planned.find(({ name }) => name === PROCESS)!.args.places).toBe(1);
});

// --- Lanes that are handed over -------------------------------------------------------------------

test("where only kept slots are free a lane is handed to the receiver, with as many jobs as places are left, and at least one", async () => {
  for (const [any, running] of [
    [3, [0, 1, 2]],
    [1, [0]],
    [0, [0]],
  ] as const) {
    const receiver = { ...RECEIVING, extra: givenAllBut(any) };
    const handed = await wakeAmong([receiver, OPEN, FREE, FREE], 5);
    expect(handed.running).toEqual(running);
    expect(namesOf(handed.planned)).not.toContain(PROCESS);
    const [process] = await handed.world.all("processes");
    const [lane] = await handed.world.all("lanes");
    expect(await handed.world.all("handOvers")).toMatchObject([
      { process: process!._id, generation: 0, start: { lane: lane!._id } },
    ]);
  }
});

test("a lane of a queue that is to run two jobs is handed over with the places that are kept for such queues", async () => {
  const among = [{ ...RECEIVING, extra: givenAllBut(0) }, OPEN, FREE, FREE];
  expect((await wakeAmong(among, 3, { maxParallelism: 2 })).running).toEqual([0, 1]);
  expect((await wakeAmong(among, 3, { maxParallelism: 4, awake: [2] })).running).toEqual([]);
});

test("where no place at all is left no lane is handed over, and the queue waits; a lane of mutations takes none, and is", async () => {
  const among = [{ ...RECEIVING, extra: givenAllButFew(0) }, OPEN, FREE, FREE];
  const waiting = await wakeAmong(among, 2);
  expect(waiting).toMatchObject({ running: [], gate: "full", caps: [], waits: "unserved" });
  expect(await waiting.world.all("handOvers")).toEqual([]);
  expect((await wakeAmong(among, 2, { handler: MUTATION })).running).toEqual([0, 1]);
  const oneLeft = [{ ...RECEIVING, extra: givenAllButFew(1) }, OPEN, FREE, FREE];
  expect((await wakeAmong(oneLeft, 2)).running).toEqual([0]);
});

// --- No process ------------------------------------------------------------------------------------

test("a queue that waits for a process is written once, and woken once more for a process that has ended meanwhile", async () => {
  const among = [OPEN, OPEN, OPEN, OPEN];
  const { world, planned } = await wakeAmong(among, 2);
  expect(wakesAmong(planned)).toEqual([{ afterMs: 100 }]);
  expect(await standingOf(world)).toEqual({
    ...{ running: [], gate: "full", caps: [], waits: "unserved" },
  });
  expect(await wakeBy(world)).toEqual([]);
  expect(await world.all("waitingQueues")).toHaveLength(1);
});

test("a queue without waiting jobs does not wait for a process", async () => {
  const { world, planned } = await wakeAmong([OPEN, OPEN, OPEN, OPEN], 0);
  expect(planned).toEqual([]);
  expect(await standingOf(world)).toEqual({ running: [], gate: null, caps: [] });
});

test("a queue that waits for a process under a full gate waits on, whether or not the snapshot shows its jobs", async () => {
  const world = await pushedWorld();
  await gateOf(world, "full");
  await slotsOf(world, OPEN, OPEN, OPEN, OPEN);
  await wakeBy(world);
  expect(await standingOf(world)).toEqual({
    ...{ running: [], gate: "full", caps: [], waits: "unserved" },
  });
});

test("a queue that runs two jobs or more waits for the places of such queues", async () => {
  const among = [OPEN, OPEN, OPEN, OPEN];
  expect((await wakeAmong(among, 2, { awake: [2] })).waits).toBe("served");
  expect((await wakeAmong(among, 2, { awake: [1] })).waits).toBe("unserved");
});

// --- Jobs that run for long ------------------------------------------------------------------------

const LONG = { rules: { timeoutMs: 20 * 60_000 } };
/** They may have jobs of the queue's bound, and none of twenty minutes. The older one soon receives no lane at all. */
const OLD = { ...RECEIVING, ageMs: PROCESS_LIFE_MS - 15 * 60_000 };
const YOUNG = { ...RECEIVING, ageMs: PROCESS_LIFE_MS - 19.75 * 60_000 };

/** A wake for one job that may run for twenty minutes, and others of the queue's bound. */
async function wakeForLong(
  slots: Parameters<typeof slotsOf>[1][],
  { others = 0, maxParallelism = 5 } = {},
) {
  const world = await pushedWorld({ maxParallelism });
  await world.enqueue(0, LONG);
  await jobsOf(world, others);
  await slotsOf(world, ...slots);
  const planned = await wakeBy(world);
  return { world, planned, ...(await standingOf(world)) };
}

test("jobs that may run for longer than the receiver has left begin in another process", async () => {
  const { world, planned, running, gate } = await wakeForLong([OLD, OPEN, FREE, FREE]);
  expect(running).toEqual([0]);
  expect(gate).toBeNull();
  expect(await world.all("handOvers")).toEqual([]);
  expect(planned.find(({ name }) => name === PROCESS)!.args.receives).toBe(true);
});

test("where no other process may be taken for them, since the last slot is kept for the receiver's successor, the queue waits", async () => {
  const { world, running, gate, waits } = await wakeForLong([YOUNG, OPEN, OPEN, FREE]);
  expect([running, gate, waits]).toEqual([[], "full", "unserved"]);
  const states = (await world.all("processes")).map(({ state }) => state);
  expect(states).toEqual(["receiving", "open", "open", "free"]);
});

test("where a job beside them has time in the receiver it is handed over, and another wake comes for them", async () => {
  const { world, planned, running } = await wakeForLong([OLD, OPEN, FREE, FREE], { others: 1 });
  expect(running).toEqual([1]);
  expect(await world.all("handOvers")).toHaveLength(1);
  expect(wakesAmong(planned)).toHaveLength(1);
});

test("a wake that had no process for its jobs finds one when it comes again", async () => {
  const { world } = await wakeAmong([OPEN, OPEN, OPEN, OPEN], 2);
  const [slot] = await world.all("processes");
  await world.t.run((ctx) => ctx.db.patch("processes", slot!._id, { state: "free" }));
  vi.setSystemTime(Date.now() + 1_000);
  await wakeBy(world);
  expect((await standingOf(world)).running).toEqual([0, 1]);
});

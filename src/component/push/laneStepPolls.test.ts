/** How a lane goes on after a call: full, polling for its queue, with no more room than it uses, or not at all. */
import { expect, test, vi } from "vitest";
import {
  LANE_LEAVES_MS,
  LANE_LOOK_MS,
  LANE_RESCUE_MS,
  LANE_WATCH_MS,
  STEAL_AFTER_MS,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import { succeeded, type World } from "../setup.test.js";
import {
  configure,
  gateFor,
  laneNow,
  laneOf,
  leasesOf,
  nextOf,
  rowsOf,
  setVain,
  stepBy,
  type Awake,
} from "./laneStepSetup.test.js";
import { gateOf, jobsOf, lanesOf, pushedWorld, wakesAmong } from "./wakeSetup.test.js";

const waits = { answers: [], jobs: [], lookAfterMs: null, isOver: false };
const left = { answers: [], jobs: [], lookAfterMs: null, isOver: true };
const polls = (lookAfterMs: number, jobs: number[] = []) => ({ ...waits, jobs, lookAfterMs });

/** The wakes that newcomers schedule have been done with. */
const later = () => vi.setSystemTime(Date.now() + 2 * STEAL_AFTER_MS);

/** A polling lane with this cap that holds so many jobs, in a queue with so many that wait beside. */
async function guarding(
  {
    holds = 0,
    wait = 0,
    cap = 4,
    max = 5,
  }: Partial<Record<"holds" | "wait" | "cap" | "max", number>>,
  state: "guarded" | "leaving" = "guarded",
): Promise<{ world: World; lane: Awake }> {
  const world = await pushedWorld({ maxParallelism: max });
  await jobsOf(world, holds + wait);
  const lane = await laneOf(world, { cap, holds });
  await gateOf(world, state, { guard: lane.lane });
  return { world, lane };
}

// --- In vain -------------------------------------------------------------------------------------

test("a polling lane that finds nothing looks again, each time after twice as long, and leaves after the fourth look in vain", async () => {
  const { world, lane } = await guarding({});
  const seen: unknown[] = [];
  for (const looks of [0, 1, 2]) {
    const { reply, functions } = await stepBy(world, lane, { looks });
    expect(functions).toEqual([]);
    seen.push([nextOf(reply), await gateFor(world, lane), await laneNow(world, lane)]);
  }
  const gate = { by: "it", isVain: false, isOpen: true };
  const awake = { under: 5, state: "active", held: 0 };
  expect(seen).toEqual([
    [polls(LANE_LOOK_MS), { ...gate, state: "guarded" }, { ...awake, cap: 4 }],
    // From the second on it only keeps the room of a spare: newcomers have wakes that are to find room.
    [polls(2 * LANE_LOOK_MS), { ...gate, state: "leaving" }, { ...awake, cap: 1 }],
    [polls(4 * LANE_LOOK_MS), { ...gate, state: "leaving" }, { ...awake, cap: 1 }],
  ]);
  const { reply, functions } = await stepBy(world, lane, { looks: 3 });
  expect(nextOf(reply)).toEqual(left);
  expect(wakesAmong(functions)).toEqual([{ afterMs: 0 }]);
  expect(await gateFor(world, lane)).toEqual({
    ...gate,
    state: "quiet",
    by: "none",
    isOpen: false,
  });
  expect(await laneNow(world, lane)).toEqual({ cap: 1, under: 5, state: "idle", held: 0 });
});

test("a polling lane that keeps looking in vain keeps the room of the jobs that it runs, and then waits for them", async () => {
  const { world, lane } = await guarding({ holds: 2 });
  expect(nextOf((await stepBy(world, lane, { looks: 1 })).reply)).toEqual(polls(2 * LANE_LOOK_MS));
  expect(await gateFor(world, lane)).toMatchObject({ state: "leaving", by: "it" });
  expect(await laneNow(world, lane)).toMatchObject({ cap: 2, under: 5 });
  const { reply, functions } = await stepBy(world, lane, { looks: 3 });
  expect(nextOf(reply)).toEqual(waits);
  expect(wakesAmong(functions)).toEqual([{ afterMs: 0 }]);
  expect(await gateFor(world, lane)).toMatchObject({ state: "quiet", isOpen: false });
  expect(await laneNow(world, lane)).toMatchObject({ cap: 2, state: "active", held: 2 });
});

test("the only room of a queue is not kept by a lane that leaves: a newcomer's wake is to find it", async () => {
  const { world, lane } = await guarding({ cap: 1, max: 1 });
  await stepBy(world, lane, { looks: 1 });
  expect(await laneNow(world, lane)).toMatchObject({ cap: 0, under: 1 });
  const other = await guarding({ cap: 2, max: 2 });
  await stepBy(other.world, other.lane, { looks: 1 });
  expect(await laneNow(other.world, other.lane)).toMatchObject({ cap: 1, under: 2 });
});

test("a polling lane that finds a job counts its looks anew, and takes back all of its room", async () => {
  const { world, lane } = await guarding({ wait: 1 }, "leaving");
  later();
  const { reply } = await stepBy(world, lane, { looks: 3 });
  expect(nextOf(reply)).toEqual(polls(LANE_LOOK_MS, [0]));
  expect(await gateFor(world, lane)).toMatchObject({ state: "guarded", by: "it", isVain: false });
  expect(await laneNow(world, lane)).toMatchObject({ cap: 4, held: 1 });
});

test("a polling lane with less than half of its room free grows into all of its queue's", async () => {
  const { world, lane } = await guarding({ cap: 3, holds: 2, max: 20 });
  expect(nextOf((await stepBy(world, lane)).reply)).toEqual(polls(LANE_LOOK_MS));
  expect(await laneNow(world, lane)).toMatchObject({ cap: 20, under: 20 });
});

test("the gate says that looks were in vain from the lane that began them until one finds a job", async () => {
  for (const wait of [0, 1]) {
    const { world, lane } = await guarding({ wait });
    await setVain(world);
    await stepBy(world, lane);
    expect(await gateFor(world, lane)).toMatchObject({ state: "guarded", isVain: wait === 0 });
  }
});

test("a lane whose process takes jobs for less than a second more says at once that it leaves", async () => {
  const timeoutMs = 60_000;
  for (const [spare, state] of [
    [LANE_LEAVES_MS, "guarded"],
    [LANE_LEAVES_MS - 1, "leaving"],
  ] as const) {
    const world = await pushedWorld({ timeoutMs });
    await jobsOf(world, 1);
    const lane = await laneOf(world, { cap: 4 });
    await gateOf(world, "guarded", { guard: lane.lane });
    const { reply } = await stepBy(world, lane, {
      in: { endsAt: Date.now() + timeoutMs + spare },
    });
    expect(nextOf(reply)).toEqual(polls(LANE_LOOK_MS, [0]));
    expect(await gateFor(world, lane)).toMatchObject({ state, by: "it" });
    expect(await laneNow(world, lane)).toMatchObject({ cap: state === "guarded" ? 4 : 1 });
  }
});

test("a poll in vain writes nothing, and the lane is known to live by it only now and then", async () => {
  const { world, lane } = await guarding({});
  const before = await rowsOf(world);
  vi.setSystemTime(Date.now() + LANE_WATCH_MS / 2 - 1);
  expect((await stepBy(world, lane)).functions).toEqual([]);
  expect(await rowsOf(world)).toEqual(before);
  vi.setSystemTime(Date.now() + 1);
  await stepBy(world, lane);
  const [session] = await world.all("sessions");
  expect(session).toMatchObject({ callSeq: 2, lastSeenAt: Date.now(), state: "active" });
  expect({ ...(await rowsOf(world)), sessions: before.sessions }).toEqual(before);
});

// --- Full ----------------------------------------------------------------------------------------

test("a polling lane that fills the room of its queue waits for its jobs, and marks the queue as full", async () => {
  const { world, lane } = await guarding({ cap: 5, holds: 4, wait: 3 });
  const { reply, functions } = await stepBy(world, lane);
  expect(nextOf(reply)).toEqual({ ...waits, jobs: [4] });
  expect(wakesAmong(functions)).toEqual([]);
  const full = { state: "full", by: "none", isVain: false, isOpen: true };
  expect(await gateFor(world, lane)).toEqual(full);
  expect(await laneNow(world, lane)).toEqual({ cap: 5, under: 5, state: "active", held: 5 });
});

test("a polling lane that fills its room beside other lanes has a wake find the room that they leave", async () => {
  const { world, lane } = await guarding({ cap: 3, holds: 2, wait: 3 });
  await lanesOf(world, "awake", 2);
  const { reply, functions } = await stepBy(world, lane);
  expect(nextOf(reply)).toEqual({ ...waits, jobs: [2] });
  expect(wakesAmong(functions)).toEqual([{ afterMs: 0 }]);
  expect(await gateFor(world, lane)).toMatchObject({ state: "full", by: "none" });
});

test("a full lane that does not poll waits for its jobs, and writes no row, whatever the gate says", async () => {
  for (const state of ["guarded", "leaving", "full", "quiet", null] as const) {
    const world = await pushedWorld();
    await jobsOf(world, 3);
    const lane = await laneOf(world, { cap: 3, holds: 3 });
    const [other] = await lanesOf(world, "awake", 2);
    if (state !== null) await gateOf(world, state, state === "full" ? {} : { guard: other! });
    const before = await rowsOf(world);
    const { reply, functions } = await stepBy(world, lane);
    expect([reply, functions], state ?? "none").toEqual([waits, []]);
    expect(await rowsOf(world)).toEqual(before);
  }
});

test("a lane with more jobs than a lowered bound allows takes none, and drains", async () => {
  const world = await pushedWorld();
  await jobsOf(world, 4);
  const lane = await laneOf(world, { cap: 3, holds: 3 });
  await configure(world, { maxParallelism: 2 });
  expect(nextOf((await stepBy(world, lane)).reply)).toEqual(waits);
  expect(await laneNow(world, lane)).toMatchObject({ cap: 3, under: undefined, held: 3 });
});

// --- Where no lane polls, or another -------------------------------------------------------------

/** A lane of four jobs' room, with so many that run, one of which ends, and so many that have waited for a while. */
async function endingOne(
  holds: number,
  wait: number,
  state: Doc<"gates">["state"] | null,
  { cap = 4, max = 10 } = {},
) {
  const world = await pushedWorld({ maxParallelism: max });
  await jobsOf(world, holds + wait);
  const lane = await laneOf(world, { cap, holds });
  const [other] = await lanesOf(world, "awake", 0);
  if (state !== null) await gateOf(world, state, state === "full" ? {} : { guard: other! });
  later();
  const [ended] = await leasesOf(world, lane);
  const { reply, functions } = await stepBy(world, lane, { finished: [succeeded(ended!)] });
  const { answers, ...next } = nextOf(reply);
  expect(answers).toEqual([{ ...ended, answer: "ok" }]);
  return {
    next,
    wakes: wakesAmong(functions),
    gate: await gateFor(world, lane),
    ...(await laneNow(world, lane)),
  };
}

const stays = { lookAfterMs: null, isOver: false };

test("where another lane polls, or none, a lane with free room and no job that waits keeps only the room that it uses", async () => {
  for (const state of ["guarded", "leaving", "quiet", null] as const) {
    const after = await endingOne(3, 0, state);
    expect(after).toMatchObject({ next: { ...stays, jobs: [] }, wakes: [], cap: 2, under: 10 });
    expect(after).toMatchObject({ state: "active", held: 2 });
    expect(after.gate?.state ?? null).toBe(state);
  }
});

test("where another lane polls, or none, a lane that has run its last job leaves, with the room of a spare", async () => {
  for (const state of ["guarded", "leaving", "quiet", null] as const) {
    const after = await endingOne(1, 0, state);
    const next = { lookAfterMs: null, isOver: true, jobs: [] };
    expect(after).toMatchObject({ next, wakes: [], cap: 1, under: 10, state: "idle", held: 0 });
    expect(after.gate?.state ?? null).toBe(state);
  }
});

test("in a full queue a lane that frees room polls from then on, with all the room that there is", async () => {
  for (const holds of [1, 3]) {
    const after = await endingOne(holds, 0, "full", { max: 4 });
    const next = { jobs: [], lookAfterMs: LANE_LOOK_MS, isOver: false };
    expect(after).toMatchObject({ next, wakes: [], cap: 4, held: holds - 1 });
    expect(after.gate).toEqual({ state: "guarded", by: "it", isVain: true, isOpen: true });
  }
});

test("in a full queue a lane that frees room and finds a job for it waits again", async () => {
  const after = await endingOne(4, 2, "full", { max: 4 });
  expect(after).toMatchObject({ next: { ...stays, jobs: [4] }, wakes: [], cap: 4, held: 4 });
  expect(after.gate).toMatchObject({ state: "full" });
});

test("where no lane polls, one that finds a job whose wake is late polls from then on", async () => {
  for (const state of ["quiet", null] as const) {
    const after = await endingOne(3, 1, state);
    const next = { jobs: [3], lookAfterMs: LANE_LOOK_MS, isOver: false };
    expect(after).toMatchObject({ next, wakes: [], cap: 4, held: 3 });
    expect(after.gate).toEqual({ state: "guarded", by: "it", isVain: false, isOpen: true });
  }
});

test("where another lane polls, one that finds a job which waited for long does not poll, and keeps the room that it uses", async () => {
  const world = await pushedWorld({ maxParallelism: 10 });
  await jobsOf(world, 2);
  const lane = await laneOf(world, { cap: 4, holds: 1 });
  const [other] = await lanesOf(world, "awake", 1);
  await gateOf(world, "guarded", { guard: other! });
  vi.setSystemTime(Date.now() + LANE_RESCUE_MS + 1_000);
  expect(nextOf((await stepBy(world, lane)).reply)).toMatchObject({ ...waits, jobs: [1] });
  expect(await gateFor(world, lane)).toMatchObject({ state: "guarded", by: "another" });
  expect(await laneNow(world, lane)).toMatchObject({ cap: 2, held: 2 });
});

test("where no lane polls, one that fills its room with jobs that waited grows into the room of its queue, as far as there is more", async () => {
  const grown = await endingOne(2, 4, null, { cap: 2, max: 10 });
  expect(grown).toMatchObject({ next: { jobs: [2], lookAfterMs: LANE_LOOK_MS }, cap: 10, held: 2 });
  expect(grown.gate).toMatchObject({ state: "guarded", by: "it" });
  const full = await endingOne(2, 4, null, { cap: 2, max: 2 });
  expect(full).toMatchObject({ next: { ...stays, jobs: [2] }, cap: 2, held: 2, gate: null });
});

test("a lane that is left no room by the other lanes of a full queue polls without any, and does not wait for an end that never comes", async () => {
  const world = await pushedWorld({ maxParallelism: 2 });
  await jobsOf(world, 1);
  const lane = await laneOf(world, { cap: 1, holds: 1, under: 5 });
  await lanesOf(world, "awake", 2);
  await gateOf(world, "full");
  const [ended] = await leasesOf(world, lane);
  const { reply } = await stepBy(world, lane, { finished: [succeeded(ended!)] });
  expect(reply).toMatchObject({ lookAfterMs: LANE_LOOK_MS, isOver: false });
  expect(await laneNow(world, lane)).toMatchObject({ cap: 0, under: 2, state: "active" });
});

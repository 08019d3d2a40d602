/** What a lane's call records and answers: of its own attempts, of a lane that is another by now, repeated, or run again. */
import { expect, test } from "vitest";
import { LANE_LOOK_MS, LEASES_MAX, type QueueConfig } from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import { app, refusal, succeeded, type World } from "../setup.test.js";
import { stepOf } from "./laneStep.js";
import {
  callOf,
  gateFor,
  laneNow,
  laneOf,
  leasesOf,
  nextOf,
  rowsOf,
  stepBy,
  toldWorld,
  type Awake,
  type Said,
} from "./laneStepSetup.test.js";
import { gateOf, inOne, jobsOf, MUTATION, pushedWorld, QUEUE } from "./wakeSetup.test.js";

const over = { answers: [], jobs: [], lookAfterMs: null, isOver: true };
const answered = (answer: string, ...leases: object[]) =>
  leases.map((lease) => ({ ...lease, answer }));
const statuses = async (world: World) => (await world.all("jobs")).map(({ status }) => status);

/** A polling lane that runs so many jobs, in a queue with so many that wait. */
async function polling(
  holds: number,
  wait = 0,
  { isTold = false, ...config }: Partial<QueueConfig> & { isTold?: boolean } = {},
) {
  const world = isTold ? await toldWorld(config) : await pushedWorld(config);
  await jobsOf(world, holds + wait);
  const lane = await laneOf(world, { cap: 5, holds });
  await gateOf(world, "guarded", { guard: lane.lane });
  return { world, lane, leases: await leasesOf(world, lane) };
}

// --- Recorded ------------------------------------------------------------------------------------

test("a lane that reports the end of a job is answered, and takes the next in the same call", async () => {
  const { world, lane, leases } = await polling(5, 2);
  const { reply } = await stepBy(world, lane, { finished: [succeeded(leases[0]!, "done")] });
  const answers = answered("ok", leases[0]!);
  expect(nextOf(reply)).toEqual({ answers, jobs: [5], lookAfterMs: null, isOver: false });
  expect(await statuses(world)).toEqual(["succeeded", ...Array(5).fill("running"), "pending"]);
  expect(await laneNow(world, lane)).toMatchObject({ state: "active", held: 5 });
});

test("an attempt that is not the lane's is answered as lost, and each other one recorded", async () => {
  const { world, lane, leases } = await polling(2);
  const stale = { ...leases[1]!, attempt: 7 };
  const { reply } = await stepBy(world, lane, {
    finished: [succeeded(stale), succeeded(leases[0]!)],
  });
  expect(reply.answers).toEqual([...answered("leaseLost", stale), ...answered("ok", leases[0]!)]);
  expect(await statuses(world)).toEqual(["succeeded", "running"]);
});

test("a call that reports more ends than a lane can have leases is refused", async () => {
  const { world, lane, leases } = await polling(1);
  const many = (count: number) => ({ finished: Array(count).fill(succeeded(leases[0]!)) });
  expect(await refusal(stepBy(world, lane, many(LEASES_MAX + 1)))).toMatchObject({
    code: "invalidArgument",
  });
  expect(await statuses(world)).toEqual(["running"]);
  const { reply } = await stepBy(world, lane, many(LEASES_MAX));
  expect(reply.answers).toHaveLength(LEASES_MAX);
});

test("a result that does not fit the rule of its queue is recorded as a failure, unless the app has checked it", async () => {
  const result = JSON.stringify({ kind: "string" });
  for (const [isChecked, ends] of [
    [true, ["succeeded", "failed"]],
    [false, ["succeeded", "succeeded"]],
  ] as const) {
    const { world, lane, leases } = await polling(2, 0, { result });
    const finished = [succeeded(leases[0]!, "text"), succeeded(leases[1]!, 5)];
    const call = await callOf(world, lane, { finished });
    if (isChecked) await world.t.mutation(internal.push.laneStep.stepLane, call);
    else await inOne(world, async (ctx) => stepOf(ctx, call));
    expect(await statuses(world)).toEqual(ends);
  }
});

test("the callback of a job is told in the call that records its end, and the lane goes on with its other jobs", async () => {
  const { world, lane, leases } = await polling(2, 1, { isTold: true });
  const { reply } = await stepBy(world, lane, { finished: [succeeded(leases[0]!)] });
  expect(nextOf(reply)).toMatchObject({ answers: answered("ok", leases[0]!), jobs: [2] });
  expect(await world.all("told")).toMatchObject([{ id: leases[0]!.id, status: "succeeded" }]);
  expect(await leasesOf(world, lane)).toMatchObject([leases[1]!, { attempt: 1 }]);
});

test("a callback finds the lane without the job that has ended", async () => {
  const { world, lane, leases } = await polling(1, 0, { isTold: true });
  let held = -1;
  app.onComplete = async ({ db }) => {
    held = (await db.get("sessions", lane.session)).leases.length;
  };
  await stepBy(world, lane, { finished: [succeeded(leases[0]!)] });
  expect(held).toBe(0);
});

test("a lease goes with an attempt that ended in a transaction of its own, and stays with one that runs", async () => {
  const { world, lane, leases } = await polling(3, 1);
  const [apart, running] = leases;
  await inOne(world, async ({ db }) => {
    const fields = { status: "succeeded", finishedAt: Date.now() } as const;
    await db.patch("jobs", apart!.id, fields);
  });
  const { reply } = await stepBy(world, lane, { over: [apart!, running!] });
  expect(nextOf(reply)).toMatchObject({ answers: [], jobs: [3] });
  expect((await leasesOf(world, lane)).map(({ id }) => id)).toEqual([
    ...leases.slice(1).map(({ id }) => id),
    (await world.all("jobs"))[3]!._id,
  ]);
});

test("a job that is deleted before the lane receives it takes none of its room, and one that it has received does", async () => {
  for (const [lastAckedCall, held] of [
    [0, 1],
    [1, 2],
  ] as const) {
    const { world, lane, leases } = await polling(2);
    await inOne(world, ({ db }) => db.delete("jobs", leases[0]!.id));
    await stepBy(world, lane, { lastAckedCall });
    expect(await leasesOf(world, lane)).toHaveLength(held);
    await inOne(world, ({ db }) => db.patch("sessions", lane.session, { leases: [] }));
    await inOne(world, ({ db }) => db.delete("jobs", leases[1]!.id));
  }
});

// --- Mutations -----------------------------------------------------------------------------------

const PAUSES = { ...MUTATION, handle: "function://;operate:pauseQueue" };

test("a handler that is a mutation runs in the call, which records its end; one that throws fails", async () => {
  for (const [handler, status] of [
    [PAUSES, "succeeded"],
    [MUTATION, "failed"],
  ] as const) {
    const world = await pushedWorld({ handler });
    const id = await world.enqueue({ queue: QUEUE });
    const lane = await laneOf(world, { cap: 1, holds: 1 });
    const { reply } = await stepBy(world, lane, { execute: await leasesOf(world, lane) });
    expect(reply).toEqual({ ...over, answers: answered("ok", { id, attempt: 1 }) });
    expect(await statuses(world)).toEqual([status]);
  }
});

test("where a handler pauses the queue the lane takes no job more", async () => {
  const world = await pushedWorld({ handler: PAUSES });
  for (let n = 0; n < 2; n += 1) await world.enqueue({ queue: QUEUE });
  const lane = await laneOf(world, { cap: 5, holds: 1 });
  await gateOf(world, "guarded", { guard: lane.lane });
  const { reply } = await stepBy(world, lane, { execute: await leasesOf(world, lane) });
  expect(reply).toMatchObject({ answers: { length: 1 }, jobs: [], isOver: true });
  expect(await gateFor(world, lane)).toMatchObject({ state: "quiet" });
});

// --- A lane that is another by now ---------------------------------------------------------------

/** The lane reports one job, and asks for a handler: both are answered as lost, and no row is written. */
async function isLost(world: World, lane: Awake, said: Said): Promise<void> {
  const jobs = await world.all("jobs");
  const [first, second] = jobs.map(({ _id: id, attempt }) => ({ id, attempt }));
  const before = await rowsOf(world);
  const ends = { finished: [succeeded(first!)], execute: [second!] };
  const { reply, functions } = await stepBy(world, lane, { ...ends, ...said });
  expect(reply).toEqual({ ...over, answers: answered("leaseLost", first!, second!) });
  expect(functions).toEqual([]);
  expect(await rowsOf(world)).toEqual(before);
}

test("a call of a lane that has gone, or is none, is answered as lost, and changes nothing", async () => {
  const { world, lane } = await polling(2, 1);
  await isLost(world, lane, { lane: "no id" });
  await isLost(world, lane, { lane: lane.session });
  await inOne(world, ({ db }) => db.delete("lanes", lane.lane));
  await isLost(world, lane, {});
});

test("a call of a lane whose session has gone, or that was begun anew since, is answered as lost, and changes nothing", async () => {
  const { world, lane, leases } = await polling(2, 1);
  await isLost(world, lane, { generation: 1 });
  await inOne(world, ({ db }) => db.patch("sessions", lane.session, { generation: 1 }));
  await isLost(world, lane, { generation: 0 });
  await inOne(world, async ({ db }) => {
    await db.delete("sessions", lane.session);
    for (const { id } of leases) await db.patch("jobs", id, { status: "succeeded" });
  });
  await isLost(world, lane, { generation: 0 });
});

test("also a lane that has lost its place gives back the places of its process", async () => {
  const { world, lane } = await polling(0);
  await inOne(world, ({ db }) => db.insert("grants", { process: lane.process, extra: 3 }));
  const { reply } = await stepBy(world, lane, { lane: "no id", in: { givenBack: 2 } });
  expect(reply).toEqual(over);
  expect(await world.all("grants")).toMatchObject([{ extra: 1, givenBack: 2 }]);
});

test("the first call of a lane that was handed over deletes the row that says so", async () => {
  const { world, lane } = await polling(0);
  const start = { lane: lane.lane, generation: 0, callSeq: 1, jobs: [] };
  const rows = await inOne(world, async ({ db }) => {
    const row = { process: lane.process, generation: 0, start };
    const of = async () => db.insert("handOvers", { ...row, seq: db.vars.commitTs });
    return [await of(), await of()];
  });
  await stepBy(world, lane, { handOver: rows[0]! });
  expect((await world.all("handOvers")).map(({ _id }) => _id)).toEqual([rows[1]]);
});

test("a lane that has left, and did not receive that, is told so again, with its ends answered as lost", async () => {
  const { world, lane } = await polling(0, 1);
  await inOne(world, ({ db }) => db.patch("sessions", lane.session, { state: "idle" }));
  const before = await rowsOf(world);
  const lease = { id: before.jobs[0]!._id, attempt: 1 };
  const { reply, functions } = await stepBy(world, lane, { finished: [succeeded(lease)] });
  expect(reply).toEqual({ ...over, answers: answered("leaseLost", lease) });
  expect(functions).toEqual([]);
  expect(await rowsOf(world)).toEqual(before);
});

test("a lane whose scheduled function was canceled records what it reports, takes no job, and leaves the gate to the janitor", async () => {
  const { world, lane, leases } = await polling(2, 1);
  const { reply: first } = await stepBy(world, lane);
  expect(first.jobs).toHaveLength(1);
  await jobsOf(world, 1);
  await inOne(world, ({ scheduler }) => scheduler.cancel(lane.runsIn));
  const said = { finished: [succeeded(leases[0]!)], sentAt: Date.now() - 100 };
  const { reply, functions } = await stepBy(world, lane, said);
  expect(reply).toEqual({ ...over, answers: answered("ok", leases[0]!) });
  expect(functions.filter(({ name }) => name === "push/wake:wake")).toEqual([]);
  expect(await laneNow(world, lane)).toMatchObject({ cap: 5, state: "active", held: 2 });
  expect(await gateFor(world, lane)).toMatchObject({ state: "guarded", by: "it" });
  const [session] = await world.all("sessions");
  expect(session).toMatchObject({ callSeq: 3 });
});

// --- A repeated call -----------------------------------------------------------------------------

test("a repeated call changes nothing: it brings the jobs that the lane has yet to receive, and a look soon", async () => {
  const { world, lane, leases } = await polling(2, 2);
  const before = await rowsOf(world);
  const said = { callSeq: 1, finished: [succeeded(leases[0]!)] };
  const again = async (lastAckedCall: number) =>
    nextOf((await stepBy(world, lane, { ...said, lastAckedCall })).reply);
  const repeated = { answers: [], lookAfterMs: LANE_LOOK_MS, isOver: false };
  expect(await again(0)).toEqual({ ...repeated, jobs: [0, 1] });
  expect(await again(1)).toEqual({ ...repeated, jobs: [] });
  expect(await rowsOf(world)).toEqual(before);
});

test("a call that comes after a later one is refused", async () => {
  const { world, lane } = await polling(1);
  await inOne(world, ({ db }) => db.patch("sessions", lane.session, { callSeq: 3 }));
  expect(await refusal(stepBy(world, lane, { callSeq: 2 }))).toMatchObject({ code: "staleCall" });
});

// --- A call that is run again after a conflict ---------------------------------------------------

/** One call with the end of the first job, made so long ago. */
async function late(
  ms: number,
  { isTold = false, said = {} }: { isTold?: boolean; said?: Said } = {},
) {
  const { world, lane, leases } = await polling(2, 1, { isTold });
  const finished = [succeeded(leases[0]!)];
  const { reply } = await stepBy(world, lane, { finished, sentAt: Date.now() - ms, ...said });
  return {
    world,
    lane,
    leases,
    reply: nextOf(reply),
  };
}

test("a call that is run again records ends, takes no job, and the lane calls again at once", async () => {
  const { world, lane, leases, reply } = await late(21);
  expect(reply).toEqual({
    answers: answered("ok", leases[0]!),
    jobs: [],
    lookAfterMs: 0,
    isOver: false,
  });
  expect(await statuses(world)).toEqual(["succeeded", "running", "pending"]);
  const session = (await world.all("sessions"))[0];
  expect(session).toMatchObject({ callSeq: 2, state: "active", leases: { length: 1 } });
  expect(await laneNow(world, lane)).toMatchObject({ cap: 5 });
  expect((await late(20)).reply).toMatchObject({ jobs: [2], lookAfterMs: LANE_LOOK_MS });
});

test("a call that is run again brings the jobs that the lane has yet to receive, and lanes handed to its process", async () => {
  const { leases, reply } = await late(100, {
    said: {
      lastAckedCall: 0,
      finished: [],
      over: [{ id: "none", attempt: 1 }],
      in: { receivedUpTo: 0n },
    },
  });
  expect(leases).toHaveLength(2);
  expect(reply).toMatchObject({ jobs: [0, 1], lookAfterMs: 0, handedOver: { lanes: [] } });
});

test("a call that reports no end takes jobs however often it is run again", async () => {
  const { reply } = await late(100, { said: { finished: [] } });
  expect(reply).toMatchObject({ jobs: [2], lookAfterMs: LANE_LOOK_MS });
});

test("a call with a handler that is run again takes no job either", async () => {
  const world = await pushedWorld({ handler: MUTATION });
  await jobsOf(world, 2);
  const lane = await laneOf(world, { cap: 5, holds: 1 });
  await gateOf(world, "guarded", { guard: lane.lane });
  const execute = await leasesOf(world, lane);
  const { reply } = await stepBy(world, lane, { execute, sentAt: Date.now() - 100 });
  expect(reply).toMatchObject({ answers: answered("ok", execute[0]!), jobs: [], lookAfterMs: 0 });
});

test("a call that has been run again for long leaves out the app's code: callbacks and handlers have no answer", async () => {
  const once = await late(199, { isTold: true });
  expect(once.reply.answers).toEqual(answered("ok", once.leases[0]!));
  const again = await late(200, { isTold: true });
  expect(again.reply).toEqual({ answers: [], jobs: [], lookAfterMs: 0, isOver: false });
  expect(await statuses(again.world)).toEqual(["running", "running", "pending"]);
  expect(await again.world.all("told")).toEqual([]);
});

test("a call that has been run again for long records the ends of jobs that tell the app nothing, and of ones that have gone", async () => {
  const { leases, reply } = await late(200);
  expect(reply.answers).toEqual(answered("ok", leases[0]!));
  const gone = { id: "gone", attempt: 1 };
  const lost = await late(200, { isTold: true, said: { finished: [succeeded(gone)] } });
  expect(lost.reply.answers).toEqual(answered("leaseLost", gone));
});

test("a call that has been run again for long runs no handler", async () => {
  const world = await pushedWorld({ handler: MUTATION });
  await jobsOf(world, 1);
  const lane = await laneOf(world, { cap: 5, holds: 1 });
  const execute = await leasesOf(world, lane);
  const { reply } = await stepBy(world, lane, { execute, sentAt: Date.now() - 200 });
  expect(reply).toEqual({ answers: [], jobs: [], lookAfterMs: 0, isOver: false });
  expect(await statuses(world)).toEqual(["running"]);
});

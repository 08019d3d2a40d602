/** A lane that is awake in an open process, as tests of its calls prepare it, and one call of it. */
import { expect, test } from "vitest";
import {
  COMPONENT_VERSION,
  LANE_WIDTH,
  lifeOf,
  type LaneReply,
  type LaneStep,
  type ProcessReport,
  type QueueConfig,
} from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import { takeFrom } from "../claim/claim.js";
import { ensureJanitor } from "../loops/timers.js";
import { getQueue } from "../rows/queues.js";
import { closeCall } from "../rows/sessions.js";
import { newToldWorld, type World } from "../setup.test.js";
import { newLane } from "./lanes.js";
import {
  inOne,
  jobsOf,
  planned,
  pushedWorld,
  QUEUE,
  slotsOf,
  type Planned,
} from "./wakeSetup.test.js";

/** A lane that is awake, its process, and the scheduled function in which both run. */
export interface Awake {
  lane: Id<"lanes">;
  session: Id<"sessions">;
  process: Id<"processes">;
  runsIn: Id<"_scheduled_functions">;
}

interface Plan {
  cap: number;
  /** So many of the jobs that wait are its own, taken by its first call. */
  holds?: number;
  under?: number;
  state?: Doc<"processes">["state"];
}

/** A queue whose jobs tell the app how they ended. */
export const toldWorld = (config: Partial<QueueConfig> = {}) => pushedWorld(config, newToldWorld);

/** A lane that has made one call, and has received its answer. */
export async function laneOf(
  world: World,
  { cap, holds = 0, under, state = "open" }: Plan,
): Promise<Awake> {
  const [process] = await slotsOf(world, { state });
  return await inOne(world, async (ctx) => {
    const now = Date.now();
    const queue = await getQueue(ctx.db, QUEUE);
    const bound = { cap, under: under ?? queue.config.maxParallelism };
    const { lane, session } = await newLane(ctx, queue, 0, now, bound);
    const runsIn = (await ctx.db.get("processes", process!))!.scheduledId!;
    const open = new Map([[QUEUE, queue]]);
    const look = { lane: { everywhere: true } };
    const { leases } =
      holds === 0
        ? { leases: [] }
        : await takeFrom(ctx, session, 1, open, { max: holds }, now, look);
    expect(leases).toHaveLength(holds);
    const call = { callSeq: 1, claimed: leases, cursor: undefined, isAwake: true };
    const { expiresAt } = await closeCall(ctx.db, session, call, now);
    await ctx.db.patch("sessions", session._id, { runsIn });
    if (holds > 0) await ensureJanitor(ctx, expiresAt, now, undefined);
    return { lane: lane._id, session: session._id, process: process!, runsIn };
  });
}

export type Said = Partial<Omit<LaneStep, "in">> & {
  /** Beside the usual report of its process; `null`: it runs in no process. */
  in?: Partial<ProcessReport> | null;
};

/** The next call of the lane, which has received all answers. */
export async function callOf(
  world: World,
  { lane, session, process }: Awake,
  { in: report, ...said }: Said = {},
): Promise<LaneStep> {
  const row = (await world.all("sessions")).find(({ _id }) => _id === session);
  const { callSeq = 0, generation = 0 } = row ?? {};
  const usual = {
    ...{ process, generation: 0, version: COMPONENT_VERSION },
    ...{ endsAt: Date.now() + lifeOf(false), places: LANE_WIDTH, isFull: false },
  };
  return {
    ...{ lane, generation, callSeq: callSeq + 1, lastAckedCall: callSeq, looks: 0 },
    ...{ finished: [], execute: [] },
    ...(report === null ? {} : { in: { ...usual, ...report } }),
    ...said,
  };
}

/** One call of the lane: its answer, the functions that it has scheduled, and how many jobs it brings. */
export async function stepBy(
  world: World,
  lane: Awake,
  said: Said = {},
): Promise<{ reply: LaneReply; functions: Planned[] }> {
  const before = (await planned(world)).length;
  const call = await callOf(world, lane, said);
  const reply: LaneReply = await world.t.mutation(internal.push.laneStep.stepLane, call);
  return { reply, functions: (await planned(world)).slice(before) };
}

/** What a lane is told of its next step, without the jobs. */
export function nextOf({ jobs, ...reply }: LaneReply) {
  return { ...reply, jobs: jobs.map(({ job }) => job.payload) };
}

/** The gate, and whether this lane is the one that it names. */
export async function gateFor(world: World, { lane }: Awake) {
  const [gate] = await world.all("gates");
  const [door] = await world.all("doors");
  if (gate === undefined) return null;
  const { state, guard, isVain = false } = gate;
  const by = guard === undefined ? "none" : guard === lane ? "it" : "another";
  return { state, by, isVain, isOpen: door?.open === true };
}

/** The lane's cap, the bound under which it stands, and its session's state and leases. */
export async function laneNow(world: World, { lane, session }: Awake) {
  const row = (await world.all("lanes")).find(({ _id }) => _id === lane)!;
  const of = (await world.all("sessions")).find(({ _id }) => _id === session)!;
  return { cap: row.cap, under: row.under, state: of.state, held: of.leases.length };
}

/** All rows that a call may write. */
export async function rowsOf(world: World) {
  return {
    ...{ jobs: await world.all("jobs"), sessions: await world.all("sessions") },
    ...{ lanes: await world.all("lanes"), gates: await world.all("gates") },
    ...{ doors: await world.all("doors"), processes: await world.all("processes") },
    ...{ timers: await world.all("timers"), grants: await world.all("grants") },
    ...{ waiting: await world.all("waitingQueues"), periods: await world.all("periods") },
  };
}

/** The queue's configuration changes. */
export async function configure(world: World, changed: Partial<QueueConfig>): Promise<void> {
  await inOne(world, async ({ db }) => {
    const { _id, config } = (await db.query("queues").first())!;
    await db.patch("queues", _id, { config: { ...config, ...changed } });
  });
}

/** The gate says that all looks of the polling lane were in vain. */
export async function setVain(world: World): Promise<void> {
  await inOne(world, async ({ db }) => {
    await db.patch("gates", (await db.query("gates").first())!._id, { isVain: true });
  });
}

/** The leases of the lane. */
export async function leasesOf(world: World, { session }: Awake) {
  const of = (await world.all("sessions")).find(({ _id }) => _id === session)!;
  return of.leases.map(({ id, attempt }) => ({ id, attempt }));
}

test("a lane that still runs its only job is told to wait for it, and nothing is written", async () => {
  const world = await pushedWorld();
  await jobsOf(world, 1);
  const lane = await laneOf(world, { cap: 1, holds: 1 });
  const before = await rowsOf(world);
  const { reply, functions } = await stepBy(world, lane);
  expect(reply).toEqual({ answers: [], jobs: [], lookAfterMs: null, isOver: false });
  expect(functions).toEqual([]);
  expect(await rowsOf(world)).toEqual(before);
});

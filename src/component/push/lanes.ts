/**
 * The rows of lanes: how many jobs each may run. Only this file writes `lanes`.
 *
 * The promise: the caps of a queue's lanes add up to its `maxParallelism` at most, and no lane begins more than its
 * cap. A transaction that raises a cap has read all of the queue's lanes for real. A lane that does not poll gives away
 * the room that it does not use, so that a wake can start another with it. A lane that goes to sleep keeps a cap of
 * one, for a wake that brings one job alone: such wakes neither write nor read a row in common, so that jobs which come
 * one by one never conflict. A wake that needs that room takes it, after a real read of the session that says that the
 * lane sleeps.
 */
import { v, type Infer } from "convex/values";
import { HANDLERS_PER_STEP, LANES_READ, LANE_WIDTH, someOf } from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import { internalQuery, type DatabaseReader, type MutationCtx } from "../_generated/server.js";
import { enterLane, type Session } from "../rows/sessions.js";
import { mountViewOf, vMountView } from "./mount.js";
import { findQueue, getQueue, type Queue } from "../rows/queues.js";
import { findGate, quieten, scheduleWake, type Gate } from "../edges/wakes.js";

export type Lane = Doc<"lanes">;

/** All lanes of a queue, for real. */
export async function lanesOf(db: DatabaseReader, queue: string): Promise<Lane[]> {
  return await db
    .query("lanes")
    .withIndex("queue", (q) => q.eq("queue", queue))
    .take(LANES_READ);
}

/**
 * How many more jobs the queue may run, besides the caps of these lanes. Below 0 where `maxParallelism` was lowered.
 */
export function freeOf(queue: Queue, lanes: readonly Lane[]): number {
  return queue.config.maxParallelism - lanes.reduce((sum, { cap }) => sum + cap, 0);
}

// --- The reads of a wake -----------------------------------------------------------------------------

const vSleeper = v.object({ lane: v.id("lanes"), session: v.id("sessions"), cap: v.number() });
export type Sleeper = Infer<typeof vSleeper>;

const vStanding = v.object({
  /** Lanes that sleep. */
  asleep: v.array(vSleeper),
  /** So many lanes are awake that one is to poll for all. */
  otherLanesAwake: v.boolean(),
  /** So many there are. */
  count: v.number(),
  mount: vMountView,
});
export type Standing = Infer<typeof vStanding>;

/** With more lanes of a queue awake, a lane started for a single job also polls for more. */
const LANES_BESIDE = 2;
/** Lanes of a queue of which it is asked whether they sleep. */
export const LANES_ASKED = 24;

/** A queue's lanes and the mount's slots. To be called with `useStaleSnapshot`. */
export const readLanes = internalQuery({
  args: { queue: v.string(), class: v.string() },
  returns: vStanding,
  handler: async ({ db }, { queue: name, class: of }): Promise<Standing> => {
    const [queue, lanes] = await Promise.all([findQueue(db, name), lanesOf(db, name)]);
    const asked = someOf(lanes, LANES_ASKED);
    const [asleep, mount] = await Promise.all([
      sleepersAmong(db, asked),
      mountViewOf(db, of, queue?.config),
    ]);
    return {
      asleep,
      otherLanesAwake: asked.length - asleep.length > LANES_BESIDE,
      count: lanes.length,
      mount,
    };
  },
});

export interface LaneAndSession {
  lane: Lane;
  session: Session;
}

/** The lane and its session for real, if the lane sleeps. */
export async function ifAsleep(
  db: DatabaseReader,
  seen: Pick<Sleeper, "lane" | "session">,
): Promise<LaneAndSession | null> {
  const [lane, session] = await Promise.all([
    db.get("lanes", seen.lane),
    db.get("sessions", seen.session),
  ]);
  return lane === null || session === null || session.state === "active" ? null : { lane, session };
}

/** A lane that sleeps and has room for one job by itself. */
export async function spareLane(
  db: DatabaseReader,
  { config }: Queue,
  { asleep }: Standing,
): Promise<LaneAndSession | null> {
  const spares = asleep.filter(({ cap }) => cap === 1);
  const seen = spares[Math.floor(Math.random() * spares.length)];
  const found = seen === undefined ? null : await ifAsleep(db, seen);
  return found?.lane.cap === 1 && found.lane.under === config.maxParallelism ? found : null;
}

/** A lane of the queue that sleeps for sure: one with room first. */
export async function sleepingLane(
  db: DatabaseReader,
  asleep: readonly Sleeper[],
): Promise<LaneAndSession | null> {
  const first = asleep.find(({ cap }) => cap === 1) ?? asleep[0];
  return first === undefined ? null : await ifAsleep(db, first);
}

/** Lanes that a snapshot shows asleep, with their caps of now: a lane that has more room than for one job is awake. */
export function withCaps(asleep: readonly Sleeper[], lanes: readonly Lane[]): Sleeper[] {
  return asleep.flatMap((seen) => {
    const cap = lanes.find(({ _id }) => _id === seen.lane)?.cap ?? Infinity;
    return cap <= 1 ? [{ ...seen, cap }] : [];
  });
}

/**
 * Lanes with room for one job that have gone to sleep since a snapshot, for real: one that did so before its queue was
 * marked as full has scheduled no wake. The other lanes run a job, and read the mark when it ends.
 */
export async function asleepSince(
  db: DatabaseReader,
  lanes: readonly Lane[],
  asleep: readonly Sleeper[],
): Promise<Sleeper[]> {
  const unseen = lanes.filter(
    ({ _id, cap }) => cap === 1 && !asleep.some(({ lane }) => lane === _id),
  );
  return await sleepersAmong(db, someOf(unseen, LANES_ASKED));
}

export async function newLane(
  ctx: MutationCtx,
  { name: queue }: Queue,
  number: number,
  now: number,
  fields: Partial<Lane> = {},
): Promise<LaneAndSession> {
  const id = await enterLane(ctx.db, queue, number, now, (session) =>
    ctx.db.insert("lanes", { queue, cap: 0, ...fields, session }),
  );
  const lane = (await ctx.db.get("lanes", id))!;
  return { lane, session: (await ctx.db.get("sessions", lane.session))! };
}

/** Lanes that are kept for jobs that come alone: of wakes at the same moment few pick the same. Measured: `docs/internals/choices/push.md`. */
const SPARES = 8;
/**
 * Lanes for jobs that come alone at the same moment, as far as there is room beside these lanes and one more job: all
 * in one transaction, since wakes that have none conflict. A queue with jobs that never come at the same moment has one
 * lane.
 */
export async function ensureSpares(
  ctx: MutationCtx,
  queue: Queue,
  lanes: readonly Lane[],
  now: number,
): Promise<void> {
  const { maxParallelism: under } = queue.config;
  const count = lanes.length;
  if (count === 0) return;
  const missing = Math.min(SPARES - count - 1, freeOf(queue, lanes) - 2);
  for (let i = 0; i < missing; i += 1)
    await newLane(ctx, queue, count + 1 + i, now, { under, cap: 1 });
}

// --- Caps ----------------------------------------------------------------------------------------

/** Gives a sleeping lane that begins its cap. One that keeps its room for one job is not written. */
export async function awaken(
  ctx: MutationCtx,
  lane: Lane,
  cap: number,
  under: number,
): Promise<void> {
  if (lane.cap !== cap || lane.under !== under)
    await ctx.db.patch("lanes", lane._id, { cap, under });
}

/** Takes their room from lanes that sleep, until as much is free. Returns how much there is. */
export async function makeRoom(
  ctx: MutationCtx,
  queue: Queue,
  lanes: readonly Lane[],
  needed: number,
  asleep: readonly Sleeper[],
): Promise<number> {
  let free = freeOf(queue, lanes);
  for (const { _id } of lanes) {
    if (free >= needed) break;
    const seen = asleep.find(({ lane, cap }) => lane === _id && cap === 1);
    const found = seen === undefined ? null : await ifAsleep(ctx.db, seen);
    if (found?.lane.cap !== 1) continue;
    await ctx.db.patch("lanes", _id, { cap: 0, under: undefined });
    free += 1;
  }
  return free;
}

/** The most that a lane may hold, and the lanes that were found asleep and whose room is counted in it. */
export interface Width {
  width: number;
  asleep: readonly Sleeper[];
}

/**
 * The most that the lane may hold. A lane that has as much as a lane can have, under the `maxParallelism` of today,
 * need not read the other lanes: it does not depend on lanes with caps that change with their jobs. Nor does one that
 * has no reason to grow: half of its room is free; or `isWideEnough`, since every new job has a wake of its own.
 */
export async function widthFor(
  ctx: MutationCtx,
  queue: Queue,
  lane: Lane,
  { running, isWideEnough }: { running: number; isWideEnough: boolean },
): Promise<Width> {
  const { maxParallelism } = queue.config;
  const most = widthOf(queue, maxParallelism);
  const hasRoom = lane.cap - running >= Math.max(ROOM, lane.cap / 2);
  if (lane.under === maxParallelism && (lane.cap === most || hasRoom || isWideEnough))
    return { width: lane.cap, asleep: [] };
  const lanes = await lanesOf(ctx.db, queue.name);
  const others = lanes.filter(({ _id }) => _id !== lane._id);
  const free = freeOf(queue, others);
  if (free >= most || !others.some(({ cap }) => cap === 1))
    return { width: widthOf(queue, free), asleep: [] };
  const asleep: Sleeper[] = await ctx.runQuery(
    internal.push.lanes.sleepingLanes,
    { queue: queue.name },
    { useStaleSnapshot: true },
  );
  return { width: widthOf(queue, free + asleep.length), asleep };
}

/** Lanes that sleep and have room for one job. To be called with `useStaleSnapshot`. */
export const sleepingLanes = internalQuery({
  args: { queue: v.string() },
  returns: v.array(vSleeper),
  handler: async ({ db }, { queue }): Promise<Sleeper[]> => {
    const lanes = (await lanesOf(db, queue)).filter(({ cap }) => cap === 1);
    return await sleepersAmong(db, someOf(lanes, LANES_ASKED));
  },
});

async function sleepersAmong(db: DatabaseReader, lanes: readonly Lane[]): Promise<Sleeper[]> {
  const sessions = await Promise.all(lanes.map(({ session }) => db.get("sessions", session)));
  return lanes
    .filter((_, i) => sessions[i]?.state !== "active")
    .map(({ _id: lane, session, cap }) => ({ lane, session, cap }));
}

/**
 * Gives the lane another cap. It may hold more than its `width` where that has become less: then it drains to it. It grows into
 * the room of the lanes that were counted: another snapshot read may ask about other lanes, and find fewer of them asleep.
 */
export async function setCap(
  ctx: MutationCtx,
  queue: Queue,
  lane: Lane,
  { cap, width, asleep }: Width & { cap: number },
): Promise<void> {
  const under = cap <= width ? queue.config.maxParallelism : undefined;
  if (under !== undefined && cap > lane.cap) await growInto(ctx, queue, lane, cap, asleep);
  if (lane.cap !== cap || lane.under !== under)
    await ctx.db.patch("lanes", lane._id, { cap, under });
}

/** Takes their room from lanes that sleep, as far as a lane needs it that is to have this cap. */
async function growInto(
  ctx: MutationCtx,
  queue: Queue,
  lane: Lane,
  cap: number,
  asleep: readonly Sleeper[],
): Promise<void> {
  const others = (await lanesOf(ctx.db, queue.name)).filter(({ _id }) => _id !== lane._id);
  const free = await makeRoom(ctx, queue, others, cap, asleep);
  if (free < cap) throw new Error("The room that the lane was to have has been taken.");
}

/** The lane ends, or its function has ended: it keeps the room of one job, if it was given any by the queue's limit of then. */
export async function putToSleep(ctx: MutationCtx, lane: Lane): Promise<void> {
  const cap = lane.cap > 0 && lane.under !== undefined ? 1 : 0;
  if (lane.cap !== cap) await ctx.db.patch("lanes", lane._id, { cap });
}

/**
 * A lane with a scheduled function that has ended silently: its jobs have been dealt with, and its capacity is free. If
 * it was the polling lane, none polls now.
 */
export async function loseLane(ctx: MutationCtx, id: Id<"lanes">): Promise<void> {
  const lane = await ctx.db.get("lanes", id);
  if (lane === null) return;
  await putToSleep(ctx, lane);
  const queue = await getQueue(ctx.db, lane.queue);
  const gate = await findGate(ctx.db, queue.name);
  if (guardsIt(gate, id)) await quieten(ctx, gate, queue);
  else if (gate?.state === "full") await scheduleWake(ctx, queue);
}

/** Whether this lane is the polling one. */
export function guardsIt(gate: Gate | null, id: Id<"lanes">): boolean {
  return (gate?.state === "guarded" || gate?.state === "leaving") && gate.guard === id;
}

/** A lane has no beat: it lives while the scheduled function in which it runs is to run, or runs. */
export async function isLaneAlive(ctx: MutationCtx, { state, runsIn }: Session): Promise<boolean> {
  return state === "active" && runsIn !== undefined && (await runs(ctx.db, runsIn));
}

/** Whether a scheduled function is to run, or runs. Read for real: its start and end conflict. */
export async function runs(
  db: DatabaseReader,
  scheduledId: Id<"_scheduled_functions">,
): Promise<boolean> {
  const scheduled = await db.system.get("_scheduled_functions", scheduledId);
  return scheduled?.state.kind === "pending" || scheduled?.state.kind === "inProgress";
}

/** Whether any lane of the queue is awake, as far as so many show: the ones that may run most, of the first few. */
export async function isAnyAwake(
  db: DatabaseReader,
  queue: string,
  asked: number,
): Promise<boolean> {
  const lanes = await db
    .query("lanes")
    .withIndex("queue", (q) => q.eq("queue", queue))
    .take(LANES_ASKED);
  const likely = lanes.sort((a, b) => b.cap - a.cap).slice(0, asked);
  for (const { session } of likely)
    if ((await db.get("sessions", session))?.state === "active") return true;
  return false;
}

/** A lane that has slept for so long goes, with its session. */
export async function forgetLane(ctx: MutationCtx, id: Id<"lanes">): Promise<void> {
  if ((await ctx.db.get("lanes", id)) !== null) await ctx.db.delete("lanes", id);
}

/** A lane with less room than this grows, if it can. */
const ROOM = 2;

/**
 * The most that one lane may run where the other lanes leave so much. Mutations run in its calls, one after another:
 * jobs beyond one call only wait, and are written with the lane's leases at each, while other lanes could run them.
 */
export function widthOf({ config }: Queue, free: number): number {
  const most = config.handler?.kind === "mutation" ? HANDLERS_PER_STEP : LANE_WIDTH;
  return Math.max(0, Math.min(most, free));
}

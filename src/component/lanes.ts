/**
 * The rows of lanes: who is awake, how many jobs each may run, and what is left. Only this file writes `lanes`.
 *
 * The promise: the caps of a queue's lanes, and one for each that is a spare, add up to its `maxParallelism` at most, and no
 * lane begins more than its cap. Whoever raises a cap has read all of the queue's lanes for real, and takes the room of
 * spares where there is no other. A lane that does not look for more gives away the room that it does not use, so that a
 * wake can start another with it. One that goes to sleep keeps the room of one job, as a spare, for a wake that brings one
 * alone: such wakes neither write nor read a row in common, so that jobs which come one by one never meet.
 */
import { v, type Infer } from "convex/values";
import {
  HANDLERS_PER_STEP,
  LANES_BY_CLASS,
  LANES_READ,
  LANE_WIDTH,
  RUNS_BY_CLASS,
} from "../shared/index.js";
import { internal } from "./_generated/api.js";
import type { Doc, Id } from "./_generated/dataModel.js";
import { internalQuery, type DatabaseReader, type MutationCtx } from "./_generated/server.js";
import { enterLane } from "./holders.js";
import { findQueue, getQueue, type Queue } from "./queues.js";
import { findGate, quieten, scheduleWake, type Gate } from "./wakes.js";

export type Lane = Doc<"lanes">;

/** All lanes of a queue, for real. */
export async function lanesOf(db: DatabaseReader, queue: string): Promise<Lane[]> {
  return await db
    .query("lanes")
    .withIndex("queue", (q) => q.eq("queue", queue))
    .take(LANES_READ);
}

/** How many more jobs the queue may run, besides what these lanes may. Below 0 where `maxParallelism` was lowered. */
export function freeOf(queue: Queue, lanes: readonly Lane[]): number {
  return queue.config.maxParallelism - lanes.reduce((sum, { cap }) => sum + cap, 0);
}

/** What all queues together leave: lanes that may still be started, and jobs that those may run. */
export async function leftOfAll(ctx: MutationCtx): Promise<{ lanes: number; runs: number }> {
  const { class: name } = await ctx.meta.getDeploymentMetadata();
  return await leftOfClass(ctx.db, name);
}

async function leftOfClass(
  db: DatabaseReader,
  name: string,
): Promise<{ lanes: number; runs: number }> {
  const inState = (state: Lane["state"]) =>
    db
      .query("lanes")
      .withIndex("state", (q) => q.eq("state", state))
      .take(LANES_READ);
  const all = (await Promise.all([inState("awake"), inState("draining")])).flat();
  const runs = all.reduce((sum, { cap }) => sum + cap, 0);
  return {
    lanes: (LANES_BY_CLASS[name] ?? LANES_BY_CLASS.s16!) - all.length,
    runs: (RUNS_BY_CLASS[name] ?? RUNS_BY_CLASS.s16!) - all.length - runs,
  };
}

/** A lane of the queue that is asleep: one that is there, a spare first, or a new one. */
export async function sleepingLane(
  ctx: MutationCtx,
  queue: Queue,
  lanes: readonly Lane[],
  now: number,
): Promise<Lane> {
  const asleep = lanes.filter(({ state }) => state === "asleep");
  return (
    asleep.find((one) => one.isSpare) ?? asleep[0] ?? (await newLane(ctx, queue, lanes.length, now))
  );
}

async function newLane(
  ctx: MutationCtx,
  { name: queue }: Queue,
  number: number,
  now: number,
  fields: Partial<Lane> = {},
): Promise<Lane> {
  const row = { queue, state: "asleep" as const, cap: 0, generation: 0, startedAt: now, ...fields };
  const id = await enterLane(ctx.db, queue, number, now, (holder) =>
    ctx.db.insert("lanes", { ...row, holder }),
  );
  return (await ctx.db.get("lanes", id))!;
}

/**
 * Spares for jobs that come alone, as far as there is room beside these lanes and one more job: all of them at once, since
 * wakes that have none would meet.
 */
export async function ensureSpares(
  ctx: MutationCtx,
  queue: Queue,
  lanes: readonly Lane[],
  now: number,
): Promise<void> {
  const { maxParallelism: under } = queue.config;
  const room = freeOf(queue, lanes) - lanes.filter(({ isSpare }) => isSpare).length - 1;
  const missing = Math.min(SPARES - lanes.length - 1, room);
  for (let i = 0; i < missing; i += 1)
    await newLane(ctx, queue, lanes.length + 1 + i, now, { under, isSpare: true });
}

/**
 * A spare of the queue, as a snapshot shows it, that may be started with one job; or `null`: then all lanes are to be read.
 * What other queues leave is taken from there, too: a lane too many of each queue at the same moment may be started, out of
 * the half of the class that is the app's.
 */
export async function findSpare(ctx: MutationCtx, queue: string): Promise<Spare | null> {
  const { class: of } = await ctx.meta.getDeploymentMetadata();
  const args = { queue, class: of };
  const found: Spare[] = await ctx.runQuery(internal.lanes.spares, args, {
    useStaleSnapshot: true,
  });
  return found[Math.floor(Math.random() * found.length)] ?? null;
}

/** That one, if it still is a spare. */
export async function spareLane(
  ctx: MutationCtx,
  { config }: Queue,
  seen: Spare,
): Promise<Lane | null> {
  // Its holder is fetched with it, for whoever starts it.
  const [lane] = await Promise.all([
    ctx.db.get("lanes", seen.lane),
    ctx.db.get("holders", seen.holder),
  ]);
  return lane !== null && isSpare(lane, config.maxParallelism) ? lane : null;
}

const vSpare = v.object({
  lane: v.id("lanes"),
  holder: v.id("holders"),
  /** So many lanes are awake beside it that somebody is to look for all. */
  areMany: v.boolean(),
});
export type Spare = Infer<typeof vSpare>;

function isSpare(lane: Lane, under: number): boolean {
  return lane.state === "asleep" && lane.isSpare === true && lane.under === under;
}

/** A queue's spares, where there is room beside other queues. */
export const spares = internalQuery({
  args: { queue: v.string(), class: v.string() },
  returns: v.array(vSpare),
  handler: async ({ db }, { queue, class: of }): Promise<Spare[]> => {
    const [row, lanes, left] = await Promise.all([
      findQueue(db, queue),
      lanesOf(db, queue),
      leftOfClass(db, of),
    ]);
    const under = row?.config.maxParallelism ?? 0;
    const awake = lanes.filter(({ state }) => state !== "asleep").length;
    // The last slot there is is for one that looks for others.
    if (left.lanes <= 1 || left.runs <= 0) return [];
    const found = lanes.filter((lane) => isSpare(lane, under));
    const areMany = awake > LANES_BESIDE;
    return found.map(({ _id: lane, holder }) => ({ lane, holder, areMany }));
  },
});

/** Beside more lanes of a queue, one that comes for one job alone looks for more. */
const LANES_BESIDE = 2;
/** Lanes of a queue whose jobs come one by one: of wakes at the same moment few start the same. Roads not taken: `docs/push.md`. */
const SPARES = 8;

/** The lane starts, under a new generation: what was scheduled before does nothing any more. */
export async function awaken(
  ctx: MutationCtx,
  lane: Lane,
  fields: {
    cap: number;
    under: number;
    scheduledId: Id<"_scheduled_functions">;
    startedAt: number;
    sweep: Id<"timers"> | undefined;
  },
): Promise<void> {
  await ctx.db.patch("lanes", lane._id, {
    ...{ state: "awake", isSpare: undefined, generation: lane.generation + 1, ...fields },
  });
}

/** The lane goes on under another scheduled function. */
export async function runsUnder(
  ctx: MutationCtx,
  id: Id<"lanes">,
  schedule: (queue: Queue) => Promise<Id<"_scheduled_functions">>,
): Promise<void> {
  const lane = (await ctx.db.get("lanes", id))!;
  const scheduledId = await schedule(await getQueue(ctx.db, lane.queue));
  await ctx.db.patch("lanes", id, { scheduledId });
}

/** Takes their room from spares, as far as there is no other for a lane that is to have this cap. */
export async function makeRoom(
  ctx: MutationCtx,
  queue: Queue,
  lanes: readonly Lane[],
  lane: Pick<Lane, "_id">,
  cap: number,
): Promise<void> {
  const others = lanes.filter(({ _id }) => _id !== lane._id);
  const spare = others.filter(({ isSpare }) => isSpare);
  const missing = cap + spare.length - freeOf(queue, others);
  for (const { _id } of spare.slice(0, Math.max(0, missing)))
    await ctx.db.patch("lanes", _id, { isSpare: undefined });
}

/**
 * The most that the lane may hold. One that has as much as a lane can have, under the `maxParallelism` of today, needs
 * nobody's leave: it does not depend on the others, who change their caps with their jobs. Nor does one that has no reason
 * to grow: half of its room is free; or `isContent`, since whatever comes has a wake of its own.
 */
export async function widthFor(
  ctx: MutationCtx,
  queue: Queue,
  lane: Lane,
  { running, isContent }: { running: number; isContent: boolean },
): Promise<number> {
  const { maxParallelism } = queue.config;
  const most = widthOf(queue, maxParallelism);
  const hasRoom = lane.cap - running >= Math.max(ROOM, lane.cap / 2);
  if (lane.under === maxParallelism && (lane.cap === most || hasRoom || isContent)) return lane.cap;
  const lanes = await lanesOf(ctx.db, queue.name);
  const width = widthOf(
    queue,
    freeOf(
      queue,
      lanes.filter(({ _id }) => _id !== lane._id),
    ),
  );
  if (width <= lane.cap) return width;
  const { runs } = await leftOfAll(ctx);
  return Math.min(width, lane.cap + Math.max(0, runs));
}

/** Gives the lane another cap. It may hold more than its `width` where that has become less: then it drains to it. */
export async function setCap(
  ctx: MutationCtx,
  queue: Queue,
  lane: Lane,
  { cap, width }: { cap: number; width: number },
): Promise<void> {
  const under = cap <= width ? queue.config.maxParallelism : undefined;
  if (cap > lane.cap) await makeRoom(ctx, queue, await lanesOf(ctx.db, queue.name), lane, cap);
  if (lane.cap !== cap || lane.under !== under)
    await ctx.db.patch("lanes", lane._id, { cap, under });
}

/** The lane takes nothing any more, and keeps what it runs. */
export async function drain(ctx: MutationCtx, lane: Lane, cap: number): Promise<void> {
  if (lane.state === "draining" && lane.cap === cap) return;
  await ctx.db.patch("lanes", lane._id, { state: "draining", cap });
}

/** The lane ends. Its slot of the scheduler is free, for whichever queue waits for one. */
export async function putToSleep(ctx: MutationCtx, lane: Lane): Promise<void> {
  const isSpare = lane.cap > 0 && lane.under !== undefined ? (true as const) : undefined;
  await ctx.db.patch("lanes", lane._id, { state: "asleep", cap: 0, isSpare });
  const waiting = await ctx.db
    .query("gates")
    .withIndex("needsSlot", (q) => q.eq("needsSlot", true))
    .take(WAITING_READ);
  const others = waiting.filter(({ queue }) => queue !== lane.queue);
  // From a random one on: none is passed over for ever by others that always wait.
  const start = Math.floor(Math.random() * others.length);
  const told = [...others.slice(start), ...others.slice(0, start)].slice(0, WAITING_TOLD);
  for (const { queue } of told) await scheduleWake(ctx, { name: queue });
}

/** Queues that wait for a slot, as far as they are seen; and how many are told of one that is free: one of them gets it. */
const WAITING_READ = 64;
const WAITING_TOLD = 4;

/**
 * A lane whose scheduled function has ended without a word: what it held has been dealt with, and its capacity is free.
 * If it was the one that looked, nobody does.
 */
export async function loseLane(ctx: MutationCtx, id: Id<"lanes">): Promise<void> {
  const lane = await ctx.db.get("lanes", id);
  if (lane === null || lane.state === "asleep") return;
  await putToSleep(ctx, lane);
  const queue = await getQueue(ctx.db, lane.queue);
  const gate = await findGate(ctx.db, queue.name);
  if (guardsIt(gate, id)) await quieten(ctx, gate, queue);
  else if (gate?.state === "full") await scheduleWake(ctx, queue);
}

/** Whether this lane is the one that looks. */
export function guardsIt(gate: Gate | null, id: Id<"lanes">): boolean {
  return (gate?.state === "guarded" || gate?.state === "leaving") && gate.guard === id;
}

/** A lane has no beat: it lives while its scheduled function is to run, or runs. */
export async function isLaneAlive(ctx: MutationCtx, id: Id<"lanes">): Promise<boolean> {
  const lane = await ctx.db.get("lanes", id);
  if (lane?.scheduledId === undefined || lane.state === "asleep") return false;
  const scheduled = await ctx.db.system.get("_scheduled_functions", lane.scheduledId);
  return scheduled?.state.kind === "pending" || scheduled?.state.kind === "inProgress";
}

/** A lane that has slept for so long goes, with its holder. Whether it may. */
export async function forgetLane(ctx: MutationCtx, id: Id<"lanes">): Promise<boolean> {
  const lane = await ctx.db.get("lanes", id);
  if (lane !== null && lane.state !== "asleep") return false;
  if (lane !== null) await ctx.db.delete("lanes", id);
  return true;
}

/** A lane with less room than this grows, if it can. */
const ROOM = 2;

/**
 * The most that one lane may run where the others leave so much. Mutations run in its calls, one after another: what does
 * not fit one call only waits, and is written with the lane's leases at each, while other lanes could run it.
 */
export function widthOf({ config }: Queue, free: number): number {
  const most = config.handler?.kind === "mutation" ? HANDLERS_PER_STEP : LANE_WIDTH;
  return Math.max(0, Math.min(most, free));
}

/**
 * The rows of lanes: who is awake, how many jobs each may run, and what is left. Only this file writes `lanes`.
 *
 * The promise: the caps of a queue's lanes add up to its `maxParallelism` at most, and no lane begins more than its cap.
 * Whoever raises a cap has read all of the queue's lanes for real. A lane that does not look for more gives away the room
 * that it does not use, so that a wake can start another with it.
 */
import {
  HANDLERS_PER_STEP,
  LANES_BY_CLASS,
  LANES_READ,
  LANE_WIDTH,
  RUNS_BY_CLASS,
} from "../shared/index.js";
import type { Doc, Id } from "./_generated/dataModel.js";
import type { DatabaseReader, MutationCtx } from "./_generated/server.js";
import { enterLane } from "./holders.js";
import { getQueue, type Queue } from "./queues.js";
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
  const inState = (state: Lane["state"]) =>
    ctx.db
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

/** A lane of the queue that is asleep: one that is there, or a new one. */
export async function sleepingLane(
  ctx: MutationCtx,
  queue: Queue,
  lanes: readonly Lane[],
  now: number,
): Promise<Lane> {
  const asleep = lanes.find(({ state }) => state === "asleep");
  if (asleep !== undefined) return asleep;
  const id = await enterLane(ctx.db, queue.name, lanes.length, now, (holder) =>
    ctx.db.insert("lanes", {
      ...{ queue: queue.name, holder, state: "asleep", cap: 0, generation: 0, startedAt: now },
    }),
  );
  return (await ctx.db.get("lanes", id))!;
}

/** The lane starts, under a new generation: what was scheduled before does nothing any more. */
export async function awaken(
  ctx: MutationCtx,
  lane: Lane,
  fields: {
    cap: number;
    under: number;
    scheduledId: Id<"_scheduled_functions">;
    startedAt: number;
  },
): Promise<void> {
  await ctx.db.patch("lanes", lane._id, {
    ...{ state: "awake", generation: lane.generation + 1, ...fields },
  });
}

/**
 * The most that the lane may hold. One that has as much as a lane can have, under the `maxParallelism` of today, needs
 * nobody's leave: it does not depend on the others, who change their caps with their jobs.
 */
export async function widthFor(ctx: MutationCtx, queue: Queue, lane: Lane): Promise<number> {
  const { maxParallelism } = queue.config;
  if (lane.under === maxParallelism && lane.cap === widthOf(queue, maxParallelism)) return lane.cap;
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
  { config }: Queue,
  lane: Lane,
  { cap, width }: { cap: number; width: number },
): Promise<void> {
  const under = cap <= width ? config.maxParallelism : undefined;
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
  await ctx.db.patch("lanes", lane._id, { state: "asleep", cap: 0 });
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

/**
 * The most that one lane may run where the others leave so much. Mutations run in its calls, one after another: what does
 * not fit one call only waits, and is written with the lane's leases at each, while other lanes could run it.
 */
export function widthOf({ config }: Queue, free: number): number {
  const most = config.handler?.kind === "mutation" ? HANDLERS_PER_STEP : LANE_WIDTH;
  return Math.max(0, Math.min(most, free));
}

/**
 * Step: one call of a lane. It reports how jobs ended, runs those whose handler is a mutation, takes what comes next, and is
 * told whether to look again, to wait, or to end.
 *
 * Order: outcomes and handlers → callbacks → everything re-read → claim → leave. At its end a lane is full; or guards its
 * queue, and looks again and again; or has given away the room that it does not use. So whoever has read all lanes knows
 * what is free.
 *
 * Reads for real: the lane, its holder, the jobs reported, the queue's row, its gate, all its lanes; then as a claim.
 * Writes: those jobs, the holder; the lane where its cap changes, the gate where this lane guards it or ends that nobody
 * does. Conflicts with: a wake of the queue, a lane of the queue that starts, leaves or changes its cap; what handlers
 * and callbacks conflict with. Never with an enqueue, but where the gate changes.
 */
import { v } from "convex/values";
import {
  checkLength,
  LANE_LOOK_MAX_MS,
  LANE_LOOK_MS,
  LANE_LOOKS_MAX,
  LANE_QUANTUM_MS,
  LEASES_MAX,
  vFinished,
  vLaneReply,
  vLaneStep,
  type Answer,
  type ClaimedJob,
  type Finished,
  type LaneReply,
  type LaneStep,
} from "../shared/index.js";
import { internal } from "./_generated/api.js";
import { internalMutation, type MutationCtx } from "./_generated/server.js";
import { describe } from "./basket.js";
import { oweAll, tellAll } from "./callbacks.js";
import { claimedBefore, takeFrom, type Claimed } from "./claim.js";
import { executeAll } from "./execute.js";
import { closeCall, judgeCall, keepLeases, type Holder } from "./holders.js";
import { describeLaneJobs } from "./laneJobs.js";
import {
  drain,
  freeOf,
  lanesOf,
  leftOfAll,
  putToSleep,
  setCap,
  widthOf,
  type Lane,
} from "./lanes.js";
import { load } from "./payloads.js";
import { getQueue, type Queue } from "./queues.js";
import { recordAll } from "./recording.js";
import { ensureJanitor } from "./timers.js";
import { findGate, quieten, setGate, wakeSoon } from "./wakes.js";

export const step = internalMutation({
  args: vLaneStep.fields,
  returns: vLaneReply,
  handler: (ctx, args): Promise<LaneReply> => stepOf(ctx, args),
});

export async function stepOf(ctx: MutationCtx, args: LaneStep): Promise<LaneReply> {
  const now = Date.now();
  checkLength("The finished jobs of a call", args.finished, 0, LEASES_MAX);
  const id = ctx.db.normalizeId("lanes", args.lane);
  const lane = id === null ? null : await ctx.db.get("lanes", id);
  const holder = lane === null ? null : await ctx.db.get("holders", lane.holder);
  if (lane === null || holder === null) return over(lost(args));
  // Another has taken its place. What it still runs was dealt with when it was found to be gone.
  if (lane.generation !== args.generation) return over(lost(args));
  const queue = await getQueue(ctx.db, lane.queue);
  if (judgeCall(holder, args.n) === "repeated") {
    const jobs = await describeLaneJobs(ctx.db, queue, await claimedBefore(ctx, holder));
    return { answers: holder.reply.answers, jobs, lookAfterMs: LANE_LOOK_MS, isOver: false };
  }
  const { answers, holder: current, besideCallbacks } = await finish(ctx, holder, args, now);
  return await goOn(ctx, { lane, holder: current, queue, args, answers, besideCallbacks, now });
}

function lost({ finished, execute }: LaneStep): Answer[] {
  return [...finished, ...execute].map(({ id, attempt }) => ({ id, attempt, answer: "leaseLost" }));
}

function over(answers: Answer[]): LaneReply {
  return { answers, jobs: [], lookAfterMs: null, isOver: true };
}

/** Records outcomes, runs handlers that are mutations, and tells who is to be told. */
async function finish(
  ctx: MutationCtx,
  holder: Holder,
  args: LaneStep,
  now: number,
): Promise<{ answers: Answer[]; holder: Holder; besideCallbacks: boolean }> {
  const executed = await executeAll(ctx, holder, args.execute, now);
  const recorded = await recordAll(ctx, { ...holder, leases: executed.leases }, args.finished, now);
  const answers = [...recorded.answers, ...executed.answers];
  const owed = [...recorded.owed, ...executed.owed];
  const kept = { ...holder, leases: recorded.leases };
  if (owed.length === 0 || args.deferCallbacks === true) {
    await oweAll(ctx, owed);
    return { answers, holder: kept, besideCallbacks: args.execute.length > 0 };
  }
  await keepLeases(ctx.db, kept, recorded.leases, now);
  await tellAll(ctx, owed);
  return { answers, holder: (await ctx.db.get("holders", holder._id))!, besideCallbacks: true };
}

interface Going {
  lane: Lane;
  holder: Holder;
  queue: Queue;
  args: LaneStep;
  answers: Answer[];
  besideCallbacks: boolean;
  now: number;
}

async function goOn(ctx: MutationCtx, going: Going): Promise<LaneReply> {
  const { holder, args, answers, besideCallbacks, now } = going;
  // A callback or handler may have paused the queue, or changed its configuration.
  const queue = await getQueue(ctx.db, going.lane.queue);
  const lane = (await ctx.db.get("lanes", going.lane._id))!;
  const running = holder.leases.length;
  const isOver = queue.isPaused || now > lane.startedAt + LANE_QUANTUM_MS || lane.state !== "awake";
  const lanes = await lanesOf(ctx.db, queue.name);
  const others = lanes.filter(({ _id }) => _id !== lane._id);
  const width = isOver ? running : Math.max(running, widthOf(freeOf(queue, others)));
  const room = Math.max(0, width - running);
  const open = new Map([[queue.name, queue]]);
  const taken: Claimed =
    room === 0
      ? { leases: [], jobs: [], cursor: holder.reply.cursor ?? "{}", timer: undefined }
      : await takeFrom(ctx, holder, args.n, open, { max: room }, now, { besideCallbacks });
  const held = running + taken.leases.length;
  const next = isOver
    ? await end(ctx, queue, lane, held, now)
    : await settle(ctx, queue, lane, { held, width, found: taken.leases.length }, args.looks, now);
  const isAwake = next !== "left";
  const call = { n: args.n, claimed: taken.leases, answers, cursor: taken.cursor, isAwake };
  const closed = await closeCall(ctx.db, holder, call, now);
  // Who holds something, or looks for others, depends on a sweep that notices if it dies.
  if (isAwake) await ensureJanitor(ctx, closed.expiresAt, now, taken.timer);
  const jobs = [...(await unheard(ctx, holder, args, now)), ...taken.jobs];
  return await reply(ctx, queue, answers, jobs, next);
}

/** What calls have claimed whose answer the lane has never heard: they committed, and seemed to have failed. */
async function unheard(
  ctx: MutationCtx,
  holder: Holder,
  { heard }: LaneStep,
  now: number,
): Promise<ClaimedJob[]> {
  const jobs: ClaimedJob[] = [];
  for (const held of holder.leases.filter(({ n }) => n > heard)) {
    const job = await ctx.db.get("jobs", held.id);
    if (job !== null) jobs.push(describe(job, await load(ctx.db, job.payload), held, now));
  }
  return jobs;
}

/** What the lane does next: it has left; or looks again after so long; or waits for its jobs. */
type Next = "left" | "draining" | { lookAfterMs: number | null };

/** The lane's time is over. */
async function end(
  ctx: MutationCtx,
  queue: Queue,
  lane: Lane,
  held: number,
  now: number,
): Promise<Next> {
  const wasOver = lane.state === "draining";
  const hasFreed = held < lane.cap;
  if (held === 0) await putToSleep(ctx, lane, now);
  else await drain(ctx, lane, held);
  const gate = await findGate(ctx.db, queue.name);
  const looked = gate?.state === "guarded" && gate.guard === lane._id;
  if (!queue.isPaused && (looked || gate?.state === "full" || (hasFreed && !wasOver))) {
    if (gate?.state === "guarded" && !looked) return held === 0 ? "left" : "draining";
    if (gate === null || gate.state === "quiet") await wakeSoon(ctx, queue);
    else await quieten(ctx, gate, queue);
  } else if (looked) await setGate(ctx, gate, queue.name, { state: "quiet" });
  return held === 0 ? "left" : "draining";
}

/** The lane goes on: full; or as the one that looks; or with no more room than it uses; or not at all. */
async function settle(
  ctx: MutationCtx,
  queue: Queue,
  lane: Lane,
  { held, width, found }: { held: number; width: number; found: number },
  looks: number,
  now: number,
): Promise<Next> {
  const gate = await findGate(ctx.db, queue.name);
  const guards = gate?.state === "guarded" && gate.guard === lane._id;
  const isGuardedByAnother = gate?.state === "guarded" && !guards;
  if (held >= width && held > 0) {
    await setCap(ctx, lane, held);
    // It cannot look any more. Another may be started, if there is anything for it.
    if (guards) await quieten(ctx, gate, queue);
    return { lookAfterMs: null };
  }
  const isBusy = found > 0 || gate?.state === "full";
  const staysLooking = guards && (looks < LANE_LOOKS_MAX || (held > 0 && (await isLastSlot(ctx))));
  if (!isGuardedByAnother && ((isBusy && held > 0) || staysLooking)) {
    await setCap(ctx, lane, width);
    await setGate(ctx, gate, queue.name, { state: "guarded", guard: lane._id });
    return { lookAfterMs: Math.min(LANE_LOOK_MS * 2 ** looks, LANE_LOOK_MAX_MS) };
  }
  if (held === 0) await putToSleep(ctx, lane, now);
  else await setCap(ctx, lane, held);
  if (guards || gate?.state === "full") await quieten(ctx, gate, queue);
  return held === 0 ? "left" : { lookAfterMs: null };
}

/** Whether nobody else can be started: what comes now can only go to those that run. */
async function isLastSlot(ctx: MutationCtx): Promise<boolean> {
  return (await leftOfAll(ctx)).lanes <= 0;
}

async function reply(
  ctx: MutationCtx,
  queue: Queue,
  answers: Answer[],
  claimed: readonly ClaimedJob[],
  next: Next,
): Promise<LaneReply> {
  const jobs = await describeLaneJobs(ctx.db, queue, claimed);
  if (next === "left" || next === "draining") {
    return { answers, jobs, lookAfterMs: null, isOver: true };
  }
  return { answers, jobs, lookAfterMs: next.lookAfterMs, isOver: false };
}

// --- The last resort ----------------------------------------------------------------------------

/** Records one outcome by a mutation that the platform runs until it has committed. */
export const later = internalMutation({
  args: { lane: v.string(), finished: vFinished },
  returns: v.null(),
  handler: (ctx, args): Promise<null> => hand(ctx, args),
});

export async function hand(
  ctx: MutationCtx,
  args: { lane: string; finished: Finished },
): Promise<null> {
  await ctx.scheduler.runAfter(0, internal.laneStep.recordLater, args);
  return null;
}

export const recordLater = internalMutation({
  args: { lane: v.string(), finished: vFinished },
  returns: v.null(),
  handler: async (ctx, { lane, finished }): Promise<null> => {
    const now = Date.now();
    const id = ctx.db.normalizeId("lanes", lane);
    const row = id === null ? null : await ctx.db.get("lanes", id);
    const holder = row === null ? null : await ctx.db.get("holders", row.holder);
    if (holder === null) return null;
    const { leases, owed } = await recordAll(ctx, holder, [finished], now);
    await oweAll(ctx, owed);
    await keepLeases(ctx.db, holder, leases, now);
    return null;
  },
});

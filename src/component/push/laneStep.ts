/**
 * Step: one call of a lane. It reports outcomes, runs mutation handlers, takes the next jobs, and receives whether to
 * poll again, to wait, or to end. An empty poll writes nothing. For its process it also gives back places or requests
 * more, receives lanes that were handed over, and, where it is the last, ends it.
 *
 * Retried after a conflict, it records outcomes and takes nothing; and from the second time on it leaves out the app's
 * code, which its lane has run apart (`laneApart.ts`). So no row of the app holds up the queue.
 *
 * Order: outcomes and handlers → callbacks → everything re-read → claim → leave. At its end a lane is full; or guards
 * its queue, and polls; or has given away the room that it does not use. So a transaction that has read all lanes knows
 * the free capacity.
 *
 * Reads for real: the lane, its session, the jobs reported, the queue's row, its gate; where it may grow, which it
 * may where a lane is relied on, or jobs that waited filled it, all the queue's lanes; where it gives places back,
 * the first queue that waits; then as a claim. Writes: these jobs, the session; the lane where its cap changes, the
 * gate where this lane begins or ends guarding it. Conflicts with: a wake of the queue, a lane of the queue that
 * starts, leaves or changes its cap; a cancel or another note of a job that it reports or takes, a sweep that ends
 * its session's leases; where it asks for places or gives some back, as `grants.ts`; the conflicts of handlers and
 * callbacks. Never with an enqueue, but where the gate changes.
 */
import {
  checkLength,
  commitTimeOf,
  LANE_LEAVES_MS,
  LANE_LOOK_MAX_MS,
  LANE_LOOK_MS,
  LANE_LOOKS_ALONE,
  LANE_LOOKS_MAX,
  LANE_RESCUE_MS,
  LEASES_MAX,
  STEAL_AFTER_MS,
  vLaneReply,
  vLaneStep,
  type Answer,
  type LaneJob,
  type LaneReply,
  type LaneStep,
} from "../../shared/index.js";
import { internalMutation, type MutationCtx } from "../_generated/server.js";
import { judgeCall } from "../claim/callNumbers.js";
import { withEffects } from "../edges/applyEffects.js";
import { tellAll } from "../edges/callbacks.js";
import { leasedBefore, takeFrom, type LaneLook } from "../claim/claim.js";
import { executeAll } from "./execute.js";
import { closeCall, generationOf, isWatched, keepLeases, type Session } from "../rows/sessions.js";
import { describeLaneJobs, fetchJobs } from "./laneJobs.js";
import type { Lane, Width } from "./lanes.js";
import { guardsIt, isLaneAlive, putToSleep, setCap, widthFor } from "./lanes.js";
import { forgetHandOver } from "./handOvers.js";
import { takeBackFrom, waitFor } from "./mainLoop.js";
import { isMutation, isTimeOver, takesMore } from "../edges/processTime.js";
import { getQueue, type Queue } from "../rows/queues.js";
import { recordAll } from "../attempts/recording.js";
import { withFittingResults } from "./results.js";
import { comeToRest } from "./idleShutdown.js";
import { ensureJanitor } from "../loops/timers.js";
import { findGate, isQuiet, quieten, setGate, scheduleWake, type Gate } from "../edges/wakes.js";
import { fewerIfTried, morePlaces, placesOf, tellProcess } from "./lanePlaces.js";
import { dropOver, dropUndelivered } from "./undelivered.js";
import { rulesOf } from "../rows/jobRules.js";
import { findJob } from "../rows/jobs.js";
import { lossesOf } from "./losses.js";

export const stepLane = internalMutation({
  args: vLaneStep.fields,
  returns: vLaneReply,
  handler: (ctx, args): Promise<LaneReply> => stepOf(ctx, args, withFittingResults),
});

/** `check` is for results that are not checked yet: an inline lane's are, by the app. */
export async function stepOf(
  ctx: MutationCtx,
  args: LaneStep,
  check?: typeof withFittingResults,
): Promise<LaneReply> {
  const now = Date.now();
  checkLength("The finished jobs of a call", args.finished, 0, LEASES_MAX);
  // With any answer its process counts them as given back.
  if (args.in !== undefined) await takeBackFrom(ctx, args.in);
  const id = ctx.db.normalizeId("lanes", args.lane);
  const lane = id === null ? null : await ctx.db.get("lanes", id);
  if (lane === null) return over(lost(args));
  const [session, queue] = await Promise.all([
    ctx.db.get("sessions", lane.session),
    getQueue(ctx.db, lane.queue),
    fetchJobs(ctx.db, args.execute),
    args.handOver === undefined ? null : forgetHandOver(ctx, args.handOver),
  ]);
  // Another has taken its place. Its running jobs were dealt with when it was found to be gone.
  if (session === null || generationOf(session) !== args.generation) return over(lost(args));
  if (judgeCall(session, args.callSeq) === "repeated") {
    const missed = await leasedBefore(ctx, session, args.lastAckedCall + 1);
    const jobs = await describeLaneJobs(ctx.db, queue, missed);
    return { answers: [], jobs, lookAfterMs: LANE_LOOK_MS, isOver: false };
  }
  const finished = check?.(queue, args.finished) ?? args.finished;
  const step = { ...args, finished };
  const losses = lossesOf(ctx, args.sentAt, now);
  const shared = losses === "again" ? await withoutApps(ctx, queue, step) : step;
  const ended = await finish(ctx, session, queue, shared, now);
  const { answers, session: current, besideCallbacks } = ended;
  // It has left, and did not receive that: the reply was lost.
  if (current.state !== "active") return over(answers);
  if (losses !== "never" && hasEnded(args) && (await isLaneAlive(ctx, current)))
    return await recordOnly(ctx, current, queue, args, answers, now);
  return await goOn(ctx, { lane, session: current, queue, args, answers, besideCallbacks, now });
}

/** Whether it reports the end of any job, or may. */
function hasEnded({ finished, execute, over = [] }: LaneStep): boolean {
  return finished.length + execute.length + over.length > 0;
}

/** Without the app's code: it has no answer, and its lane has it run apart. */
async function withoutApps(ctx: MutationCtx, queue: Queue, args: LaneStep): Promise<LaneStep> {
  const hasCallback = await Promise.all(
    args.finished.map(async ({ id }) => {
      const job = await findJob(ctx.db, id);
      return job !== null && (await rulesOf(ctx.db, queue, job)).onComplete !== undefined;
    }),
  );
  return { ...args, finished: args.finished.filter((_, i) => !hasCallback[i]), execute: [] };
}

/** It has lost: outcomes are recorded with nothing beside them, and the lane calls again at once. */
async function recordOnly(
  ctx: MutationCtx,
  session: Session,
  queue: Queue,
  { callSeq, lastAckedCall, in: reported }: LaneStep,
  answers: Answer[],
  now: number,
): Promise<LaneReply> {
  const { cursor } = session.reply;
  await closeCall(ctx.db, session, { callSeq, claimed: [], cursor, isAwake: true }, now);
  const missed = await leasedBefore(ctx, session, lastAckedCall + 1);
  const jobs = await describeLaneJobs(ctx.db, queue, missed);
  const of = await tellProcess(ctx, reported, false);
  return { ...reply(answers, jobs, { lookAfterMs: 0 }), ...of };
}

function lost({ finished, execute }: LaneStep): Answer[] {
  return [...finished, ...execute].map(({ id, attempt }) => ({ id, attempt, answer: "leaseLost" }));
}

function over(answers: Answer[]): LaneReply {
  return { answers, jobs: [], lookAfterMs: null, isOver: true };
}

/**
 * Its scheduled function was canceled while it runs: its own scheduled functions are born canceled, so it decides
 * nothing any more. The janitor ends its remaining leases, and its place goes to another.
 */
async function stopCanceledLane(
  ctx: MutationCtx,
  session: Session,
  callSeq: number,
  answers: Answer[],
  now: number,
): Promise<LaneReply> {
  const { cursor } = session.reply;
  await closeCall(ctx.db, session, { callSeq, claimed: [], cursor, isAwake: true }, now);
  return over(answers);
}

/** Records outcomes, runs mutation handlers, and delivers callbacks. */
async function finish(
  ctx: MutationCtx,
  session: Session,
  queue: Queue,
  args: LaneStep,
  now: number,
): Promise<{ answers: Answer[]; session: Session; besideCallbacks: boolean }> {
  const done = await withEffects(ctx, { now, bySession: true, deliver: tellAll }, async (ctx) => {
    const held = { ...session, leases: await dropOver(ctx, session.leases, args.over ?? []) };
    const executed = await executeAll(ctx, held, queue, args.execute);
    const current = { ...session, leases: executed.leases };
    const recorded = await recordAll(ctx, current, args.finished, "lane", queue);
    const answers = [...recorded.answers, ...executed.answers];
    const kept = {
      ...session,
      leases: await dropUndelivered(ctx, session, recorded.leases, args.lastAckedCall),
    };
    const hasCallbacks = ctx.effects.callbacks.length > 0;
    if (hasCallbacks) await keepLeases(ctx.db, kept, kept.leases, now);
    return { answers, session: kept, hasCallbacks };
  });
  if (!done.hasCallbacks) return { ...done, besideCallbacks: args.execute.length > 0 };
  return { ...done, session: (await ctx.db.get("sessions", session._id))!, besideCallbacks: true };
}

interface Going {
  lane: Lane;
  session: Session;
  queue: Queue;
  args: LaneStep;
  answers: Answer[];
  besideCallbacks: boolean;
  now: number;
}

async function goOn(ctx: MutationCtx, going: Going): Promise<LaneReply> {
  const { session, args, answers, besideCallbacks, now } = going;
  // A callback or handler may have paused the queue, or changed its configuration.
  const [isAlive, queue, row, gate] = await Promise.all([
    isLaneAlive(ctx, session),
    getQueue(ctx.db, going.lane.queue),
    ctx.db.get("lanes", going.lane._id),
    findGate(ctx.db, going.lane.queue),
  ]);
  if (!isAlive) return await stopCanceledLane(ctx, session, args.callSeq, answers, now);
  const lane = row!;
  const running = session.leases.length;
  const isOver = isClosed(queue) || isTimeOver(args.in, queue, now);
  // A new job has a wake of its own, or a polling lane: a lane started for one job polls for no other, and does not
  // grow.
  const isForOne = lane.cap <= 1 && gate?.state !== "full" && !guardsIt(gate, lane._id);
  const isWideEnough = isQuiet(gate) || isForOne;
  const present = isOver ? NO_WIDTH : await widthFor(ctx, queue, lane, { running, isWideEnough });
  // The jobs that it has yet to receive may be as many as one answer carries.
  const isAcknowledged = session.leases.every(({ callSeq }) => callSeq <= args.lastAckedCall);
  const wanted = !isAcknowledged || isForOne ? 0 : Math.max(0, present.width - running);
  const { room, given: before } = await placesOf(ctx, going, queue, wanted);
  const open = new Map([[queue.name, queue]]);
  const look = { ...lookOf(gate, lane._id, now), endsAt: args.in?.endsAt ?? now };
  const max = isMutation(queue) ? room : fewerIfTried(room, now - (args.sentAt ?? now));
  const taken = await takeFrom(ctx, session, args.callSeq, open, { max }, now, {
    besideCallbacks,
    lane: look,
  });
  const held = running + taken.leases.length;
  // No lane polls, and it has filled its room with jobs that wait: their wakes are late, or none comes.
  const isBehind = isQuiet(gate) && taken.leases.length > 0 && held === present.width;
  const { width, asleep } = isBehind
    ? await widthFor(ctx, queue, lane, { running: held, isWideEnough: false })
    : present;
  if (taken.isTooLong === true && gate?.state === "full") await waitFor(ctx, queue.name, false);
  // It has filled all the places that there were, and there may be more jobs.
  const lacking = taken.leases.length === room ? wanted - room : 0;
  const asks = lacking > 0 && room > 0 && args.in?.isFull === true;
  const after = asks ? await morePlaces(ctx, queue, args.in!, held, lacking) : 0;
  const given = before + after;
  // Its process has no place, and is given none: it is as full as with all that it may run.
  const isStuck = lacking > 0 && args.in?.isFull === true && given === 0;
  const next =
    isOver || (taken.isTooLong === true && guardsIt(gate, lane._id))
      ? await end(ctx, queue, lane, gate, held)
      : await decideNext(ctx, queue, lane, gate, {
          ...{ held, width: isStuck ? Math.min(width, held) : width, asleep },
          found: taken.leases.length,
          ...{ looks: args.looks, isEnding: !takesMore(args.in, queue, now + LANE_LEAVES_MS) },
        });
  const isAwake = next !== "left";
  const hasDone = hasEnded(args) || taken.leases.length > 0;
  const call = { callSeq: args.callSeq, claimed: taken.leases, cursor: taken.cursor, isAwake };
  const closed =
    isAwake && !hasDone && isWatched(session, now)
      ? session
      : await closeCall(ctx.db, session, call, now);
  // A lane that takes a job depends on a sweep that notices its death; a lane that only goes on has one already.
  if (isAwake && taken.leases.length > 0)
    await ensureJanitor(ctx, closed.expiresAt, now, taken.timer);
  // Calls that committed and seemed to have failed: the lane has never received their claims.
  const missed = await leasedBefore(ctx, session, args.lastAckedCall + 1);
  const ruled = missed.length === 0 ? taken.ruled : undefined;
  const jobs = await describeLaneJobs(ctx.db, queue, [...missed, ...taken.jobs], ruled);
  const of = await tellProcess(ctx, args.in, next === "left");
  if (!isAwake) await comeToRest(ctx, lane, session, now);
  const isPart = max < room && taken.leases.length === max;
  const isShort = isPart || (lacking > 0 && room > 0 && !isStuck);
  return {
    // There is more for it: it calls again at once, unless it goes.
    ...reply(answers, jobs, isShort && typeof next !== "string" ? { lookAfterMs: 0 } : next),
    ...of,
    ...(given > 0 ? { given } : {}),
    ...(isAwake && taken.isLate === true ? { isLate: true } : {}),
  };
}

const NO_WIDTH: Width = { width: 0, asleep: [] };

/**
 * The lane's way to search. Jobs for other lanes it leaves to them for a while, since they would only conflict: where
 * another guards, everything; where no lane polls, new jobs, which have wakes of their own. Where each lane searches
 * with its freed capacity, each searches for other jobs among the first.
 */
function lookOf(gate: Gate | null, lane: Lane["_id"], now: number): LaneLook {
  const fresh = commitTimeOf(now - STEAL_AFTER_MS);
  if (guardsIt(gate, lane))
    return { everywhere: true, ...(gate?.state === "leaving" ? { upTo: fresh } : {}) };
  switch (gate?.state) {
    case "full":
      return { everywhere: true, isCrowded: true };
    case "guarded":
    case "leaving":
      return { everywhere: false, upTo: commitTimeOf(now - LANE_RESCUE_MS) };
    default:
      return { everywhere: false, upTo: fresh };
  }
}

/** The lane's next step: it has left; or polls again after so long; or waits for its jobs. */
type Next = "left" | "draining" | { lookAfterMs: number | null };

/** No lane takes jobs of it: it is paused, or only workers outside serve it since a deploy. */
function isClosed({ isPaused, config }: Queue): boolean {
  return isPaused || !config.push;
}

/** The lane's time is over, or its queue is closed. */
async function end(
  ctx: MutationCtx,
  queue: Queue,
  lane: Lane,
  gate: Gate | null,
  held: number,
): Promise<Next> {
  const hasFreed = held < lane.cap;
  if (held === 0) await putToSleep(ctx, lane);
  else if (hasFreed) await setCap(ctx, queue, lane, { cap: held, width: held, asleep: [] });
  // A queue that is resumed, or given a handler again, is woken.
  if (guardsIt(gate, lane._id)) {
    if (isClosed(queue)) await setGate(ctx, gate, queue.name, { state: "quiet" });
    else await quieten(ctx, gate, queue);
  } else if (gate?.state === "full" && hasFreed && !isClosed(queue)) await scheduleWake(ctx, queue);
  return held === 0 ? "left" : "draining";
}

/** It may hold more than its width, where that has become less. */
interface Standing extends Width {
  held: number;
  found: number;
  looks: number;
  /** Its time is nearly over. */
  isEnding: boolean;
}

/** The lane goes on: full; or as the polling lane; or with no more room than it uses; or not at all. */
async function decideNext(
  ctx: MutationCtx,
  queue: Queue,
  lane: Lane,
  gate: Gate | null,
  { held, width, asleep, found, looks, isEnding }: Standing,
): Promise<Next> {
  const guards = guardsIt(gate, lane._id);
  if (held >= width && held > 0) {
    await setCap(ctx, queue, lane, { cap: held, width, asleep });
    if (guards) {
      // It cannot poll any more; from now on a lane that frees capacity does. If there is any, a wake finds it.
      await setGate(ctx, gate, queue.name, { state: "full" });
      if (queue.config.maxParallelism > held) await scheduleWake(ctx, queue);
    }
    return { lookAfterMs: null };
  }
  // Frees capacity where that is relied on, or finds more jobs than have wakes.
  const begins =
    gate?.state === "full" || (found > 0 && held > 0 && (gate?.state ?? "quiet") === "quiet");
  const inVain = guards && found === 0 ? looks : 0;
  if (begins || guards) {
    if (inVain < LANE_LOOKS_MAX) {
      const leaves = inVain >= LANE_LOOKS_ALONE || isEnding;
      const state = leaves ? "leaving" : "guarded";
      // A new job has a wake of its own, which is to find room for another lane. It keeps the room of a spare, where
      // that is not all there is.
      const kept = Math.max(held, width > 1 ? 1 : 0);
      await setCap(ctx, queue, lane, { cap: leaves ? kept : width, width, asleep });
      const isVain = found === 0 && (!guards || gate?.isVain === true);
      const looking = { state, guard: lane._id, ...(isVain ? { isVain } : {}) } as const;
      await setGate(ctx, gate, queue.name, looking);
      return { lookAfterMs: Math.min(LANE_LOOK_MS * 2 ** inVain, LANE_LOOK_MAX_MS) };
    }
  }
  if (held === 0) await putToSleep(ctx, lane);
  else await setCap(ctx, queue, lane, { cap: held, width, asleep });
  if (guards) await quieten(ctx, gate, queue);
  return held === 0 ? "left" : { lookAfterMs: null };
}

function reply(answers: Answer[], jobs: LaneJob[], next: Next): LaneReply {
  if (next === "left" || next === "draining") {
    return { answers, jobs, lookAfterMs: null, isOver: true };
  }
  return { answers, jobs, lookAfterMs: next.lookAfterMs, isOver: false };
}

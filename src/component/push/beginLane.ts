/**
 * Beginning a lane: the steps of a wake once it has chosen the lane and its process. It takes jobs, writes the lane,
 * its session and where the lane runs, and ensures the janitor. Reads and conflicts: as `wake.ts`.
 */
import {
  JANITOR_PERIOD_MS,
  LANE_CARRIES_BYTES,
  LANE_LOOK_MS,
  WAKE_AGAIN_MS,
  type LaneStart,
} from "../../shared/index.js";
import { type MutationCtx } from "../_generated/server.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import { takeFrom, type LaneLook } from "../claim/claim.js";
import type { Claimed } from "../claim/claimCall.js";
import { closeCall, generationOf, watchedUntil, type Session } from "../rows/sessions.js";
import { carried, undeliveredAfter } from "./laneAction.js";
import { describeLaneJobs } from "./laneJobs.js";
import { runOnce } from "./laneOnce.js";
import {
  awaken,
  ensureSpares,
  makeRoom,
  type Lane,
  type LaneAndSession,
  type Sleeper,
  type Standing,
} from "./lanes.js";
import { handTo } from "./handOvers.js";
import { startIn, type Target } from "./mainLoop.js";
import { isMutation } from "../edges/processTime.js";
import { type Queue } from "../rows/queues.js";
import { isStillborn } from "../loops/loop.js";
import { ensureAmong, ensureJanitor } from "../loops/timers.js";
import { quieten, setGate, scheduleWake, type Gate } from "../edges/wakes.js";

/** The reads of a wake. */
export interface Waking {
  queue: Queue;
  gate: Gate | null;
  seen: Standing;
  now: number;
}

export interface Beginning {
  /** The most that it may take. */
  room: number;
  own: Doc<"jobs"> | null;
  due: bigint;
  /** It takes its own job, and searches for no other. */
  takesOnlyItsJob: boolean;
  /** All that there are, if they have been read. */
  timers: readonly Doc<"timers">[] | undefined;
  /** The other lanes of the queue, if they have been read; and the ones that may give their room away. */
  lanes?: readonly Lane[];
  spares?: readonly Sleeper[];
  /** Whether the lane is to poll for all, if it has not taken as many as it may. */
  guardsIf: boolean;
}

export async function takeAndBegin(
  ctx: MutationCtx,
  waking: Waking,
  { lane, session }: LaneAndSession,
  target: Target | null,
  beginning: Beginning,
): Promise<"begun" | "none" | "tooLong"> {
  const { queue, gate, now } = waking;
  const { room, own, due, takesOnlyItsJob, guardsIf } = beginning;
  const callSeq = session.callSeq + 1;
  const cameAt = (own?.seq as bigint | undefined) ?? due;
  const look: LaneLook = {
    ...{ everywhere: true, due, carries: LANE_CARRIES_BYTES },
    ...(target === null || target.kind === "wait" ? {} : { endsAt: target.endsAt }),
    // Jobs that became claimable after its own job have wakes of their own: they would only conflict.
    ...(own === null ? {} : { first: own, upTo: cameAt }),
  };
  const open = new Map([[queue.name, queue]]);
  const taken = await takeFrom(ctx, session, callSeq, open, { max: room }, now, { lane: look });
  const found = taken.leases.length;
  const isDone = takesOnlyItsJob && found > 0;
  const queueMayHaveMore = found === room && !isDone;
  // Jobs that an older snapshot does not show may exist all the same, and jobs that stood behind ones that have gone
  // since.
  const snapshotIsFresh =
    isDone || queueMayHaveMore || (taken.snapshot ?? 0n) >= (cameAt > due ? cameAt : due);
  if (!snapshotIsFresh) await scheduleWake(ctx, queue, due, WAKE_AGAIN_MS);
  if (found === 0) {
    if (taken.isTooLong === true) return "tooLong";
    // Capacity is free, so the gate may no longer say that a lane which frees some polls.
    if (snapshotIsFresh && gate?.state === "full") await quieten(ctx, gate, queue);
    return snapshotIsFresh || !takesOnlyItsJob ? "none" : "begun";
  }
  const guards = !queueMayHaveMore && guardsIf;
  await beginLane(ctx, waking, { lane, session }, target, {
    ...beginning,
    callSeq,
    taken,
    guards,
    isDone,
  });
  if (guards)
    await setGate(ctx, gate, queue.name, { state: "guarded", guard: lane._id, isVain: true });
  if (queueMayHaveMore || taken.isTooLong === true) await scheduleWake(ctx, queue, due);
  return "begun";
}

interface Begun extends Beginning {
  callSeq: number;
  taken: Claimed;
  guards: boolean;
  isDone: boolean;
}

/** Writes the lane, its session, and where it runs. */
async function beginLane(
  ctx: MutationCtx,
  { queue, now }: Waking,
  { lane, session }: LaneAndSession,
  target: Target | null,
  { callSeq, taken, guards, isDone, room, lanes, spares, timers }: Begun,
): Promise<void> {
  const cap = guards ? room : taken.leases.length;
  if (lanes !== undefined) await makeRoom(ctx, queue, lanes, cap, spares ?? []);
  await awaken(ctx, lane, cap, queue.config.maxParallelism);
  if (isDone && !guards && lanes !== undefined) await ensureSpares(ctx, queue, lanes, now);
  const leases = [...session.leases, ...taken.leases];
  const expiresAt = watchedUntil(leases, now);
  const run = async () => {
    const start: LaneStart = carried({
      ...{ lane: lane._id, generation: generationOf(session) + 1, callSeq },
      ...(taken.isHeavy === true
        ? undeliveredAfter(callSeq)
        : { jobs: await describeLaneJobs(ctx.db, queue, taken.jobs) }),
      ...(guards ? { lookAfterMs: LANE_LOOK_MS } : {}),
    });
    return await runIn(ctx, queue, target, { start, jobs: taken.leases.length }, now);
  };
  const watch = () => ensureLookedAfter(ctx, session, { isDone, timers, expiresAt, taken, now });
  // Together, but for a nested call, which is made where no timers were read: beside one nothing may be written.
  const [sweep, runsIn] =
    timers === undefined ? [await watch(), await run()] : await Promise.all([watch(), run()]);
  const begins = { runsIn, ...(sweep === undefined ? {} : { sweep }) };
  const call = { callSeq, claimed: taken.leases, cursor: taken.cursor, isAwake: true, begins };
  await closeCall(ctx.db, session, call, now);
}

export function others(lanes: readonly Lane[], { _id }: Lane): Lane[] {
  return lanes.filter((lane) => lane._id !== _id);
}

/** Returns the scheduled function in which the lane runs. */
async function runIn(
  ctx: MutationCtx,
  queue: Queue,
  target: Target | null,
  { start, jobs }: { start: LaneStart; jobs: number },
  now: number,
): Promise<Id<"_scheduled_functions">> {
  if (target?.kind === "handOver") return await handTo(ctx, target, start);
  const places = isMutation(queue) ? 1 : jobs;
  const scheduledId =
    target?.kind === "start"
      ? await startIn(ctx, queue, target, { start, places }, now)
      : await runOnce(ctx, start);
  // Under a canceled function it would never run: the jobs stay where they were, for a wake that is not.
  if (await isStillborn(ctx, scheduledId))
    throw new Error("A wake was run by a canceled function.");
  return scheduledId;
}

/** Returns the timer that the lane may cancel when it leaves: nothing runs beside it, and jobs are rare. */
async function ensureLookedAfter(
  ctx: MutationCtx,
  { callSeq, lastSeenAt }: Session,
  { isDone, timers, expiresAt, taken, now }: LookedAfter,
): Promise<Session["sweep"]> {
  if (timers === undefined) {
    await ensureJanitor(ctx, expiresAt, now, taken.timer);
    return undefined;
  }
  const made = await ensureAmong(ctx, timers, expiresAt, now);
  const isRare = callSeq === 0 || lastSeenAt < now - JANITOR_PERIOD_MS;
  return isDone && isRare && made !== null ? { timer: made, madeAt: now } : undefined;
}

interface LookedAfter {
  /** It took its own job, without a search. */
  isDone: boolean;
  timers: Begun["timers"];
  expiresAt: number;
  taken: Claimed;
  now: number;
}

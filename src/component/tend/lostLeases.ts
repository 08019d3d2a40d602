/**
 * Ends the leases of one session that are over: all of them if it let them run out, or the leases of attempts that have
 * run longer than their `timeoutMs`, and the session keeps its other leases. Jobs go back to their queues, or are given
 * up.
 *
 * A lost session is a reset, and an attempt that ran too long is a failure: the one says something of the worker, and the
 * other of the job.
 *
 * Reads for real: the session's row, its jobs, their queues and rules; whether anything was reported of the attempts
 * that its session never acknowledged; where a job ends for good, the alarm of its queue's roll-up; where it comes
 * back in a pushed queue, its route, and the door where the gate shows a polling lane; where the lane's function is
 * no lane's, the last events of the queue. Snapshot reads: that gate. Writes: these jobs, the session's row; inserts
 * into `attempts`, `callbacks`, `events`, and that alarm where there is none; schedules a wake where no lane polls.
 * Conflicts with: a beat, completion or another call of that very session: one of the two retries and finds the
 * other; a cancel, pause or deletion of one of its jobs, `completeLater` and a report of it; the ring of that alarm;
 * the lane that opens or shuts the door. Never runs `onComplete` itself: a callback that throws must not keep jobs
 * from coming back.
 */
import { v } from "convex/values";
import {
  lostAt,
  errorText,
  firstCharacters,
  INLINE_OPEN_MS,
  JANITOR_QUARANTINE_MS,
  LANE_WATCH_MS,
  UNACKNOWLEDGED_MAX,
  stackOf,
  type Outcome,
} from "../../shared/index.js";
import { blameless, isNoLane } from "../../lane/index.js";
import { internal } from "../_generated/api.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import { internalMutation, type MutationCtx } from "../_generated/server.js";
import { recordAttempt } from "../attempts/attemptRows.js";
import { recordMismatch } from "../attempts/blocked.js";
import { withEffects } from "../edges/applyEffects.js";
import { forgetAsked } from "../rows/cancels.js";
import { endAtDeadline, isBeyondDeadline } from "../edges/deadlines.js";
import type { EdgeCtx } from "../rows/effects.js";
import { recordEvent } from "../rows/events.js";
import { failAttempt } from "../attempts/failing.js";
import { rulesOf } from "../rows/jobRules.js";
import {
  bury,
  keepAwake,
  keepOthers,
  quarantine,
  type HeldLease,
  type Session,
} from "../rows/sessions.js";
import { isLaneAlive, loseLane } from "../push/lanes.js";
import { aboutJob, log } from "../rows/log.js";
import { recordOutcome, stopJob } from "../attempts/outcomes.js";
import { getQueue, type Queue } from "../rows/queues.js";
import { hasReported } from "../attempts/reported.js";
import { shownSession } from "../rows/tokens.js";
import { release, reset, timeOut } from "../edges/transitions.js";

/**
 * Runs `expireSession` in a sub-transaction. If it throws, nothing of it stands, and this session is left alone for a
 * minute: one broken row must stop no sweep.
 */
export async function endLeases(
  ctx: MutationCtx,
  session: Id<"sessions">,
  now: number,
): Promise<void> {
  try {
    await ctx.runMutation(internal.tend.lostLeases.expireSession, { session, now });
  } catch (error) {
    const message = `The leases of session ${session} could not be ended; left for a minute.`;
    await quarantine(ctx.db, session, now + JANITOR_QUARANTINE_MS);
    // A bug of ours: where it is.
    const stack = stackOf(error);
    const details = { session, error: errorText(error), ...(stack === undefined ? {} : { stack }) };
    await recordEvent(ctx, { kind: "quarantined", message, details });
  }
}

export const expireSession = internalMutation({
  args: { session: v.id("sessions"), now: v.number() },
  returns: v.null(),
  handler: (ctx, { session: id, now }) =>
    withEffects(ctx, { now }, async (ctx): Promise<null> => {
      const session = await ctx.db.get("sessions", id);
      // It has beaten since the snapshot in which it was found, or another transaction was here before.
      if (session?.state !== "active" || session.expiresAt >= now) return null;
      const isAlive = session.lane !== undefined && (await isLaneAlive(ctx, session));
      // A lane that has ended says no more of the jobs that it held.
      const isLost = session.lane === undefined ? isGone(session, now) : !isAlive;
      const over = session.leases.filter((held) => isLost || isOverlong(held, now));
      const ended: Ended[] = [];
      // At the same time: the end of one job changes no other's row.
      const jobs = await Promise.all(over.map(({ id }) => ctx.db.get("jobs", id)));
      for (const [i, { id }] of over.entries()) if (jobs[i] === null) await forgetAsked(ctx.db, id);
      const running = over.flatMap((held, i) => {
        const job = jobs[i];
        return job?.status === "running" && job.attempt === held.attempt ? [{ held, job }] : [];
      });
      const unheard = running.filter(({ held }) => isUnacknowledged(session, held));
      const isHeard = await hasReported(
        ctx.db,
        unheard.map(({ job }) => job),
      );
      for (const one of running) {
        const isUnknown = !isHeard && unheard.includes(one);
        const end = await endLease(ctx, session, one.held, one.job, isUnknown);
        ended.push({ job: one.job._id, end });
      }
      const kept = session.leases.filter((held) => !over.includes(held));
      if (isLost) await bury(ctx.db, session);
      else if (isAlive) await keepAwake(ctx.db, session, kept, now);
      else await keepOthers(ctx.db, session, kept);
      if (isLost && session.lane !== undefined) await loseLane(ctx, session.lane);
      await reportEnds(ctx, session, ended, isLost, now);
      return null;
    }),
});

/** The end of one job's lease. */
type End = "reset" | "released" | "failed" | "timedOut" | "canceled";
interface Ended {
  job: Id<"jobs">;
  end: End;
}

/** Whether the session has lost all its leases. It may have been checked before they were over. */
function isGone({ leases, lastSeenAt }: Session, now: number): boolean {
  return lostAt(leases, lastSeenAt) < now;
}

/** The attempt has run long enough; or its session, asked to end it, no longer speaks of it. */
function isOverlong({ timeoutAt }: HeldLease, now: number): boolean {
  return timeoutAt !== undefined && timeoutAt < now;
}

async function endLease(
  ctx: EdgeCtx,
  session: Session,
  held: HeldLease,
  job: Doc<"jobs">,
  isUnknown: boolean,
): Promise<End> {
  const queue = await getQueue(ctx.db, job.queue);
  if (job.cancelRequestedAt !== undefined) {
    await forgetAsked(ctx.db, job._id);
    await stopJob(ctx, queue, job);
    return "canceled";
  }
  // Its time was over first, if both are: the worker that vanished then had been too long at it.
  if (isOverlong(held, Math.min(ctx.now, lostAt([held], session.lastSeenAt)))) {
    return await endOverlong(ctx, queue, held, job);
  }
  return await endLost(ctx, queue, session, held, job, isUnknown);
}

async function endOverlong(
  ctx: EdgeCtx,
  queue: Queue,
  { timeoutAt = 0 }: HeldLease,
  job: Doc<"jobs">,
): Promise<End> {
  const ms = timeoutAt - (job.startedAt ?? timeoutAt);
  const error = `The attempt ran longer than its timeoutMs, ${ms} ms, on worker "${job.worker}".`;
  await failAttempt(ctx, queue, job, { error, timedOut: true });
  return "failed";
}

/** Its session vanished: the job goes back, or is given up. `isUnknown`: perhaps without a word that it had the job. */
async function endLost(
  ctx: EdgeCtx,
  queue: Queue,
  session: Session,
  held: HeldLease,
  job: Doc<"jobs">,
  isUnknown: boolean,
): Promise<End> {
  const { now } = ctx;
  const { leaseMs = LANE_WATCH_MS, graceMs = 0 } = held;
  const platform = await platformError(ctx, session);
  const never = platform === null ? null : neverBegun(queue, job, platform);
  if (never !== null) {
    if (never.kind === "failed") await recordMismatch(ctx, job, never.error, now);
    await recordOutcome(ctx, queue, job, never);
    return never.kind === "failed" ? "failed" : "released";
  }
  const silent =
    session.lane === undefined
      ? `Worker "${session.name}" was not heard of for ${leaseMs + graceMs} ms`
      : `The lane "${session.name}" ended while it ran the job${platform === null ? "" : ` (${platform.error})`}`;
  const about = { ...aboutJob(job), attempt: job.attempt, worker: session.name };
  const { maxResets } = await rulesOf(ctx.db, queue, job);
  // A worker that dies before its first word may have begun all the same: not again, where no attempt may be lost.
  if (isUnknown && maxResets > 0 && (job.unacknowledged ?? 0) < UNACKNOWLEDGED_MAX) {
    const note = `${silent}, and never said that it had got the job.`;
    await recordAttempt(ctx.db, job, "lost", now, note);
    if (isBeyondDeadline(job, now)) return await endLate(ctx, queue, job);
    await release(ctx, job, queue, { unacknowledged: true });
    log(queue.config, "warn", "attemptUnacknowledged", about);
    return "released";
  }
  await recordAttempt(ctx.db, job, "lost", now, `${silent}.`);
  if (isBeyondDeadline(job, now)) return await endLate(ctx, queue, job);
  const { resets = 0 } = job;
  if (resets < maxResets) {
    await reset(ctx, job, queue);
    log(queue.config, "warn", "attemptLost", { ...about, resets: resets + 1, maxResets });
    return "reset";
  }
  const error =
    `${silent}, and ${timesLost(resets)}: it is given up, since maxResets is ${maxResets}. ` +
    "A job that loses every worker may be what ends them, as by taking all their memory.";
  await timeOut(ctx, job, queue, error);
  log(queue.config, "error", "jobLost", { ...about, resets, maxResets, error });
  return "timedOut";
}

async function endLate(ctx: EdgeCtx, queue: Queue, job: Doc<"jobs">): Promise<End> {
  await endAtDeadline(ctx, queue, job);
  return "timedOut";
}

/**
 * How the attempt ends where its lane's function was never begun: a deploy has taken it away, or it is no function for lanes.
 * A lane of another queue, which was handed to that process, is not to blame.
 */
function neverBegun(
  { name, config }: Queue,
  { attempt, failures = 0 }: Doc<"jobs">,
  platform: Platform,
): Outcome | null {
  const putOff = blameless(platform.error, { attempt, failures });
  if (putOff !== null || !isNoLane(platform.text)) return putOff;
  if (config.handler?.kind !== "inline") return { kind: "snoozed", runAfter: INLINE_OPEN_MS };
  const error =
    `handlerMismatch: a job of the queue "${name}" was given to ${platform.name}, which is no inline action. Make it with ` +
    `\`${name}.inline(…)\`, or name it in the definition of "${name}" as what it is. ${platform.error}`;
  return { kind: "failed", error, retryable: false };
}

/** The platform's words on a lane's function that has failed. */
interface Platform {
  /** The function's. */
  name: string;
  /** All of it: of arguments that do not fit, it shows them below. */
  text: string;
  /** In one line, as long as fits an error beside other words. */
  error: string;
}

async function platformError(
  ctx: MutationCtx,
  { lane, runsIn }: Session,
): Promise<Platform | null> {
  if (lane === undefined || runsIn === undefined) return null;
  const run = await ctx.db.system.get("_scheduled_functions", runsIn);
  if (run?.state.kind !== "failed") return null;
  const { error: text } = run.state;
  const error = firstCharacters(text.split("\n")[0]!, PLATFORM_ERROR_CHARACTERS);
  return { name: run.name, text, error };
}
const PLATFORM_ERROR_CHARACTERS = 500;

function timesLost(resets: number): string {
  if (resets === 0) return "the job may lose no worker";
  return `the job had lost ${resets} worker${resets === 1 ? "" : "s"} before that one`;
}

/** The reply that carried this lease may never have arrived, so the job has most likely not been started. */
function isUnacknowledged(session: Session, held: HeldLease): boolean {
  return !session.acknowledged && held.callSeq === session.callSeq;
}

/** For people: the worker, its silence, and the ends of its jobs. */
async function reportEnds(
  ctx: MutationCtx,
  session: Session,
  ended: readonly Ended[],
  isLost: boolean,
  now: number,
): Promise<void> {
  if (ended.length === 0) return;
  const of = (end: End) => ended.filter((one) => one.end === end).map(({ job }) => job);
  const silentMs = now - session.lastSeenAt;
  const why = isLost ? `it had been silent for ${silentMs} ms` : "they had run too long";
  await recordEvent(ctx, {
    kind: "leasesEnded",
    message: `${ended.length} leases of worker "${session.name}" were ended: ${why}.`,
    details: {
      ...{
        worker: session.name,
        sessionKey: await shownSession(session.sessionKey),
        silentMs,
        isLost,
      },
      ...{ reset: of("reset"), released: of("released"), failed: of("failed") },
      ...{ timedOut: of("timedOut"), canceled: of("canceled") },
    },
  });
}

/**
 * Expiry: ends jobs that wait and are out of time: no attempt began in time, or their deadline has passed (`deadlines.ts`).
 * Ends as well the preferences of jobs that none of the preferred workers has taken.
 *
 * A job has a row of `expiries` for each such bound, and the alarm of the segment in which that lies comes for it: to a
 * second, and soon after it. A claim that finds such jobs before the alarm does passes over them, and writes none: many
 * claims beside the alarm would make it retry each time. A job that has been begun once does not expire any more, also
 * when it comes back to the queue.
 *
 * Reads for real: the alarm's row, the rows of `expiries` in the segment, their jobs that no snapshot shows begun, or
 * that reach their deadline, the queue's row; as `endJob`, and as `pendingPlace.ts` where a preference ends. Snapshot
 * reads: these jobs; as `segments.ts`. Writes: these jobs, the alarm's row (`timers`); deletes the rows of
 * `expiries`; inserts callbacks: none is run here. Conflicts with: a claim, cancel, pause, deletion or promotion of a
 * job that expires; a transaction that ends the attempt of a job with a passing deadline; an enqueue that is late for
 * the segment.
 */
import { v } from "convex/values";
import { EXPIRE_MAX } from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import { internalQuery, type MutationCtx } from "../_generated/server.js";
import type { Next } from "../loops/loop.js";
import { withEffects } from "./applyEffects.js";
import { endAtDeadline, isBeyondDeadline, isExpired, isOutOfTime } from "./deadlines.js";
import { passDeadline, preferNone } from "../rows/jobNotes.js";
import { recordEvent } from "../rows/events.js";
import { aboutJob, log } from "../rows/log.js";
import { getQueue, type Queue } from "../rows/queues.js";
import type { EdgeCtx } from "../rows/effects.js";
import { defineSegmentLoop, type SegmentAlarm } from "../loops/segments.js";
import { isClaimable } from "./mayTake.js";
import { expire, widen } from "./transitions.js";

/** Notes that the job is out of time at that instant, or its preference over, if it still waits then. */
export async function addExpiry(
  { db, effects }: EdgeCtx,
  queue: string,
  job: Id<"jobs">,
  at: number,
): Promise<void> {
  await db.insert("expiries", { queue, at, job });
  effects.dueTimes.push({ kind: "expiry", queue, at, isNew: true });
}

/** Ends a job that is out of time at that instant. */
async function endOutOfTime(
  ctx: EdgeCtx,
  queue: Queue,
  job: Doc<"jobs">,
  at: number,
): Promise<void> {
  if (isExpired(job, at)) await expireJob(ctx, queue, job);
  else await endAtDeadline(ctx, queue, job);
}

/** Fails a job of which no attempt began in time. */
export async function expireJob(ctx: EdgeCtx, queue: Queue, job: Doc<"jobs">): Promise<void> {
  const { now } = ctx;
  const { expiresAt = now, enqueuedAt } = job;
  const error =
    `The job expired: nobody began it within ${Math.round(expiresAt - enqueuedAt)} ms (expiresAfterMs), and it was ` +
    `${Math.max(0, Math.round(now - expiresAt))} ms past that when it was given up.`;
  await expire(ctx, job, queue, error);
  log(queue.config, "error", "jobExpired", { ...aboutJob(job), error });
}

export const endExpired = defineSegmentLoop({ kind: "expiry", run: expireBatch });

/** Bounded by the segment and not by the clock. Each row is deleted, however its job ends. */
async function expireBatch(
  ctx: MutationCtx,
  { row, queue: name, segment, end }: SegmentAlarm,
  now: number,
): Promise<Next> {
  const queue = await getQueue(ctx.db, name);
  // Halved each time that a ring failed, for any reason; at last that one job is left unexpired.
  const max = EXPIRE_MAX >> (row.failures ?? 0);
  const count = Math.max(1, max);
  const rows = await ctx.db
    .query("expiries")
    .withIndex("at", (q) => q.eq("queue", name).gte("at", segment.start).lt("at", end))
    .take(count);
  const args = { jobs: rows.map(({ job }) => job), end };
  const begun = new Set(
    await ctx.runQuery(internal.edges.startDeadlines.findBegun, args, { useStaleSnapshot: true }),
  );
  // A callback that throws must hold up no other job.
  await withEffects(ctx, { now }, async (ctx) => {
    for (const expiry of rows) {
      await ctx.db.delete("expiries", expiry._id);
      if (begun.has(expiry.job)) continue;
      if (max === 0) await complain(ctx, expiry);
      else await expireOne(ctx, queue, expiry, end);
    }
    if (rows.length > 0) ctx.effects.toCount.add(name);
  });
  if (rows.length < count) return "gone";
  return max === 0 ? { at: now, failures: 0 } : { at: now };
}

/**
 * The ones of these jobs that were ever begun and have no deadline before `end`: none of them runs out of time any
 * more. Read in a snapshot, since claims and completions write the rows of jobs that run. To be called with
 * `useStaleSnapshot`.
 */
export const findBegun = internalQuery({
  args: { jobs: v.array(v.id("jobs")), end: v.number() },
  returns: v.array(v.id("jobs")),
  handler: async (ctx, { jobs, end }): Promise<Id<"jobs">[]> => {
    const rows = await Promise.all(jobs.map((id) => ctx.db.get("jobs", id)));
    return rows.flatMap((job) =>
      job !== null && job.attempt > 0 && !isBeyondDeadline(job, end) ? [job._id] : [],
    );
  },
});

/**
 * A job that has ended is only forgotten. So is one that runs, since its attempt has no more time than the job, and a
 * transaction that gives it back behind its deadline ends it. Its row is written all the same: a transaction that began
 * before the deadline, and gives the job back after this one, retries.
 */
async function expireOne(
  ctx: EdgeCtx,
  queue: Queue,
  { job: id }: Doc<"expiries">,
  end: number,
): Promise<void> {
  const job = await ctx.db.get("jobs", id);
  if (job === null) return;
  // By the segment: a clock that is behind says that there is time left, and nothing would come again.
  const at = Math.max(end, ctx.now);
  if (isOutOfTime(job, at)) await endOutOfTime(ctx, queue, job, at);
  else if (job.status === "running" && isBeyondDeadline(job, at)) await passDeadline(ctx.db, job);
  else if (job.prefer !== undefined && job.prefer.until <= at) await endPreference(ctx, queue, job);
}

/** Any worker that may takes the job from now on, and idle ones are told so by its new place. */
async function endPreference(ctx: EdgeCtx, queue: Queue, job: Doc<"jobs">): Promise<void> {
  if (isClaimable(job)) await widen(ctx, job, queue);
  else await preferNone(ctx.db, job);
}

async function complain(ctx: MutationCtx, { queue, job }: Doc<"expiries">): Promise<void> {
  const message =
    "A job whose time was over could not be failed, again and again. It stays as it is.";
  const details = { jobs: [job] };
  await recordEvent(ctx, { kind: "expiryFailed", queue, message, details });
}

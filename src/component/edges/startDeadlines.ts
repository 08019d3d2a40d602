/**
 * Expiry: ends jobs that wait and are out of time: no attempt began in time, or their deadline has passed (`deadlines.ts`).
 *
 * A job has a row of `expiries` for each such bound, and the alarm of the segment in which that lies comes for it: to a
 * second, and soon after it. A claim that finds such jobs before the alarm does ends them through the same function, up
 * to `EXPIRED_BESIDE_MAX` (`picking.ts`) beside the ones that it takes: a wake for each would make the alarm retry each
 * time. A job that has been begun once does not expire any more, also when it comes back to the queue.
 *
 * Reads for real: the alarm's row, the rows of `expiries` in the segment, their jobs that no snapshot shows begun, or
 * that reach their deadline, the queue's row; as `endJob`. Snapshot reads: these jobs; as `segments.ts`. Writes: these
 * jobs, the alarm's row (`timers`); deletes the rows of `expiries`; inserts callbacks: none is run here. Conflicts
 * with: a claim or cancel of a job that expires; a transaction that ends the attempt of a job with a passing deadline;
 * an enqueue that is late for the segment.
 */
import { v } from "convex/values";
import { EXPIRE_MAX } from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import { internalQuery, type MutationCtx } from "../_generated/server.js";
import type { Next } from "../loops/loop.js";
import { owe } from "./callbacks.js";
import { endAtDeadline, isBeyondDeadline } from "./deadlines.js";
import { passDeadline } from "../rows/jobNotes.js";
import { endJob } from "./ending.js";
import { recordEvent } from "../rows/events.js";
import { log } from "../rows/log.js";
import { getQueue, type Queue } from "../rows/queues.js";
import { ensureUpkeep } from "../count/rollUp.js";
import { defineSegmentLoop, ensureSegments, type SegmentAlarm } from "../loops/segments.js";
import { expire } from "./transitions.js";

/** Ensures the alarm for jobs that expire then. Each has, or is about to have, its row of `expiries`. */
export async function ensureExpiry(
  ctx: MutationCtx,
  queue: string,
  at: number | readonly number[],
  now: number,
): Promise<void> {
  await ensureSegments(ctx, "expiry", queue, typeof at === "number" ? [at] : at, now);
}

/** Whether the job's time is over and it was never begun. */
export function isExpired(job: Doc<"jobs">, now: number): boolean {
  return job.expiresAt !== undefined && job.expiresAt <= now && mayExpire(job);
}

/** Whether a job that waits has no time left: it has expired, or its deadline has passed. */
export function isOutOfTime(job: Doc<"jobs">, now: number): boolean {
  return isExpired(job, now) || (isWaiting(job) && isBeyondDeadline(job, now));
}

function isWaiting({ status }: Doc<"jobs">): boolean {
  return status === "scheduled" || status === "pending";
}

/** Ends a job that is out of time at that instant. Its `onComplete` is called in a transaction of its own. */
export async function endOutOfTime(
  ctx: MutationCtx,
  queue: Queue,
  job: Doc<"jobs">,
  at: number,
  now: number,
): Promise<Doc<"jobs">> {
  if (isExpired(job, at)) return await expireJob(ctx, queue, job, now);
  const { ended, owed } = await endAtDeadline(ctx, queue, job, now);
  if (owed !== null) await owe(ctx, owed);
  return ended;
}

function mayExpire(job: Doc<"jobs">): boolean {
  return job.attempt === 0 && isWaiting(job);
}

/** Fails a job that nobody began in time. Whoever is to be told is told alone: a callback that throws holds up nobody. */
export async function expireJob(
  ctx: MutationCtx,
  queue: Queue,
  job: Doc<"jobs">,
  now: number,
): Promise<Doc<"jobs">> {
  const { expiresAt = now, enqueuedAt } = job;
  const error =
    `The job expired: nobody began it within ${Math.round(expiresAt - enqueuedAt)} ms (expiresAfterMs), and it was ` +
    `${Math.max(0, Math.round(now - expiresAt))} ms past that when it was given up.`;
  const ended = await expire(ctx.db, job, error, now);
  const owed = await endJob(ctx, queue, ended);
  log(queue.config, "error", "jobExpired", { queue: queue.name, job: job._id, error });
  if (owed !== null) await owe(ctx, owed);
  return ended;
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
  for (const expiry of rows) {
    await ctx.db.delete("expiries", expiry._id);
    if (begun.has(expiry.job)) continue;
    if (max === 0) await complain(ctx, expiry);
    else await expireOne(ctx, queue, expiry, end, now);
  }
  if (rows.length > 0) await ensureUpkeep(ctx, name, now);
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
  ctx: MutationCtx,
  queue: Queue,
  { job: id }: Doc<"expiries">,
  end: number,
  now: number,
): Promise<void> {
  const job = await ctx.db.get("jobs", id);
  if (job === null) return;
  // By the segment: a clock that is behind says that there is time left, and nothing would come again.
  const at = Math.max(end, now);
  if (isOutOfTime(job, at)) await endOutOfTime(ctx, queue, job, at, now);
  else if (job.status === "running" && isBeyondDeadline(job, at)) await passDeadline(ctx.db, job);
}

async function complain(ctx: MutationCtx, { queue, job }: Doc<"expiries">): Promise<void> {
  const message =
    "A job whose time was over could not be failed, again and again. It stays as it is.";
  const details = { jobs: [job] };
  await recordEvent(ctx, { kind: "expiryFailed", queue, message, details });
}

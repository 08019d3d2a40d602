/**
 * Ends the leases of one holder that let them run out: its jobs go back to their queues, or are given up.
 *
 * Reads for real: the holder's row, its jobs, their queues. Writes: those jobs, the holder's row; inserts into
 * `callbacks`. Conflicts with: a beat or completion of that very holder, of which one runs again and finds the other.
 * Never runs `onComplete` itself: a callback that throws must not keep jobs from coming back.
 */
import { v } from "convex/values";
import { JANITOR_QUARANTINE_MS, UNACKNOWLEDGED_MAX } from "../shared/index.js";
import { internal } from "./_generated/api.js";
import type { Doc, Id } from "./_generated/dataModel.js";
import { internalMutation, type MutationCtx } from "./_generated/server.js";
import { owe } from "./callbacks.js";
import { forgetAsked } from "./cancels.js";
import { endJob } from "./ending.js";
import { bury, quarantine, type HeldLease, type Holder } from "./holders.js";
import { getQueue } from "./queues.js";
import { hasReported } from "./reported.js";
import { release, reset, stop, timeOut } from "./transitions.js";

/**
 * Runs `expireHolder` in a sub-transaction. If it throws, nothing of it stands, and this holder is left alone for a
 * minute: one broken row must stop neither the janitor nor every claim that has room.
 */
export async function takeOver(
  ctx: MutationCtx,
  holder: Id<"holders">,
  now: number,
): Promise<Id<"jobs">[]> {
  try {
    return await ctx.runMutation(internal.expire.expireHolder, { holder, now });
  } catch (error) {
    console.error(`The leases of holder ${holder} could not be ended; left for a minute.`, error);
    await quarantine(ctx.db, holder, now + JANITOR_QUARANTINE_MS);
    return [];
  }
}

/** Returns the jobs that are pending again. */
export const expireHolder = internalMutation({
  args: { holder: v.id("holders"), now: v.number() },
  returns: v.array(v.id("jobs")),
  handler: async (ctx, args): Promise<Id<"jobs">[]> => {
    const holder = await ctx.db.get("holders", args.holder);
    // It has beaten since the snapshot in which it was found, or somebody was here before.
    if (holder?.state !== "active" || holder.expiresAt >= args.now) return [];
    const returned: Id<"jobs">[] = [];
    for (const held of holder.leases) {
      const job = await ctx.db.get("jobs", held.id);
      if (job === null) await forgetAsked(ctx.db, held.id);
      if (job?.status !== "running" || job.attempt !== held.attempt) continue;
      if (await endLease(ctx, holder, held, job, args.now)) returned.push(job._id);
    }
    await bury(ctx.db, holder);
    return returned;
  },
});

/** Puts one job back, or gives it up. Returns whether it is pending again. */
async function endLease(
  ctx: MutationCtx,
  holder: Holder,
  held: HeldLease,
  job: Doc<"jobs">,
  now: number,
): Promise<boolean> {
  const queue = await getQueue(ctx.db, job.queue);
  if (job.cancelRequestedAt !== undefined) {
    await forgetAsked(ctx.db, job._id);
    const owed = await endJob(ctx, queue, await stop(ctx.db, job, now));
    if (owed !== null) await owe(ctx, owed);
    return false;
  }
  const isUnknown = isUnacknowledged(holder, held) && !(await hasReported(ctx.db, job));
  if (isUnknown && (job.unacknowledged ?? 0) < UNACKNOWLEDGED_MAX) {
    await release(ctx.db, job, queue, { unacknowledged: true });
    return true;
  }
  const { maxResets, onComplete } = queue.config;
  if (job.resets < maxResets) {
    await reset(ctx.db, job, queue);
    return true;
  }
  const error =
    `Worker "${holder.name}" was not heard of for ${held.leaseMs} ms, and the job had been reset ` +
    `${job.resets} times; maxResets of the queue "${queue.name}" is ${maxResets}.`;
  await timeOut(ctx.db, job, error, now);
  if (onComplete !== undefined) {
    await owe(ctx, {
      job: job._id,
      handle: onComplete,
      attempt: job.attempt,
      worker: holder.name,
      outcome: { status: "timedOut", error },
    });
  }
  return false;
}

/** The reply that carried this lease may never have arrived, so the job has most likely not been started. */
function isUnacknowledged(holder: Holder, held: HeldLease): boolean {
  return !holder.acknowledged && held.n === holder.n;
}

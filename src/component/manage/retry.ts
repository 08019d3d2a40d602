/**
 * Retry: the only way out of a finished status.
 *
 * Snapshot reads: in a pushed queue, the gate. Reads for real: the job, its queue's row, its route, its key, whether
 * its result is still owed, how far ends have been counted; the door, where the gate shows a polling lane. Writes:
 * the job, its key, a row of `expiries` where it has a deadline; deletes a large result; a row for the roll-up that
 * has not come by yet, and its alarm; schedules a wake where no lane polls. Conflicts with: another retry, a deletion
 * or cancel of the job, the callback that is owed, a call that takes the same key, a purge that deletes the job, the
 * roll-up, the lane that opens or shuts the door. Workers outside need no wake: the job enters a range that `hasWork`
 * has read.
 */
import { isFinished, type Status } from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { MutationCtx } from "../_generated/server.js";
import { isResultOwed } from "../edges/callbacks.js";
import { withEffects } from "../edges/applyEffects.js";
import { callbacksOf } from "../edges/ending.js";
import type { EdgeCtx } from "../rows/effects.js";
import { addExpiry } from "../edges/startDeadlines.js";
import { noteEndGone } from "../count/uncounted.js";
import { getJob, isMovedHere } from "../rows/jobs.js";
import { findKey, retakeKey } from "../rows/keys.js";
import { aboutJob, log } from "../rows/log.js";
import { getQueue } from "../rows/queues.js";
import * as transitions from "../edges/transitions.js";

export interface RetryAnswer {
  retried: boolean;
  /** The job's status now. */
  status: Status;
  /** The active job that has its key, where that is why it was not retried. */
  keyTakenBy?: string;
}

export async function retry(ctx: MutationCtx, id: string, ofQueue?: string): Promise<RetryAnswer> {
  const job = await getJob(ctx.db, id, ofQueue);
  return await withEffects(ctx, {}, (ctx) => retryJob(ctx, job));
}

/** The same for a job that was read for real in this transaction. */
export async function retryJob(ctx: EdgeCtx, job: Doc<"jobs">): Promise<RetryAnswer> {
  const { now } = ctx;
  const { status } = job;
  if (!isFinished(status)) return { retried: false, status };
  if (!(await retakeKey(ctx.db, job, now))) {
    const { owner } = await findKey(ctx.db, job.queue, job.key!, now);
    return { retried: false, status, keyTakenBy: owner! };
  }
  const queue = await getQueue(ctx.db, job.queue);
  // A callback that is still owed for the old result needs it, and deletes it on delivery: a row says so, or, where a
  // callback retries a job that this very transaction has ended, nothing does yet.
  const hasCallbackLater = isMovedHere(job) && (await callbacksOf(ctx, queue, job)).length > 0;
  const keepResult = hasCallbackLater || (await isResultOwed(ctx.db, job));
  await noteEndGone(ctx, job);
  const deadline = await renewDeadline(ctx, job);
  await transitions.retry(ctx, job, queue, { keepResult, ...deadline });
  const about = { ...aboutJob(job), attempt: job.attempt, was: status };
  log(queue.config, "info", "jobRetried", about);
  return { retried: true, status: "pending" };
}

/** A job with a deadline has all of its time again. The row of the time before is forgotten by its alarm. */
async function renewDeadline(
  ctx: EdgeCtx,
  { _id: job, queue, deadline }: Doc<"jobs">,
): Promise<Pick<Doc<"jobs">, "deadline">> {
  if (deadline === undefined) return {};
  const at = ctx.now + deadline.ms;
  await addExpiry(ctx, queue, job, at);
  return { deadline: { ms: deadline.ms, at } };
}

/**
 * Retry: the only way out of a finished status.
 *
 * Reads for real: the job, its queue's row, whether a callback is still owed for it. Writes: the job; deletes a large
 * result. Conflicts with: another retry, and the callback that is owed. Workers need no wake: the job enters a range
 * that `hasWork` has read.
 */
import { isFinished, type Status } from "../shared/index.js";
import type { MutationCtx } from "./_generated/server.js";
import { getJob } from "./jobs.js";
import { getQueue } from "./queues.js";
import * as transitions from "./transitions.js";

export async function retry(
  ctx: MutationCtx,
  id: string,
  ofQueue?: string,
): Promise<{ retried: boolean; status: Status }> {
  const job = await getJob(ctx.db, id, ofQueue);
  if (!isFinished(job.status)) return { retried: false, status: job.status };
  const queue = await getQueue(ctx.db, job.queue);
  // Whoever is still to be told of the old result needs it, and deletes it then: a row that names this very result, or,
  // when a callback retries a job that finished in this transaction (its clock stands still), one later in the batch.
  const kept = job.result !== undefined && "row" in job.result ? job.result.row : null;
  const owed = await ctx.db
    .query("callbacks")
    .withIndex("job", (q) => q.eq("job", job._id))
    .order("desc")
    .take(64);
  const named = owed.some(
    ({ outcome }) =>
      outcome.status === "succeeded" && "row" in outcome.result && outcome.result.row === kept,
  );
  const inBatch = queue.config.onComplete !== undefined && job.finishedAt === Date.now();
  await transitions.retry(ctx.db, job, queue, { keepResult: named || inBatch });
  return { retried: true, status: "pending" };
}

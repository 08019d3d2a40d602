/**
 * Cancel: ends a job that nobody has begun.
 *
 * Reads for real: the job, its queue's row. Writes: the job, and what the app's `onComplete` writes. Conflicts with:
 * a claim of the same job; one of the two runs again and finds what the other did. A running job is its holder's to
 * end, so it is left, and the answer says so.
 */
import { CANCELABLE_STATUSES, type Status } from "../shared/index.js";
import type { MutationCtx } from "./_generated/server.js";
import { tellAll } from "./callbacks.js";
import { getJob } from "./jobs.js";
import { findQueue } from "./queues.js";
import * as transitions from "./transitions.js";

export async function cancel(
  ctx: MutationCtx,
  id: string,
  queue?: string,
): Promise<{ canceled: boolean; status: Status }> {
  const job = await getJob(ctx.db, id, queue);
  const cancelable: readonly Status[] = CANCELABLE_STATUSES;
  if (!cancelable.includes(job.status)) return { canceled: false, status: job.status };
  await transitions.cancel(ctx.db, job, Date.now());
  const handle = (await findQueue(ctx.db, job.queue))?.config.onComplete;
  if (handle !== undefined) {
    const error = "The job was canceled before a worker took it.";
    const outcome = { status: "canceled" as const, error };
    await tellAll(ctx, [{ job: job._id, handle, attempt: job.attempt, outcome }]);
  }
  return { canceled: true, status: "canceled" };
}

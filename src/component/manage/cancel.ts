/**
 * Cancel: ends a job that has not begun, at once; asks the worker of a running one to end it.
 *
 * Reads for real: the job; of one that has not begun its queue's row, the job's own rows, its key, the alarm of the
 * roll-up; of a running one its session's row, where the snapshot does not show it. Snapshot reads: of a running job the
 * session that holds it. Writes: the job; of one that has not begun its key, that alarm, the writes of the app's
 * `onComplete`; of a running one a row of `cancels`.
 *
 * Conflicts with, at the job's row: another cancel, a pause or resume of the job, its deletion, a retry of it; of one
 * that has not begun a claim, an enqueue that replaces it, the alarm at which it falls due or expires; of a running
 * one the end of its attempt, `completeLater` and the alarm of start deadlines that passes it. The later commit of
 * the two retries and finds the other's result. So it is, of one that has not begun, at its key with a transaction
 * that takes or frees that; at `callbacks` with the delivery of an earlier end; at the roll-up's alarm with its ring;
 * with a roll-up, purge or last sweep that has read that no more jobs of the queue have ended; and with the conflicts
 * of `onComplete`.
 *
 * Others only read, and retry where the cancel commits first, never the other way round. At the job's row: a report;
 * a claim that names or picks it and leaves it; its own late wake; a repeated claim or complete of its session; of a
 * running one an enqueue that would replace it; the delivery of a callback that is owed for an earlier end; a count
 * of new jobs that goes, where it is the first that is not counted. At `cancels`: a heartbeat of the session that
 * holds it, and its `complete`, where that names what it holds. And the cancel alone retries where its snapshot does
 * not show the session, and a call of that session commits first. Each pair that could lose a job is in
 * docs/internals/pairs.md.
 *
 * Only its session ends a running job: from now on any reported outcome but success is a cancellation.
 *
 * A job that it ends is to be counted, so it reads the alarm of its queue's roll-up for real, and inserts it where
 * there is none. Of many cancels at once in a queue without one the first inserts it; each other cancel that began
 * before that commit conflicts once in `timers`, retries and only reads it: 133 and 149 of 200 on class S16, in virtual
 * time, and none of the next 200. Fewer conflicts would need as many more alarms: a cancel may rely on none that its
 * snapshot does not show, so each of them inserts one or conflicts, and an alarm costs its row and a call.
 */
import { CANCELABLE_STATUSES, type Status } from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { MutationCtx } from "../_generated/server.js";
import { withEffects } from "../edges/applyEffects.js";
import { tellAll } from "../edges/callbacks.js";
import { askToStop } from "../rows/cancels.js";
import type { EdgeCtx } from "../rows/effects.js";
import { requestCancel } from "../rows/jobNotes.js";
import { getJob } from "../rows/jobs.js";
import { getQueue } from "../rows/queues.js";
import * as transitions from "../edges/transitions.js";

export interface CancelAnswer {
  /** The job had not begun, and never will. */
  canceled: boolean;
  /** It runs, and its worker is asked to end it. */
  requested: boolean;
  /** The job's status now. */
  status: Status;
}

export async function cancel(
  ctx: MutationCtx,
  id: string,
  { queue, reason }: { queue?: string | undefined; reason?: string | undefined } = {},
): Promise<CancelAnswer> {
  const job = await getJob(ctx.db, id, queue);
  return await withEffects(ctx, { deliver: tellAll }, (ctx) => cancelJob(ctx, job, reason));
}

/** The same for a job that was read for real in this transaction. */
export async function cancelJob(
  ctx: EdgeCtx,
  job: Doc<"jobs">,
  reason: string | undefined,
): Promise<CancelAnswer> {
  if (isCancelable(job.status)) {
    await transitions.cancel(ctx, job, await getQueue(ctx.db, job.queue), reason);
    return { canceled: true, requested: false, status: "canceled" };
  }
  const { status } = job;
  if (status !== "running") return { canceled: false, requested: false, status };
  if (job.cancelRequestedAt === undefined) {
    await requestCancel(ctx.db, job, ctx.now, reason);
    await askToStop(ctx, job);
  }
  return { canceled: false, requested: true, status };
}

function isCancelable(status: Status): boolean {
  return (CANCELABLE_STATUSES as readonly Status[]).includes(status);
}

/**
 * Items: pauses, resumes or deletes one job.
 *
 * Pausing takes a waiting job out of the range that claims read: its status stays, its place changes. One that is
 * scheduled or running is only marked, and paused when it becomes pending. Ended jobs are left.
 *
 * Reads for real: the job; to resume a waiting one, its queue and route, and the door where the gate shows a polling
 * lane; to delete one, all the job's own rows. Snapshot reads: the session of a running job; to resume, the gate.
 * Writes: the job; deletes the job's own rows; inserts into `cancels`; to resume, schedules a wake where no lane
 * polls. Conflicts with: a claim, a cancel or another move of this job, or the end of its attempt: one of the two
 * retries and finds the other's result; at its row also as `cancel.ts`, with transactions that only read it; to
 * resume, the lane that opens or shuts the door; to delete, as `remove.ts`.
 */
import type { Status } from "../../shared/index.js";
import type { MutationCtx } from "../_generated/server.js";
import { startLeftovers } from "./bulk.js";
import { askToStop } from "../rows/cancels.js";
import { logDeleted } from "../rows/log.js";
import { markPaused } from "../rows/jobNotes.js";
import { findJob, getJob } from "../rows/jobs.js";
import { getQueue } from "../rows/queues.js";
import { ensureWindowPurged } from "../count/purge.js";
import { newRoom, removeJob } from "../count/remove.js";
import { withEffects } from "../edges/applyEffects.js";
import * as transitions from "../edges/transitions.js";

export interface PauseAnswer {
  /** Whether this call did it. */
  changed: boolean;
  /** Whether it is paused now. */
  paused: boolean;
  status: Status;
}

export async function pauseJob(ctx: MutationCtx, id: string, queue?: string): Promise<PauseAnswer> {
  const job = await getJob(ctx.db, id, queue);
  const { status } = job;
  if (job.paused === true) return { changed: false, paused: true, status };
  if (status === "pending") await transitions.pause(ctx.db, job);
  else if (status === "scheduled" || status === "running") {
    await markPaused(ctx.db, job, true);
  } else return { changed: false, paused: false, status };
  return { changed: true, paused: true, status };
}

export async function resumeJob(
  ctx: MutationCtx,
  id: string,
  ofQueue?: string,
): Promise<PauseAnswer> {
  const job = await getJob(ctx.db, id, ofQueue);
  const { status } = job;
  if (job.paused !== true) return { changed: false, paused: false, status };
  if (status === "pending") {
    const queue = await getQueue(ctx.db, job.queue);
    await withEffects(ctx, {}, (ctx) => transitions.resume(ctx, job, queue));
  } else await markPaused(ctx.db, job, false);
  return { changed: true, paused: false, status };
}

export interface DeleteAnswer {
  deleted: boolean;
  /** The status before the call; null for an id that names no job, as after a first call. */
  status: Status | null;
}

/**
 * Deletes a job in any status, at once. Its key is free, and no callback reports its end. The worker of a running job
 * is asked to stop, and its later reports are answered `leaseLost`.
 */
export async function deleteJob(
  ctx: MutationCtx,
  id: string,
  queue?: string,
): Promise<DeleteAnswer> {
  const job = await findJob(ctx.db, id);
  if (job === null || (queue !== undefined && job.queue !== queue)) {
    return { deleted: false, status: null };
  }
  const rest = await removeJob(ctx, job, newRoom(), { atOnce: true });
  if (rest !== null) await startLeftovers(ctx, job.queue, rest);
  await ensureWindowPurged(ctx, job, Date.now());
  logDeleted((await getQueue(ctx.db, job.queue)).config, job);
  if (job.status === "running" && job.cancelRequestedAt === undefined) {
    await askToStop(ctx, job);
  }
  return { deleted: true, status: job.status };
}

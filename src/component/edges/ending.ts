/**
 * The effects of an end: the key of the job is given back, its callback is owed, and it is to be counted. Every edge into a
 * finished status comes here, so that no way out forgets one.
 *
 * Reads for real: the job's `jobRules` row, its row of `keys`. Writes: deletes that row.
 */
import type { FinishedStatus } from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { MutationCtx } from "../_generated/server.js";
import type { EdgeCtx, PendingCallback } from "../rows/effects.js";
import { rulesOf } from "../rows/jobRules.js";
import { isMovedHere } from "../rows/jobs.js";
import { freeKey } from "../rows/keys.js";
import { logEnded } from "../rows/log.js";
import type { Queue } from "../rows/queues.js";

/** `job` is the row as the edge has left it, and `before` as it was. */
export async function endJob(
  ctx: EdgeCtx,
  queue: Queue,
  before: Doc<"jobs">,
  job: Doc<"jobs">,
): Promise<void> {
  await freeKey(ctx.db, job);
  const { status, finishedAt = 0 } = job;
  if (status === "succeeded") logEnded(queue.config, "jobSucceeded", job, finishedAt);
  if (status === "canceled") logEnded(queue.config, "jobCanceled", job, finishedAt);
  if (!ctx.bySession) ctx.effects.toCount.add(queue.name);
  const { callbacks, laterCallbacks } = ctx.effects;
  for (const one of await callbacksOf(ctx, queue, job))
    (one.again === true && isMovedHere(before) ? laterCallbacks : callbacks).push(one);
}

/** The call of `onComplete` that a job's end owes, or the end of a round; none where there is none to call. */
export async function callbacksOf(
  ctx: MutationCtx,
  queue: Queue,
  job: Doc<"jobs">,
  status: FinishedStatus = job.status as FinishedStatus,
): Promise<PendingCallback[]> {
  const { onComplete, onCompleteExclude = [] } = await rulesOf(ctx.db, queue, job);
  if (onComplete === undefined || onCompleteExclude.includes(status)) return [];
  const { _id, attempt, worker, result, error = "", cancelReason, rounds = 0 } = job;
  const isRound = job.status !== status;
  const again = job.retried === true || rounds > (isRound ? 1 : 0);
  const outcome: PendingCallback["outcome"] =
    status === "succeeded"
      ? { status, result: result ?? { inline: null } }
      : {
          status,
          error: status === "canceled" ? (cancelReason ?? "The job was canceled.") : error,
          ...(status === "timedOut" && job.code !== undefined ? { code: job.code } : {}),
        };
  const call = {
    job: _id,
    handle: onComplete,
    attempt,
    ...(worker === undefined ? {} : { worker }),
    ...(again ? { again } : {}),
    outcome,
  };
  return [call];
}

/**
 * What must happen whenever a job leaves the active statuses, whatever ended it: its key is given back, and whoever is
 * to be told is. Every caller of an edge into a finished status goes through here, so that no exit path forgets one.
 *
 * Reads for real: the job's `handlers` row, its row of `keys`. Writes: deletes that row.
 */
import type { FinishedStatus } from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { MutationCtx } from "../_generated/server.js";
import type { Owed } from "./callbacks.js";
import { rulesOf } from "../rows/jobRules.js";
import { freeKey } from "../rows/keys.js";
import { logEnded } from "../rows/log.js";
import type { Queue } from "../rows/queues.js";

/**
 * Gives back what an active job holds, and returns whom to tell, or `null` for nobody. `job` is the row as the edge has
 * left it.
 */
export async function endJob(
  ctx: MutationCtx,
  queue: Queue,
  job: Doc<"jobs">,
): Promise<Owed | null> {
  await freeKey(ctx.db, job);
  const { status, finishedAt = 0 } = job;
  if (status === "succeeded") logEnded(queue.config, "jobSucceeded", job, finishedAt);
  if (status === "canceled") logEnded(queue.config, "jobCanceled", job, finishedAt);
  return await toTell(ctx, queue, job);
}

/** The call of `onComplete` that a job's end owes, or the end of a round, if there is one to call. */
export async function toTell(
  ctx: MutationCtx,
  queue: Queue,
  job: Doc<"jobs">,
  status: FinishedStatus = job.status as FinishedStatus,
): Promise<Owed | null> {
  const { onComplete, onCompleteExclude = [], compat } = await rulesOf(ctx.db, queue, job);
  if (onComplete === undefined || onCompleteExclude.includes(status)) return null;
  const { _id, attempt, worker, result, error = "", cancelReason, rounds = 0 } = job;
  const isRound = job.status !== status;
  const again = job.retried === true || rounds > (isRound ? 1 : 0);
  const outcome: Owed["outcome"] =
    status === "succeeded"
      ? { status, result: result ?? { inline: null } }
      : {
          status,
          error: status === "canceled" ? (cancelReason ?? "The job was canceled.") : error,
          ...(status === "timedOut" && job.code !== undefined ? { code: job.code } : {}),
        };
  return {
    job: _id,
    handle: onComplete,
    attempt,
    ...(worker === undefined ? {} : { worker }),
    ...(compat === undefined ? {} : { compat }),
    ...(again ? { again } : {}),
    outcome,
  };
}

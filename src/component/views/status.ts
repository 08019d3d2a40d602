/**
 * Status: jobs as a page sees them. A subscription to one is invalidated when the job moves or reports progress, or its row
 * receives a note (`jobNotes.ts`): it reads the job, its result, and while it runs its progress, never the session's row.
 */
import {
  checkLength,
  conveyorError,
  isFinished,
  STATUS_BATCH_MAX,
  STATUS_BATCH_MAX_BYTES,
  type JobStatus,
  withoutUndefined,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { QueryCtx } from "../_generated/server.js";
import { findJobOf } from "../rows/jobs.js";
import { load, sizeOf } from "../rows/payloads.js";

/** How a job stands; `null` for an id that names none, or, with `queue`, one of another queue. */
export async function status(ctx: QueryCtx, id: string, queue?: string): Promise<JobStatus | null> {
  const job = await findJobOf(ctx.db, id, queue);
  return job === null ? null : await describe(ctx, job);
}

/** The same for up to 100 jobs, in the order of their ids. */
export async function statusBatch(
  ctx: QueryCtx,
  ids: readonly string[],
  queue?: string,
): Promise<(JobStatus | null)[]> {
  checkLength("The ids of a statusBatch", ids, 0, STATUS_BATCH_MAX);
  const found: (JobStatus | null)[] = [];
  let bytes = 0;
  for (const id of ids) {
    const job = await findJobOf(ctx.db, id, queue);
    if (job?.status === "succeeded" && job.result !== undefined) bytes += sizeOf(job.result);
    if (bytes > STATUS_BATCH_MAX_BYTES) throw tooMuch(found.length);
    found.push(job === null ? null : await describe(ctx, job));
  }
  return found;
}

/** The queue of a job; `null` for an id that names none. Reads the job's row and nothing else. */
export async function queueOf(ctx: QueryCtx, id: string): Promise<string | null> {
  return (await findJobOf(ctx.db, id, undefined))?.queue ?? null;
}

/** No result is left out silently, and a result of a megabyte is rare enough for its page to request it alone. */
function tooMuch(before: number): Error {
  return conveyorError(
    "payloadTooLarge",
    `The results of these jobs are more than ${STATUS_BATCH_MAX_BYTES} bytes together. ` +
      `Ask for at most ${Math.max(1, before)} of them at a time, or keep large results in file storage.`,
    { max: STATUS_BATCH_MAX_BYTES, fit: before },
  );
}

async function describe(ctx: QueryCtx, job: Doc<"jobs">): Promise<JobStatus> {
  const about = common(job);
  switch (job.status) {
    case "pending":
      return { ...about, status: "pending" };
    case "scheduled":
      return { ...about, status: "scheduled", dueAt: job.order };
    case "running":
      return { ...about, status: "running", ...ran(job), ...(await progressOf(ctx, job)) };
    case "succeeded": {
      const result = job.result === undefined ? null : await load(ctx.db, job.result);
      return { ...about, status: "succeeded", ...ran(job), ...ended(job), result };
    }
    case "failed":
      return { ...about, status: "failed", ...begun(job), ...ended(job), error: job.error ?? "" };
    case "canceled": {
      const { cancelReason: reason } = job;
      const why = reason === undefined ? {} : { reason };
      return { ...about, status: "canceled", ...begun(job), ...ended(job), ...why };
    }
    case "timedOut":
      return {
        ...{ ...about, status: "timedOut", ...begun(job), ...ended(job), error: job.error ?? "" },
        ...withoutUndefined({ code: job.code }),
      };
  }
}

/** Fields that a job of any status has. */
function common(job: Doc<"jobs">) {
  const { _id, queue, enqueuedAt, attempt, finishedAt, error } = job;
  const { failures = 0, resets = 0, releases = 0 } = job;
  const { name, priority, key, group, tags, labels, cost, rounds, paused } = job;
  const { cancelRequestedAt, expiresAt } = job;
  const isOver = isFinished(job.status);
  return {
    ...{ id: _id, queue, enqueuedAt, attempt, failures, resets, releases },
    ...withoutUndefined({ name, priority, key, group, tags, labels, cost, rounds, paused }),
    ...withoutUndefined({ cancelRequestedAt, expiresAt, deadlineAt: job.deadline?.at }),
    // Of a circular job: it has ended a round, and nothing else.
    ...withoutUndefined(isOver ? {} : { lastWorkedAt: finishedAt, lastError: error }),
  };
}

/** Set by the claim, and kept until the job is claimable again. */
function ran(job: Doc<"jobs">): { worker: string; startedAt: number } {
  return { worker: job.worker!, startedAt: job.startedAt! };
}

/** The same for a job that may have expired, or been canceled, before it was begun. */
function begun(job: Doc<"jobs">): { worker?: string; startedAt?: number } {
  return withoutUndefined({ worker: job.worker, startedAt: job.startedAt });
}

/** Set by every edge into a finished status. */
function ended(job: Doc<"jobs">): { finishedAt: number } {
  return { finishedAt: job.finishedAt! };
}

async function progressOf(ctx: QueryCtx, job: Doc<"jobs">): Promise<{ progress?: unknown }> {
  const row = await ctx.db
    .query("progress")
    .withIndex("job", (q) => q.eq("job", job._id))
    .unique();
  return row?.attempt === job.attempt ? { progress: row.value } : {};
}

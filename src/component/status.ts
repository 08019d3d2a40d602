/**
 * Status: one job as a page sees it. A subscription to it runs again when the job moves or reports progress, and at
 * no other time: it reads the job, its result, and while it runs its progress, never the holder's row.
 */
import type { JobStatus } from "../shared/index.js";
import type { Doc } from "./_generated/dataModel.js";
import type { QueryCtx } from "./_generated/server.js";
import { findJob } from "./jobs.js";
import { load } from "./payloads.js";

export async function status(ctx: QueryCtx, id: string): Promise<JobStatus | null> {
  const job = await findJob(ctx.db, id);
  if (job === null) return null;
  const { queue, enqueuedAt, attempt, failures, resets } = job;
  const common = { id: job._id, queue, enqueuedAt, attempt, failures, resets };
  switch (job.status) {
    case "pending":
      return { ...common, status: "pending" };
    case "scheduled":
      return { ...common, status: "scheduled", dueAt: job.order };
    case "running":
      return { ...common, status: "running", ...ran(job), ...(await progressOf(ctx, job)) };
    case "succeeded": {
      const result = job.result === undefined ? null : await load(ctx.db, job.result);
      return { ...common, status: "succeeded", ...ran(job), ...ended(job), result };
    }
    case "failed":
      return { ...common, status: "failed", ...ran(job), ...ended(job), error: job.error ?? "" };
    case "canceled":
      return { ...common, status: "canceled", ...ended(job) };
    case "timedOut":
      return { ...common, status: "timedOut", ...ran(job), ...ended(job), error: job.error ?? "" };
  }
}

/** Set by the claim, and kept until the job is claimable again. */
function ran(job: Doc<"jobs">): { worker: string; startedAt: number } {
  return { worker: job.worker!, startedAt: job.startedAt! };
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

/**
 * The attempts of one job, for people: attempts that did not succeed have rows; the running or succeeded one is in the
 * job's row. A subscription to them is invalidated only when the job moves.
 *
 * Reads: the job, its rows of `attempts`.
 */
import { getConvexSize } from "convex/values";
import { checkInteger, PAGE_DEFAULT, PAGE_MAX, type AttemptStatus } from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { QueryCtx } from "../_generated/server.js";
import { findJobOf } from "../rows/jobs.js";

/** Fewer attempts are shown where their errors are large: a transaction reads 16 MiB, and half of that is the app's. */
const PAGE_BYTES = 4 * 1_024 * 1_024;

/** The last `limit` attempts, in order; `null` for an id that names no job, or one of another queue. */
export async function attempts(
  ctx: QueryCtx,
  { id, queue, limit = PAGE_DEFAULT }: { id: string; queue?: string; limit?: number },
): Promise<AttemptStatus[] | null> {
  checkInteger("limit", limit, 1, PAGE_MAX);
  const job = await findJobOf(ctx.db, id, queue);
  if (job === null) return null;
  const rows: Doc<"attempts">[] = [];
  const newest = ctx.db.query("attempts").withIndex("job", (q) => q.eq("job", job._id));
  let bytes = 0;
  for await (const row of newest.order("desc")) {
    rows.push(row);
    bytes += getConvexSize(row);
    if (rows.length === limit || bytes > PAGE_BYTES) break;
  }
  const listed = rows.reverse().map(ofRow);
  const last = ofJob(job);
  if (last === null || listed.some(({ attempt }) => attempt === last.attempt)) return listed;
  return [...listed, last].slice(-limit);
}

function ofRow({ attempt, outcome, worker, startedAt, endedAt, error, trace }: Doc<"attempts">) {
  return {
    ...{ attempt, outcome, endedAt },
    ...(worker === undefined ? {} : { worker }),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(error === undefined ? {} : { error }),
    ...(trace === undefined ? {} : { trace }),
  } satisfies AttemptStatus;
}

/** The last attempt as the job's row still records it. */
function ofJob(job: Doc<"jobs">): AttemptStatus | null {
  const { attempt, status, worker, startedAt, finishedAt } = job;
  // A waiting job has dropped its worker. A job canceled or expired while it waited has no attempt after the recorded
  // ones.
  if (worker === undefined || startedAt === undefined) return null;
  const about = { attempt, worker, startedAt };
  if (status === "running") return { ...about, outcome: "running" };
  if (status !== "succeeded") return null;
  return { ...about, endedAt: finishedAt ?? startedAt, outcome: "succeeded" };
}

/**
 * Counts: a few bounded numbers of a queue. It reads rows and says when there are more than it read; exact counts of
 * large queues are not worth a shared row that every enqueue would have to write.
 */
import {
  checkInteger,
  checkName,
  COUNT_DEFAULT,
  COUNT_MAX,
  GAUGE_QUICK,
  STATUSES,
  type Count,
  type Counts,
  type Status,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { DatabaseReader, QueryCtx } from "../_generated/server.js";
import { takeWithin } from "../rows/rowBytes.js";

/** A queue that never had a job has no jobs: a page may subscribe to it before its first. */
export async function counts(
  ctx: QueryCtx,
  queue: string,
  limit: number = COUNT_DEFAULT,
): Promise<Counts> {
  checkName("The name of a queue", queue);
  checkInteger("limit", limit, 1, COUNT_MAX);
  return await countEach(ctx.db, queue, STATUSES, limit);
}

/** The reads of one queue's counts at most: jobs with long errors are 6 KB each. */
const COUNTED_BYTES = 3 * 2 ** 20;

/**
 * How many jobs are in each of these statuses, counted up to `limit`, or as far as fits: all of them together read as
 * much as one transaction leaves them, and a status leaves its unused share to the next.
 */
export async function countEach<S extends Status>(
  db: DatabaseReader,
  queue: string,
  statuses: readonly S[],
  limit: number,
  beside = 1,
): Promise<Record<S, Count>> {
  let left = COUNTED_BYTES / beside;
  const counts = {} as Record<S, Count>;
  for (const [i, status] of statuses.entries()) {
    const share = left / (statuses.length - i);
    const { rows, bytes, isCut } = await takeWithin(inStatus(db, queue, status), limit + 1, share);
    left -= bytes;
    counts[status] = counted(rows, limit, isCut);
  }
  return counts;
}

/** The same for one status, up to a few. */
export async function countQuickly(
  db: DatabaseReader,
  queue: string,
  status: Status,
  limit: number = GAUGE_QUICK,
): Promise<Count> {
  const rows = await inStatus(db, queue, status).take(limit + 1);
  return counted(rows, limit);
}

/** A scheduled job that has failed waits for another attempt: no other status has such jobs to count. */
function counted(rows: readonly Doc<"jobs">[], limit: number, isCut = false): Counts["scheduled"] {
  const retrying = rows.slice(0, limit).filter(isRetrying).length;
  return {
    ...{ count: Math.min(rows.length, limit), more: isCut || rows.length > limit },
    ...(retrying === 0 ? {} : { retrying }),
  };
}

/** Whether it waits for another attempt after a failure. */
export function isRetrying({ status, failures = 0 }: Doc<"jobs">): boolean {
  return status === "scheduled" && failures > 0;
}

function inStatus(db: DatabaseReader, queue: string, status: Status) {
  return db.query("jobs").withIndex("status", (q) => q.eq("queue", queue).eq("status", status));
}

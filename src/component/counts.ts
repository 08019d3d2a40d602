/**
 * Counts: a few bounded numbers of a queue. It reads rows and says when there are more than it read; exact counts of
 * large queues are not worth a shared row that every enqueue would have to write.
 */
import { getConvexSize, type Value } from "convex/values";
import {
  checkInteger,
  checkName,
  COUNT_DEFAULT,
  COUNT_MAX,
  GAUGE_QUICK,
  type Count,
  type Counts,
  type Status,
} from "../shared/index.js";
import type { DatabaseReader, QueryCtx } from "./_generated/server.js";

/** A queue that nothing was ever put into has no jobs: a page may watch it before its first. */
export async function counts(
  ctx: QueryCtx,
  queue: string,
  limit: number = COUNT_DEFAULT,
): Promise<Counts> {
  checkName("The name of a queue", queue);
  checkInteger("limit", limit, 1, COUNT_MAX);
  const of = async (status: Status) => await countUpTo(ctx.db, queue, status, limit);
  const [scheduled, pending, running, succeeded, failed, canceled, timedOut] = await Promise.all([
    of("scheduled"),
    of("pending"),
    of("running"),
    of("succeeded"),
    of("failed"),
    of("canceled"),
    of("timedOut"),
  ]);
  return { scheduled, pending, running, succeeded, failed, canceled, timedOut };
}

/** How many jobs are in a status, counted up to `limit`. */
export async function countUpTo(
  db: DatabaseReader,
  queue: string,
  status: Status,
  limit: number,
): Promise<Count> {
  const rows = await rowsOf(db, queue, status, limit + 1);
  return { count: Math.min(rows.length, limit), more: rows.length > limit };
}

/** What one status may read to be counted: all of them together fit in a transaction. */
const COUNTED_BYTES = 1.5 * 2 ** 20;

/** The same up to 1,000, or as many as may be read: jobs with long errors are 6 KB each. */
export async function countAll(db: DatabaseReader, queue: string, status: Status): Promise<Count> {
  const first = await rowsOf(db, queue, status, GAUGE_QUICK + 1);
  if (first.length <= GAUGE_QUICK) return { count: first.length, more: false };
  const bytes = first.reduce((sum, row) => sum + getConvexSize(row as unknown as Value), 0);
  const fitting = Math.floor((COUNTED_BYTES * first.length) / bytes);
  return await countUpTo(db, queue, status, Math.min(COUNT_MAX, fitting));
}

/** The same up to a few. */
export async function countQuickly(
  db: DatabaseReader,
  queue: string,
  status: Status,
): Promise<Count> {
  return await countUpTo(db, queue, status, GAUGE_QUICK);
}

async function rowsOf(db: DatabaseReader, queue: string, status: Status, count: number) {
  return await db
    .query("jobs")
    .withIndex("status", (q) => q.eq("queue", queue).eq("status", status))
    .take(count);
}

/**
 * Counts: a few bounded numbers of a queue. It reads rows and says when there are more than it read; exact counts of
 * large queues are not worth a shared row that every enqueue would have to write.
 */
import {
  checkInteger,
  checkName,
  COUNT_DEFAULT,
  COUNT_MAX,
  type Count,
  type Counts,
  type Status,
} from "../shared/index.js";
import type { QueryCtx } from "./_generated/server.js";

/** A queue that nothing was ever put into has no jobs: a page may watch it before its first. */
export async function counts(
  ctx: QueryCtx,
  queue: string,
  limit: number = COUNT_DEFAULT,
): Promise<Counts> {
  checkName("The name of a queue", queue);
  checkInteger("limit", limit, 1, COUNT_MAX);
  const of = async (status: Status): Promise<Count> => {
    const rows = await ctx.db
      .query("jobs")
      .withIndex("status", (q) => q.eq("queue", queue).eq("status", status))
      .take(limit + 1);
    return { count: Math.min(rows.length, limit), more: rows.length > limit };
  };
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

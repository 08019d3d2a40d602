/**
 * The overview: every queue at a glance. Of a busy queue it reads the row that the roll-up keeps, and one for each minute; of a
 * quiet one a bounded number of jobs. Writes nothing.
 *
 * Reads: the queues' rows; of a queue its gauge, minutes, and where it is quiet jobs.
 */
import {
  checkInteger,
  checkName,
  OVERVIEW_COUNT_MAX,
  OVERVIEW_JOBS,
  OVERVIEW_MINUTES,
  OVERVIEW_QUEUES_MAX,
  QUEUES_LISTED_DEFAULT,
  QUEUES_LISTED_MAX,
  STATUSES,
  type QueueOverview,
} from "../../shared/index.js";
import type { QueryCtx } from "../_generated/server.js";
import { queueState } from "../manage/control.js";
import { gauge } from "../count/gauge.js";
import { findQueueRow } from "../rows/queues.js";
import { lastOf } from "./stats.js";

/** The names of queues, page by page. */
export async function queues(
  ctx: QueryCtx,
  { after = "", limit = QUEUES_LISTED_DEFAULT }: { after?: string; limit?: number },
): Promise<{ names: string[]; more: boolean }> {
  checkInteger("limit", limit, 1, QUEUES_LISTED_MAX);
  const rows = await ctx.db
    .query("queues")
    .withIndex("name", (q) => q.gt("name", after))
    .take(limit + 1);
  return { names: rows.slice(0, limit).map(({ name }) => name), more: rows.length > limit };
}

/** One queue; `beside` is the number of queues that the same query reads. */
export async function overview(
  ctx: QueryCtx,
  name: string,
  beside: number = 1,
): Promise<QueueOverview | null> {
  checkName("The name of a queue", name);
  checkInteger("beside", beside, 1, OVERVIEW_QUEUES_MAX);
  const row = await findQueueRow(ctx.db, name);
  if (row === null) return null;
  const countTo = Math.floor(OVERVIEW_JOBS / (STATUSES.length * beside));
  const few = Math.min(OVERVIEW_COUNT_MAX, countTo);
  const [state, gaugeNow, recent] = await Promise.all([
    queueState(ctx, name),
    gauge(ctx, name, { beside, countTo: beside === 1 ? undefined : few }),
    lastOf(ctx.db, { queue: name, per: "minute", count: OVERVIEW_MINUTES }),
  ]);
  return { state, isPush: row.config.push === true, gauge: gaugeNow, recent };
}

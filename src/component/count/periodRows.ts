/**
 * The rows of minutes, hours, days, and of all time (`periods`): found, and added to. Their only writer.
 * Only counts write them: the roll-up counts ended jobs, the count of new jobs counts these.
 */
import {
  addHistograms,
  EVER,
  PERIODS_RETENTION_MS,
  type Per,
  type PeriodCounts,
  type Tally,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { DatabaseReader, DatabaseWriter, MutationCtx } from "../_generated/server.js";
import { forgetEvents } from "../rows/events.js";

/** The counts of a row. */
export function countsOf(row: Doc<"periods">): PeriodCounts {
  const { enqueued, started, succeeded, failed, canceled, timedOut } = row;
  const { waitMs, runMs, waitSumMs, runSumMs } = row;
  return {
    ...{ enqueued, started, succeeded, failed, canceled, timedOut },
    ...{ waitMs, runMs, waitSumMs, runSumMs },
  };
}

/** The rows of a queue's periods from `from` up to `to`, oldest first. */
export async function rowsBetween(
  db: DatabaseReader,
  {
    queue,
    per,
    from,
    to,
    count,
  }: { queue: string; per: Tally["per"]; from: number; to: number; count: number },
): Promise<Doc<"periods">[]> {
  return await db
    .query("periods")
    .withIndex("queue", (q) => q.eq("queue", queue).eq("per", per).gte("at", from).lte("at", to))
    .take(count);
}

/** Adds to the rows of one queue. */
export async function addTallies(
  ctx: MutationCtx,
  queue: string,
  tallies: readonly Tally[],
): Promise<void> {
  for (const tally of tallies) await addTally(ctx, queue, tally);
}

async function addTally(
  ctx: MutationCtx,
  queue: string,
  { per, at, ...more }: Tally,
): Promise<void> {
  const [row] = await rowsBetween(ctx.db, { queue, per, from: at, to: at, count: 1 });
  if (row === undefined) {
    await ctx.db.insert("periods", { queue, per, at, ...more });
    // A queue in which no finished job is left has no purge.
    if (per !== EVER) await forgetPeriods(ctx.db, queue, per, FORGOTTEN_AT_ONCE, Date.now());
    if (per === "day") await forgetEvents(ctx.db, FORGOTTEN_AT_ONCE, Date.now());
    return;
  }
  await ctx.db.patch("periods", row._id, added(countsOf(row), more));
}

function added(a: PeriodCounts, b: PeriodCounts): PeriodCounts {
  return {
    enqueued: a.enqueued + b.enqueued,
    started: a.started + b.started,
    succeeded: a.succeeded + b.succeeded,
    failed: a.failed + b.failed,
    canceled: a.canceled + b.canceled,
    timedOut: a.timedOut + b.timedOut,
    waitMs: addHistograms(a.waitMs, b.waitMs),
    runMs: addHistograms(a.runMs, b.runMs),
    waitSumMs: a.waitSumMs + b.waitSumMs,
    runSumMs: a.runSumMs + b.runSumMs,
  };
}

/**
 * Old rows deleted with a new one: more than one, so that a queue which has too many comes down to its bound; and few, since one
 * count of new jobs may begin the day of 512 queues.
 */
const FORGOTTEN_AT_ONCE = 2;

/** Deletes rows after their time, the oldest first. Returns how many. */
export async function forgetPeriods(
  db: DatabaseWriter,
  queue: string,
  per: Per,
  count: number,
  now: number,
): Promise<number> {
  const to = now - PERIODS_RETENTION_MS[per];
  const rows = await rowsBetween(db, { queue, per, from: 0, to, count });
  for (const { _id } of rows) await db.delete("periods", _id);
  return rows.length;
}

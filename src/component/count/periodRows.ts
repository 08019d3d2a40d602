/**
 * The rows of minutes (`minutes`), hours, days, and of all time (`periods`): found, and added to. Their only writer.
 * Only counts write them: the roll-up counts ended jobs, the count of new jobs counts these.
 */
import { addHistograms, type PeriodCounts, type Tally } from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { DatabaseReader, DatabaseWriter, MutationCtx } from "../_generated/server.js";

type Row = Doc<"minutes"> | Doc<"periods">;

/** The counts of a row. */
export function countsOf(row: Row): PeriodCounts {
  const { enqueued, started, succeeded, failed, canceled, timedOut } = row;
  const { waitMs, runMs, waitSumMs, runSumMs } = row;
  return {
    ...{ enqueued, started, succeeded, failed, canceled, timedOut },
    ...{ waitMs, runMs, waitSumMs, runSumMs },
  };
}

/** The beginning of a row's period. */
export function beginningOf(row: Row): number {
  return "minute" in row ? row.minute : row.at;
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
): Promise<Row[]> {
  if (per === "minute") {
    return await db
      .query("minutes")
      .withIndex("queue", (q) => q.eq("queue", queue).gte("minute", from).lte("minute", to))
      .take(count);
  }
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
    if (per === "minute") await ctx.db.insert("minutes", { queue, minute: at, ...more });
    else await ctx.db.insert("periods", { queue, per, at, ...more });
    return;
  }
  const sum = added(countsOf(row), more);
  if ("minute" in row) await ctx.db.patch("minutes", row._id, sum);
  else await ctx.db.patch("periods", row._id, sum);
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

export async function deletePeriod(db: DatabaseWriter, row: Row): Promise<void> {
  if ("minute" in row) await db.delete("minutes", row._id);
  else await db.delete("periods", row._id);
}

/**
 * The rows of minutes, hours, days, and of all time (`periods`): found, and added to. Their only writer.
 * Only counts write them: the roll-up counts ended jobs, the count of new jobs counts these.
 */
import {
  addHistograms,
  PERIODS_RETENTION_MS,
  PERS,
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

/**
 * Adds to the rows of these queues, all at the same time: one count may begin the rows of 200 queues, and took 1.3 s with
 * one read after the other, in one of the eight functions that class S16 runs at once. No queue's list may name a
 * period twice.
 */
export async function addTallies(
  ctx: MutationCtx,
  byQueue: ReadonlyMap<string, readonly Tally[]>,
): Promise<void> {
  const begun = await Promise.all(
    [...byQueue].map(([queue, tallies]) => addToQueue(ctx.db, queue, tallies)),
  );
  const days = begun.flat().filter((per) => per === "day").length;
  if (days > 0) await forgetEvents(ctx.db, FORGOTTEN_AT_ONCE * days, Date.now());
}

/** Returns the kinds of the rows that are new. A queue in which no finished job is left has no purge: old ones go here. */
async function addToQueue(
  db: DatabaseWriter,
  queue: string,
  tallies: readonly Tally[],
): Promise<Tally["per"][]> {
  const isNew = await Promise.all(tallies.map((tally) => addTally(db, queue, tally)));
  const begun = tallies.filter((_, i) => isNew[i]).map(({ per }) => per);
  const forget = PERS.map(async (per) => {
    const rows = begun.filter((one) => one === per).length;
    if (rows > 0) await forgetPeriods(db, queue, per, FORGOTTEN_AT_ONCE * rows, Date.now());
  });
  await Promise.all(forget);
  return begun;
}

/** Whether its row is new. */
async function addTally(
  db: DatabaseWriter,
  queue: string,
  { per, at, ...more }: Tally,
): Promise<boolean> {
  const [row] = await rowsBetween(db, { queue, per, from: at, to: at, count: 1 });
  if (row === undefined) await db.insert("periods", { queue, per, at, ...more });
  else await db.patch("periods", row._id, added(countsOf(row), more));
  return row === undefined;
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
 * Old rows deleted with each new one: more than one, so that a queue which has too many comes down to its bound; and few, since one
 * count of new jobs may begin the day of 128 queues.
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

/**
 * Stats: the events of a queue by minute, hour or day, from the rows that the roll-up keeps. It reads one row per
 * period shown, however many jobs there were; a subscription is invalidated when the roll-up writes one of them.
 */
import {
  checkInteger,
  checkName,
  emptyPeriod,
  lastPeriods,
  percentilesOf,
  STATS_DEFAULT,
  STATS_MAX,
  type Per,
  type Period,
  type Stats,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { DatabaseReader, QueryCtx } from "../_generated/server.js";
import { countsOf, rowsBetween } from "../count/periodRows.js";

/** The last `count` (60, at most 1,000) periods up to that of `until` (now). */
export async function stats(
  ctx: QueryCtx,
  {
    queue,
    per = "minute",
    count = STATS_DEFAULT,
    until,
  }: { queue: string; per?: Per; count?: number; until?: number },
): Promise<Stats> {
  checkName("The name of a queue", queue);
  checkInteger("count", count, 1, STATS_MAX);
  if (until !== undefined) checkInteger("until", until, 0, Number.MAX_SAFE_INTEGER);
  return { per, periods: await lastOf(ctx.db, { queue, per, count, until }) };
}

/** The last periods of a queue, empty ones included. */
export async function lastOf(
  db: DatabaseReader,
  asked: { queue: string; per: Per; count: number; until?: number | undefined },
): Promise<Period[]> {
  const wanted = lastPeriods(asked.until ?? Date.now(), asked.per, asked.count);
  // Up to now is a range without an end: a subscription is invalidated by the next minute's row too.
  const end = asked.until === undefined ? Infinity : wanted.at(-1)!;
  const rows = await rowsBetween(db, { ...asked, from: wanted[0]!, to: end });
  const found = new Map(rows.map((row) => [row.at, periodOfRow(row)]));
  return wanted.map((at) => found.get(at) ?? emptyPeriod(at));
}

function periodOfRow(row: Doc<"periods">): Period {
  const { waitMs, runMs, waitSumMs: _waitSumMs, runSumMs: _runSumMs, ...counts } = countsOf(row);
  return {
    ...counts,
    at: row.at,
    waitMs: percentilesOf(waitMs),
    runMs: percentilesOf(runMs),
  };
}

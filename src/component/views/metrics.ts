/**
 * Metrics: a queue as a monitoring system polls it every few seconds: its gauge, and counters that only grow, from
 * which the system computes rates. Writes nothing.
 *
 * Reads: the queue's row, its gauge, and its row of all time; where it is quiet, jobs.
 */
import { addHistograms, EVER, type Metrics, type Totals } from "../../shared/index.js";
import type { DatabaseReader, QueryCtx } from "../_generated/server.js";
import { gauge } from "../count/gauge.js";
import { countsOf, rowsBetween } from "../count/periodRows.js";
import { findQueue } from "../rows/queues.js";

/** `null` for a queue that no code has declared. */
export async function metrics(ctx: QueryCtx, name: string): Promise<Metrics | null> {
  const queue = await findQueue(ctx.db, name);
  if (queue === null) return null;
  const { isPaused, isDraining } = queue;
  const totals = await totalsOf(ctx.db, name);
  return { isPaused, isDraining, gauge: await gauge(ctx, name), totals };
}

async function totalsOf(db: DatabaseReader, queue: string): Promise<Totals> {
  const [row] = await rowsBetween(db, { queue, per: EVER, from: 0, to: 0, count: 1 });
  const { started: _started, waitMs, runMs, ...counts } = row === undefined ? NONE : countsOf(row);
  // A stored histogram omits empty buckets.
  return { ...counts, waitMs: addHistograms(waitMs, []), runMs: addHistograms(runMs, []) };
}

const NONE = {
  ...{ enqueued: 0, started: 0, succeeded: 0, failed: 0, canceled: 0, timedOut: 0 },
  ...{ waitMs: [], runMs: [], waitSumMs: 0, runSumMs: 0 },
};

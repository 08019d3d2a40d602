/**
 * Tallies: the increments of the counts of a minute, an hour and a day, gathered from single jobs before any row is written.
 * Pure.
 */
import { bucketOf, emptyHistogram } from "./buckets.js";
import type { Per } from "./observing.js";
import { periodOf } from "./periods.js";
import type { FinishedStatus } from "./status.js";

export const PERS = ["minute", "hour", "day"] as const satisfies readonly Per[];

/** The counts in the row of a period. */
export interface PeriodCounts {
  enqueued: number;
  started: number;
  succeeded: number;
  failed: number;
  canceled: number;
  timedOut: number;
  /** Jobs in each bucket; fewer buckets than there are count as empty beyond. */
  waitMs: number[];
  runMs: number[];
  /** The same durations, added up. */
  waitSumMs: number;
  runSumMs: number;
}

/** Counted from the beginning on: figures that only grow, for rates computed outside. */
export const EVER = "ever";

export interface Tally extends PeriodCounts {
  per: Per | typeof EVER;
  /** The period's beginning; 0 for the counts from the beginning on. */
  at: number;
}

/** How a job ended, as far as it is counted. */
export interface CountedEnd {
  status: FinishedStatus;
  /** When that was committed. */
  endedAt: number;
  enqueuedAt: number;
  startedAt?: number | undefined;
  finishedAt?: number | undefined;
}

const COUNTED = [...PERS, EVER] as const;

/** Tallies of one queue. */
export class Tallies {
  private readonly byKey = new Map<string, Tally>();

  /** A job came in. */
  countNew(enqueuedAt: number): void {
    for (const per of COUNTED) this.of(per, enqueuedAt).enqueued += 1;
  }

  /** A job ended: in the period of that, and where it had been begun, in the period of its beginning too. */
  countEnd({ status, endedAt, enqueuedAt, startedAt, finishedAt }: CountedEnd): void {
    for (const per of COUNTED) {
      const tally = this.of(per, endedAt);
      tally[status] += 1;
      // A job that never started neither waited for its start nor ran.
      if (startedAt === undefined || finishedAt === undefined) continue;
      this.of(per, startedAt).started += 1;
      const [waitedMs, ranMs] = [startedAt - enqueuedAt, finishedAt - startedAt];
      increment(tally.waitMs, waitedMs);
      increment(tally.runMs, ranMs);
      // Two clocks that disagree make no sum smaller.
      tally.waitSumMs += Math.max(0, waitedMs);
      tally.runSumMs += Math.max(0, ranMs);
    }
  }

  all(): Tally[] {
    return [...this.byKey.values()];
  }

  private of(per: Tally["per"], instant: number): Tally {
    const at = per === EVER ? 0 : periodOf(instant, per);
    const key = `${per} ${at}`;
    const tally = this.byKey.get(key) ?? emptyTally(per, at);
    this.byKey.set(key, tally);
    return tally;
  }
}

function emptyTally(per: Tally["per"], at: number): Tally {
  return {
    ...{ per, at, enqueued: 0, started: 0, succeeded: 0, failed: 0, canceled: 0, timedOut: 0 },
    ...{ waitMs: [], runMs: [], waitSumMs: 0, runSumMs: 0 },
  };
}

function increment(histogram: number[], ms: number): void {
  if (histogram.length === 0) histogram.push(...emptyHistogram());
  histogram[bucketOf(ms)]! += 1;
}

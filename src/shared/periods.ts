/** Minutes, hours and days, as statistics are kept by them: all of UTC, each from its beginning on. Pure. */
import type { Per, Period } from "./observing.js";

export const PERIOD_MS: Record<Per, number> = {
  minute: 60_000,
  hour: 60 * 60_000,
  day: 24 * 60 * 60_000,
};

/** The beginning of the minute, hour or day in which this instant lies. */
export function periodOf(at: number, per: Per): number {
  return Math.floor(at / PERIOD_MS[per]) * PERIOD_MS[per];
}

/** The beginnings of the last `count` periods, oldest first, the one in which `until` lies being the last. */
export function lastPeriods(until: number, per: Per, count: number): number[] {
  const last = periodOf(until, per);
  return Array.from({ length: count }, (_, i) => last - (count - 1 - i) * PERIOD_MS[per]);
}

/** A period in which nothing happened. */
export function emptyPeriod(at: number): Period {
  return {
    at,
    enqueued: 0,
    started: 0,
    succeeded: 0,
    failed: 0,
    canceled: 0,
    timedOut: 0,
    waitMs: null,
    runMs: null,
  };
}

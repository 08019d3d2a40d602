/** When a job will begin, from how fast its queue has gone of late. Pure. */

/**
 * Minutes that the estimate reads, out of the minutes of the last hour in which a job finished: today's workers count, not
 * yesterday's.
 */
export const STARTS_FROM_MINUTES = 5;
export const STARTS_WITHIN_MS = 60 * 60_000;

/**
 * The time in milliseconds until a job with `ahead` jobs before it begins, at the pace of the best of these minutes: in the
 * other minutes the queue may have had fewer jobs than it could run. `null` where no pace is known.
 */
export function startsAfter(ahead: number, endedByMinute: readonly number[]): number | null {
  const perMinute = Math.max(0, ...endedByMinute);
  return perMinute === 0 ? null : Math.round((ahead / perMinute) * 60_000);
}

/** When a job will begin, from how fast its queue has gone of late. Pure. */

/** Minutes that are looked at, of those in which anything ended within the last hour: of today's workers, not yesterday's. */
export const STARTS_FROM_MINUTES = 5;
export const STARTS_WITHIN_MS = 60 * 60_000;

/**
 * In how many milliseconds the job with so many before it begins, at the pace of the best of these minutes: in the others the
 * queue may have had less to do than it could. `null` where nothing is known.
 */
export function startsAfter(ahead: number, endedByMinute: readonly number[]): number | null {
  const perMinute = Math.max(0, ...endedByMinute);
  return perMinute === 0 ? null : Math.round((ahead / perMinute) * 60_000);
}

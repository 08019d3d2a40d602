/** Waiting longer after every failure. Pure; the jitter, where there is any, is the caller's. */

/** `initialMs` × `base`^(failures − 1), at most `maxMs`. */
export function backoffMs(
  failures: number,
  initialMs: number,
  maxMs: number,
  base: number = 2,
): number {
  // Nothing times a power that is beyond all numbers would be no number, and no time at which a job falls due.
  if (initialMs === 0) return 0;
  return Math.min(initialMs * base ** Math.max(0, failures - 1), maxMs);
}

/**
 * Full jitter: anything from nothing to the whole wait, so that what failed together does not come back together.
 * Source: "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
 */
export function fullJitter(ms: number, random: number): number {
  return Math.floor(ms * random);
}

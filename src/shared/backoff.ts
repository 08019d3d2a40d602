/** Waiting longer after every failure. Pure; the jitter, where there is any, is the caller's. */

/** `initialMs` × 2^(failures − 1), at most `maxMs`. */
export function backoffMs(failures: number, initialMs: number, maxMs: number): number {
  return Math.min(initialMs * 2 ** Math.max(0, failures - 1), maxMs);
}

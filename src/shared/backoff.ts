/** Waiting longer after every failure. Pure; the random number, where there is jitter, is the caller's. */
import type { Jitter } from "./protocol.js";

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
 * Full jitter is anything from 0 to the whole wait, so that jobs that failed together do not come back together; equal jitter
 * keeps half of the wait. Source: "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
 */
export function jittered(ms: number, random: number, jitter: Jitter = "full"): number {
  const kept = { full: 0, equal: ms / 2, none: ms }[jitter];
  return Math.floor(kept + (ms - kept) * random);
}

/**
 * The buckets of the histograms in `minutes`, and how a job falls into them. Pure.
 *
 * Bucket 0 holds durations under 1 ms, bucket `i` those from 2^(i-1) ms up to 2^i ms, the last one all that are longer:
 * half a job's time is as good as a page can show, rows are added bucket by bucket, and no bound ever has to change.
 */

import { msOfCommit } from "./commitTime.js";

/** 2^30 ms is twelve days. */
export const BUCKETS = 32;

/** The bucket of a duration in milliseconds. A negative one, of two clocks that disagree, counts as none. */
export function bucketOf(ms: number): number {
  if (!(ms >= 1)) return 0;
  return Math.min(BUCKETS - 1, Math.floor(Math.log2(ms)) + 1);
}

/** What lies in a bucket: from `min` up to, and without, `max` milliseconds. */
export function bucketBounds(bucket: number): { min: number; max: number } {
  return {
    min: bucket === 0 ? 0 : 2 ** (bucket - 1),
    max: bucket === BUCKETS - 1 ? Infinity : 2 ** bucket,
  };
}

export function emptyHistogram(): number[] {
  return Array<number>(BUCKETS).fill(0);
}

/** The sum of two histograms. One written with fewer buckets counts as empty beyond them. */
export function addHistograms(a: readonly number[], b: readonly number[]): number[] {
  return emptyHistogram().map((_, i) => (a[i] ?? 0) + (b[i] ?? 0));
}

const MINUTE_MS = 60_000;

/** The beginning of the minute in which this commit lies, in milliseconds. */
export function minuteOf(seq: bigint): number {
  return Math.floor(msOfCommit(seq) / MINUTE_MS) * MINUTE_MS;
}

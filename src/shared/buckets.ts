/**
 * The buckets of the histograms in `periods`, and the bucket of a job. Pure.
 *
 * Bucket 0 holds durations under 1 ms, bucket `i` durations from 2^(i-1) ms up to 2^i ms, and the last bucket all longer ones.
 * A page needs no finer durations, rows are added bucket by bucket, and no bound ever has to change.
 */

import type { Percentiles } from "./observing.js";

/** 2^30 ms is twelve days. */
export const BUCKETS = 32;

/** The bucket of a duration in milliseconds. A negative one, of two clocks that disagree, counts as none. */
export function bucketOf(ms: number): number {
  if (!(ms >= 1)) return 0;
  return Math.min(BUCKETS - 1, Math.floor(Math.log2(ms)) + 1);
}

/** The durations of a bucket: from `min` up to, and without, `max` milliseconds. */
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

/**
 * The duration in milliseconds below which `p` (0 to 1) of the jobs in a histogram stay, as if the jobs of a bucket lay evenly
 * between its bounds: the error is less than the bucket's width. `null` for an empty histogram. The last bucket has no end: its
 * beginning stands for it.
 */
export function percentileOf(histogram: readonly number[], p: number): number | null {
  const total = histogram.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const wanted = Math.min(1, Math.max(0, p)) * total;
  let below = 0;
  for (const [bucket, count] of histogram.entries()) {
    if (count === 0 || below + count < wanted) {
      below += count;
      continue;
    }
    const { min, max } = bucketBounds(bucket);
    return max === Infinity ? min : min + ((max - min) * (wanted - below)) / count;
  }
  throw new Error("The shares of a histogram's buckets do not add up.");
}

/** The percentiles that pages show; `null` where no job is counted. */
export function percentilesOf(histogram: readonly number[]): Percentiles | null {
  const p50 = percentileOf(histogram, 0.5);
  if (p50 === null) return null;
  return { p50, p95: percentileOf(histogram, 0.95)!, p99: percentileOf(histogram, 0.99)! };
}

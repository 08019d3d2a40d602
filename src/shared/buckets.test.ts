import { describe, expect, test } from "vitest";
import {
  addHistograms,
  bucketBounds,
  bucketOf,
  BUCKETS,
  emptyHistogram,
  percentileOf,
  percentilesOf,
} from "./buckets.js";

describe("a histogram", () => {
  test("has a bucket for every duration, and each bucket's bounds say which fall into it", () => {
    for (const ms of [0, 0.4, 1, 1.5, 2, 3, 1_000, 1_023, 1_024, 60_000, 2 ** 31, Infinity]) {
      const { min, max } = bucketBounds(bucketOf(ms));
      expect(ms >= min && (ms < max || max === Infinity), `${ms} ms`).toBe(true);
    }
  });

  test("leaves no gap between two buckets", () => {
    for (let i = 1; i < BUCKETS; i += 1) {
      expect(bucketBounds(i).min).toBe(bucketBounds(i - 1).max);
      expect(bucketOf(bucketBounds(i).min)).toBe(i);
    }
  });

  test.each([-5, Number.NaN])("takes %d ms, of clocks that disagree, for none", (ms) => {
    expect(bucketOf(ms)).toBe(0);
  });

  test("is added bucket by bucket, also to one with fewer buckets", () => {
    const sum = addHistograms([1, 2], [...emptyHistogram().slice(1), 7]);
    expect([sum[0], sum[1], sum[BUCKETS - 1], sum.length]).toEqual([1, 2, 7, BUCKETS]);
  });
});

describe("a percentile", () => {
  const of = (durations: readonly number[]) => {
    const histogram = emptyHistogram();
    for (const ms of durations) histogram[bucketOf(ms)]! += 1;
    return histogram;
  };

  test("is off by less than the bucket of the true one is wide", () => {
    const durations = Array.from({ length: 1_000 }, (_, i) => 1.01 ** i);
    for (const p of [0.01, 0.5, 0.95, 0.99, 1]) {
      const exact = durations[Math.ceil(p * durations.length) - 1]!;
      const { min, max } = bucketBounds(bucketOf(exact));
      const got = percentileOf(of(durations), p)!;
      expect(got, `p${p}`).toBeGreaterThanOrEqual(min);
      expect(got, `p${p}`).toBeLessThanOrEqual(max);
    }
  });

  test("lies between a bucket's bounds as its share does", () => {
    expect(percentileOf([0, 0, 0, 4], 0.25)).toBe(5);
    expect(percentileOf([0, 0, 0, 4], 1)).toBe(8);
    expect(percentileOf([5, 0, 0, 5], 0.5)).toBe(1);
  });

  test("never falls when more are asked for", () => {
    const histogram = of([0, 3, 3, 900, 70_000, 2 ** 40]);
    const all = Array.from({ length: 101 }, (_, i) => percentileOf(histogram, i / 100)!);
    expect([...all].sort((a, b) => a - b)).toEqual(all);
  });

  test("of an empty histogram is null, of a longer duration the last bound, and of a share out of bounds the nearest one", () => {
    expect(percentileOf([], 0.5)).toBeNull();
    expect(percentilesOf(emptyHistogram())).toBeNull();
    expect(percentileOf(of([2 ** 50]), 0.5)).toBe(2 ** 30);
    expect(percentileOf([0, 0, 0, 4], 7)).toBe(8);
    expect(percentileOf([0, 0, 0, 4], -1)).toBe(4);
  });
});

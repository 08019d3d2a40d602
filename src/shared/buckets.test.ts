import { describe, expect, test } from "vitest";
import {
  addHistograms,
  bucketBounds,
  bucketOf,
  BUCKETS,
  emptyHistogram,
  minuteOf,
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

test("a commit lies in the minute that its nanoseconds say, exactly", () => {
  const minute = Date.UTC(2026, 0, 1, 12, 30);
  const seq = BigInt(minute) * 1_000_000n;
  expect([minuteOf(seq - 1n), minuteOf(seq), minuteOf(seq + 59_999_999_999n)]).toEqual([
    minute - 60_000,
    minute,
    minute,
  ]);
});

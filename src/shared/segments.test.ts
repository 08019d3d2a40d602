import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  DISPATCH_WIDTHS,
  EXPIRY_WIDTHS,
  ringsAt,
  segmentOf,
  segmentsOf,
  sliceOf,
} from "./segments.js";

const NOW = Date.UTC(2026, 0, 1, 12, 30, 15);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const widthOf = (inMs: number) => segmentOf(DISPATCH_WIDTHS, NOW + inMs, NOW).width;

describe("the segment of an instant", () => {
  // Shows WP-01.
  test("is narrow nearby, and wider the further away", () => {
    const days = 32 * DAY;
    expect([0, 2 * MINUTE, 3 * HOUR, 3 * DAY, 100 * DAY].map(widthOf)).toEqual([
      ...[100, MINUTE, HOUR, DAY, days],
    ]);
  });

  test("of an instant that has passed is of the finest width, so that its alarm rings at once", () => {
    expect(segmentOf(DISPATCH_WIDTHS, NOW - DAY, NOW)).toEqual({ start: NOW - DAY, width: 100 });
  });

  test("is narrower than the one that hands over to it", () => {
    const at = NOW + 3 * DAY;
    expect(segmentOf(DISPATCH_WIDTHS, at, NOW, DAY).width).toBe(HOUR);
    expect(segmentOf(DISPATCH_WIDTHS, at, NOW, HOUR).width).toBe(MINUTE);
  });

  test.each([DISPATCH_WIDTHS, EXPIRY_WIDTHS])(
    "holds it, and rings in time: within one finest width of it, or with every hop before it (%s)",
    (...widths) => {
      const [finest] = widths;
      const far = fc.integer({ min: -DAY, max: 4 * 366 * DAY });
      fc.assert(
        fc.property(far, fc.double({ min: 0, max: 1, noNaN: true }), (inMs, fraction) => {
          const at = NOW + inMs + fraction;
          const segment = segmentOf(widths as unknown as typeof DISPATCH_WIDTHS, at, NOW);
          expect(segment.start).toBeLessThanOrEqual(at);
          expect(at).toBeLessThan(segment.start + segment.width);
          if (segment.width === finest) expect(ringsAt(segment) - at).toBeLessThanOrEqual(finest);
          else {
            expect(ringsAt(segment)).toBeGreaterThan(NOW);
            expect(at - ringsAt(segment)).toBeGreaterThanOrEqual(5_000);
          }
        }),
      );
    },
  );
});

describe("segments for many instants", () => {
  test("are one for the instants within one", () => {
    const ats = Array.from({ length: 1_000 }, () => NOW + 3 * DAY);
    expect(segmentsOf(DISPATCH_WIDTHS, ats, NOW, 64)).toHaveLength(1);
  });

  test("are wider where there would be too many, but not for urgent instants", () => {
    const ats = Array.from({ length: 600 }, (_, i) => NOW + i * 100);
    const segments = segmentsOf(DISPATCH_WIDTHS, ats, NOW, 64);
    expect(segments.length).toBeLessThanOrEqual(64);
    for (const at of ats) {
      const widths = segments
        .filter(({ start, width }) => start <= at && at < start + width)
        .map(({ width }) => width);
      expect(widths).not.toEqual([]);
      if (at <= NOW + 2_000) expect(widths).toContain(100);
    }
  });

  test("spread over four years are some dozen", () => {
    const ats = Array.from({ length: 1_000 }, (_, i) => NOW + (i * 4 * 366 * DAY) / 1_000);
    expect(segmentsOf(DISPATCH_WIDTHS, ats, NOW, 64).length).toBeLessThan(64);
  });

  test("any number of jobs at any times have fewer than a thousand alarms", () => {
    const starts = new Set<string>();
    const add = (at: number) => {
      const { start, width } = segmentOf(DISPATCH_WIDTHS, at, NOW);
      starts.add(`${width}:${start}`);
    };
    for (let at = NOW; at < NOW + 3 * MINUTE; at += 100) add(at);
    for (let at = NOW; at < NOW + 3 * DAY; at += MINUTE) add(at);
    for (let at = NOW; at < NOW + 4 * 366 * DAY; at += DAY) add(at);
    expect(starts.size).toBeLessThan(1_000);
  });
});

test("a slice begins at a multiple of its width, also for instants that are no whole numbers", () => {
  expect(sliceOf(100, 1_234.5)).toEqual({ start: 1_200, width: 100 });
});

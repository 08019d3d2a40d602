/**
 * Segments: slices of time, each with one alarm for all its work. Near ones are narrow, far ones wide, so that a queue has some
 * hundred alarms for any number of scheduled jobs. Pure.
 *
 * A segment of the finest width rings at its *end*, when all its work is due. A wider one rings some time before its
 * *beginning* (its lead) and hands its work to narrower ones, so that its first job is as punctual as its last.
 */

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Ascending; each divides the next, so that a segment lies in one wider segment as a whole. */
export type Widths = readonly [finest: number, ...wider: number[]];

const WIDER = [MINUTE_MS, HOUR_MS, DAY_MS, 32 * DAY_MS] as const;
/** Jobs fall due to a tenth of a second: with the platform's own delays that is within a quarter. */
export const DISPATCH_WIDTHS: Widths = [100, ...WIDER];
/** An expiry is not urgent: a tenth of the alarms will do. */
export const EXPIRY_WIDTHS: Widths = [SECOND_MS, ...WIDER];

/**
 * How long before its beginning a wide segment rings: time for the hops from alarm to alarm, and for a scheduler that is
 * late, before the first job is due.
 */
const LEADS: Readonly<Record<number, number>> = {
  [MINUTE_MS]: 5 * SECOND_MS,
  [HOUR_MS]: MINUTE_MS,
  [DAY_MS]: HOUR_MS,
  [32 * DAY_MS]: DAY_MS,
};

/**
 * Work due within this time is never left to a wider segment's alarm, which needs a hop or two before it rings the narrow
 * one's.
 */
const URGENT_MS = 2 * SECOND_MS;

export interface Segment {
  start: number;
  width: number;
}

/** The slice of this width in which an instant lies. */
export function sliceOf(width: number, at: number): Segment {
  return { start: Math.floor(at / width) * width, width };
}

/** When the alarm of a segment is to ring. */
export function ringsAt({ start, width }: Segment): number {
  const lead = LEADS[width];
  return lead === undefined ? start + width : start - lead;
}

/**
 * The segment for an instant, seen from now: the widest one with an alarm that has not yet rung, or else the finest. `below`:
 * only narrower ones.
 */
export function segmentOf(widths: Widths, at: number, now: number, below = Infinity): Segment {
  for (const width of widths.slice(1).reverse()) {
    const segment = sliceOf(width, at);
    if (width < below && ringsAt(segment) > now) return segment;
  }
  return sliceOf(widths[0], at);
}

/**
 * The segments for many instants, but hardly more than `max`: beyond that, segments of the next width, which ring at once and
 * hand on to the narrow ones in transactions of their own.
 */
export function segmentsOf(
  widths: Widths,
  ats: readonly number[],
  now: number,
  max: number,
): Segment[] {
  let segments = distinct(ats.map((at) => segmentOf(widths, at, now)));
  for (const [i, wider] of widths.slice(1).entries()) {
    if (segments.length <= max) break;
    segments = distinct(
      segments.map((segment) =>
        segment.width === widths[i] && segment.start > now + URGENT_MS
          ? sliceOf(wider, segment.start)
          : segment,
      ),
    );
  }
  return segments;
}

/**
 * The same, for a transaction that has armed many already: less urgent work goes to the alarms of the next width, and a
 * minute's work shares one.
 */
export function sparingSegmentsOf(
  widths: Widths,
  ats: readonly number[],
  now: number,
  max: number,
): Segment[] {
  const [finest, wider] = widths;
  const segments = segmentsOf(widths, ats, now, max).map((segment) =>
    wider !== undefined && segment.width === finest && segment.start > now + URGENT_MS
      ? sliceOf(wider, segment.start)
      : segment,
  );
  return distinct(segments);
}

function distinct(segments: readonly Segment[]): Segment[] {
  return [...new Map(segments.map((s) => [`${s.width}:${s.start}`, s])).values()];
}

/**
 * Alarms of segments: shared by the dispatcher and the expiry. An alarm stands for a slice of time, so that many jobs
 * with a time cost one scheduled function; wide slices far away, narrow ones near (`shared/segments.ts`).
 *
 * Why no job is missed:
 * - *A narrow alarm* (the kind's own ring) deletes its row in the transaction in which it has read its whole slice for
 *   real. Its time has passed, so hardly any transaction writes there.
 * - *A wide alarm* must not read its slice for real: jobs that are put into it meanwhile have narrow alarms of their
 *   own, and would still make it retry again and again. It first marks in its row that it is handing over, and every
 *   transaction that relied on the row has read it for real; then it reads the slice, in a transaction of its own and
 *   in a snapshot. A transaction that finds a row handing over writes it, at its own instant if that is earlier: so a
 *   later snapshot read comes there.
 *
 * Several transactions that find a segment without an alarm at the same time arm one each; all but the first go when
 * they ring.
 *
 * Reads for real: the alarm's row, the first alarm of its segment, and the narrow alarms that it arms. Snapshot reads:
 * one row of each narrower segment in which there is anything, and the alarms that stand for it. Writes: the rows of
 * these alarms (`timers`). No job is rewritten, and none is read for real. Conflicts with: an enqueue that relies on an
 * alarm which rings; one that arms an alarm of the same segment and slot.
 */
import { v, type Infer } from "convex/values";
import {
  ALARM_AFTER_MS,
  ALARM_NEAR_MS,
  ALARM_SLOTS,
  ARM_MAX,
  DISPATCH_WIDTHS,
  EXPIRY_WIDTHS,
  REBUCKET_MAX,
  ringsAt,
  RUN_AT_FUTURE_MAX_MS,
  segmentOf,
  segmentsOf,
  sparingSegmentsOf,
  type Segment,
  type Widths,
} from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import { internalQuery, type DatabaseReader, type MutationCtx } from "../_generated/server.js";
import {
  defineLoop,
  findAlarm,
  findAlarms,
  insertAlarm,
  isOverdue,
  rearm,
  revive,
  type Next,
} from "./loop.js";

export const vSegmentKind = v.union(v.literal("dispatcher"), v.literal("expiry"));
export type SegmentKind = Infer<typeof vSegmentKind>;

/** How wide the slices are. */
export const WIDTHS: Record<SegmentKind, Widths> = {
  dispatcher: DISPATCH_WIDTHS,
  expiry: EXPIRY_WIDTHS,
};

/** An alarm of a segment: a row of `timers` that has all that goes with one. */
export interface SegmentAlarm {
  row: Doc<"timers">;
  queue: string;
  segment: Segment;
  end: number;
  isFinest: boolean;
}

function segmentAlarmOf(row: Doc<"timers">, kind: SegmentKind): SegmentAlarm {
  const { queue, start, width } = row;
  if (queue === undefined || start === undefined || width === undefined) {
    throw new Error(`Timer ${row._id} has no segment; this is a bug in Conveyor.`);
  }
  return {
    row,
    queue,
    segment: { start, width },
    end: start + width,
    isFinest: width === WIDTHS[kind][0],
  };
}

// --- Making sure --------------------------------------------------------------------------------

/**
 * Ensures that an alarm comes for these instants: one snapshot read, and for each segment a point read of the alarm
 * that it shows. A job without an alarm, because a canceled function scheduled it, is found by `watchdog.ts` once it is
 * overdue.
 *
 * `isLong`: the caller may take until a narrow alarm that is near has rung, and would retry if it depended on that. It
 * arms one of its own, which rings a moment later: it finds nothing to do, or a job for which the first came too soon.
 */
export async function ensureSegments(
  ctx: MutationCtx,
  kind: SegmentKind,
  queue: string,
  ats: readonly number[],
  now: number,
  { isLong = false }: { isLong?: boolean } = {},
): Promise<void> {
  if (ats.length === 0) return;
  // A loop of single calls in one mutation would arm one each, and a transaction may schedule a thousand functions.
  const { functionsScheduled } = await ctx.meta.getTransactionMetrics();
  const segmentsFor = functionsScheduled.used < ARM_MAX ? segmentsOf : sparingSegmentsOf;
  const segments = segmentsFor(WIDTHS[kind], ats, now, ARM_MAX);
  const alarms: (Id<"timers"> | null)[] = await ctx.runQuery(
    internal.loops.segments.standingAlarms,
    { kind, queue, segments, now },
    { useStaleSnapshot: true },
  );
  for (const [i, { start, width }] of segments.entries()) {
    const alarm = alarms[i] ?? null;
    const isNarrow = width === WIDTHS[kind][0];
    const isNear = isNarrow && alarm !== null && ringsAt({ start, width }) < now + ALARM_NEAR_MS;
    if (isLong && isNear) await ensureOneMore(ctx, kind, queue, { start, width }, now);
    else await ensureSegment(ctx, kind, queue, { start, width, at: start, alarm }, now);
  }
}

/** The alarms that a snapshot shows to stand for these segments. To be called with `useStaleSnapshot`. */
export const standingAlarms = internalQuery({
  args: {
    kind: vSegmentKind,
    queue: v.string(),
    segments: v.array(v.object({ start: v.number(), width: v.number() })),
    now: v.number(),
  },
  returns: v.array(v.union(v.id("timers"), v.null())),
  handler: async (ctx, { kind, queue, segments, now }) =>
    await Promise.all(segments.map((one) => standingOf(ctx.db, kind, queue, one, now))),
});

/** The first of a segment's alarms on which one may rely, or else the first at all. */
async function standingOf(
  db: DatabaseReader,
  kind: SegmentKind,
  queue: string,
  { start, width }: Segment,
  now: number,
): Promise<Id<"timers"> | null> {
  const rows = await findAlarms(db, { kind, queue, start, width });
  const sure = rows.find((row) => handedOverTo(row) === null && !isOverdue(row, now));
  return (sure ?? rows[0])?._id ?? null;
}

/** A segment that is to have an alarm. */
interface Wanted extends Segment {
  /** The first instant in it that must not be missed. */
  at: number;
  /** The alarm that a snapshot has shown. */
  alarm: Id<"timers"> | null;
}

/**
 * That there is an alarm is read for real, by its id. That there is none may be old: then there is one too many, which
 * is harmless, and transactions that find none at the same time conflict only by chance. The slot is one for the whole
 * transaction, since no snapshot shows the transaction's own rows.
 */
async function ensureSegment(
  ctx: MutationCtx,
  kind: SegmentKind,
  queue: string,
  { start, width, at, alarm }: Wanted,
  now: number,
): Promise<void> {
  const slot = Math.floor(now) % ALARM_SLOTS;
  const key = { kind, queue, start, width, ...(slot === 0 ? {} : { slot }) };
  const seen = alarm === null ? null : await ctx.db.get("timers", alarm);
  const row = seen ?? (await findAlarm(ctx.db, key));
  if (row === null) {
    // The platform schedules nothing more than five years ahead: a wide alarm before its time hands over to narrower ones.
    const rings = Math.min(ringsAt({ start, width }), now + RUN_AT_FUTURE_MAX_MS);
    await insertAlarm(ctx, key, Math.max(rings, now));
    return;
  }
  const from = handedOverTo(row);
  // Its next snapshot read may have begun: only a write ensures a later one.
  if (from !== null) await rearm(ctx, row, { at: now, position: { from: Math.min(from, at) } });
  else if (isOverdue(row, now)) await revive(ctx, row, now);
}

/**
 * Beside the alarms that callers rely on, and behind them, so that none of them yields to it. Its slot is one for the
 * whole transaction, too: jobs postponed call by call share it.
 */
async function ensureOneMore(
  ctx: MutationCtx,
  kind: SegmentKind,
  queue: string,
  segment: Segment,
  now: number,
): Promise<void> {
  const key = { kind, queue, ...segment, slot: ALARM_SLOTS + (Math.floor(now) % ALARM_SLOTS) };
  const row = await findAlarm(ctx.db, key);
  if (row === null) await insertAlarm(ctx, key, Math.max(ringsAt(segment), now) + ALARM_AFTER_MS);
  else if (isOverdue(row, now)) await revive(ctx, row, now);
}

// --- A run --------------------------------------------------------------------------------------

/** A loop with alarms that stand for segments. A wide one hands over; of a narrow one `run` does the kind's own work. */
export function defineSegmentLoop({
  kind,
  run,
}: {
  kind: SegmentKind;
  run: (ctx: MutationCtx, alarm: SegmentAlarm, now: number) => Promise<Next>;
}): ReturnType<typeof defineLoop> {
  return defineLoop({
    kind,
    run: async (ctx, row, now) => {
      const alarm = segmentAlarmOf(row, kind);
      if (await yieldsToFirst(ctx, alarm, now)) return "gone";
      return alarm.isFinest ? await run(ctx, alarm, now) : await handOver(ctx, kind, alarm, now);
    },
  });
}

/**
 * Whether the alarm leaves its segment to the first one, which is another and has all of the segment before it. A transaction
 * that relied on this alarm has read its row, and conflicts; one that had committed before is seen by the first, which reads
 * the segment, or begins to hand it over, after this commit. Only the later in order yields.
 */
async function yieldsToFirst(
  ctx: MutationCtx,
  { row, queue, segment: { start, width } }: SegmentAlarm,
  now: number,
): Promise<boolean> {
  const key = { kind: row.kind as SegmentKind, queue, start, width };
  const [first] = await findAlarms(ctx.db, key, 1);
  if (first === undefined || first._id === row._id) return false;
  return !isOverdue(first, now) && handedOverTo(first) === null;
}

/** How far a wide alarm has handed over; `null` for one that has not begun, and on which one may rely. */
function handedOverTo({ position }: Doc<"timers">): number | null {
  return typeof position?.from === "number" ? position.from : null;
}

/** Whether the alarm will yet come for this instant of its segment. */
export function comesFor(row: Doc<"timers">, at: number): boolean {
  const from = handedOverTo(row);
  return from === null || from <= at;
}

/** Hands the jobs of a wide segment to alarms of narrower ones. */
async function handOver(
  ctx: MutationCtx,
  kind: SegmentKind,
  { row, queue, segment, end }: SegmentAlarm,
  now: number,
): Promise<Next> {
  const from = handedOverTo(row);
  if (from === null) return { at: now, position: { from: segment.start } };
  const stretch: Stretch = {
    ...{ kind, queue, from, to: end, below: segment.width, now },
    widths: [...WIDTHS[kind]],
    // Halved each time that it failed.
    max: Math.max(1, REBUCKET_MAX >> (row.failures ?? 0)),
  };
  const seen: Found | null = await ctx.runQuery(
    internal.loops.segments.planSegments,
    { timer: row._id, generation: row.generation ?? 0, stretch },
    { useStaleSnapshot: true },
  );
  const found = seen ?? (await segmentsIn(ctx.db, stretch));
  for (const narrower of found.segments) {
    await ensureSegment(ctx, kind, queue, narrower, now);
  }
  return found.next === null ? "gone" : { at: now, position: { from: found.next } };
}

const vFound = v.object({
  /** Narrower segments, each with the first instant in it, and the alarm that stands for it. */
  segments: v.array(
    v.object({
      start: v.number(),
      width: v.number(),
      at: v.number(),
      alarm: v.union(v.id("timers"), v.null()),
    }),
  ),
  /** Where to go on, `null` at the end. */
  next: v.union(v.number(), v.null()),
});
type Found = Infer<typeof vFound>;

const vStretch = v.object({
  kind: vSegmentKind,
  queue: v.string(),
  from: v.number(),
  to: v.number(),
  /** Narrower than this are the segments to be found, */
  below: v.number(),
  widths: v.array(v.number()),
  /** as seen from now. */
  now: v.number(),
  max: v.number(),
});
type Stretch = Infer<typeof vStretch>;

/**
 * The snapshot read itself, or `null` from a snapshot that does not show yet that the alarm hands over: only one that
 * does shows every transaction that relied on it. To be called with `useStaleSnapshot`.
 */
export const planSegments = internalQuery({
  args: { timer: v.id("timers"), generation: v.number(), stretch: vStretch },
  returns: v.union(vFound, v.null()),
  handler: async (ctx, { timer, generation, stretch }): Promise<Found | null> => {
    const row = await ctx.db.get("timers", timer);
    if (row === null || (row.generation ?? 0) < generation) return null;
    return await segmentsIn(ctx.db, stretch);
  },
});

/** The narrower segments in which there is anything, by one read for each. */
async function segmentsIn(db: DatabaseReader, stretch: Stretch): Promise<Found> {
  const { kind, queue, to, below, now, max } = stretch;
  const segments: Found["segments"] = [];
  let { from } = stretch;
  while (segments.length < max) {
    const at = await firstInstant(db, kind, queue, from, to);
    if (at === null) return { segments, next: null };
    const segment = segmentOf(stretch.widths as unknown as Widths, at, now, below);
    segments.push({ ...segment, at, alarm: await standingOf(db, kind, queue, segment, now) });
    from = segment.start + segment.width;
  }
  return { segments, next: from };
}

/**
 * Dead index entries are walked about as many at a time as rows are asked for, and a range may begin with entries of
 * jobs that were canceled, or promoted.
 */
const FIRST_ROWS = 8;

/** When the first job of a range falls due, or expires. */
export async function firstInstant(
  db: DatabaseReader,
  kind: SegmentKind,
  queue: string,
  from: number,
  to: number,
): Promise<number | null> {
  if (kind === "dispatcher") {
    const [job] = await db
      .query("jobs")
      .withIndex("status", (q) =>
        q.eq("queue", queue).eq("status", "scheduled").gte("order", from).lt("order", to),
      )
      .take(FIRST_ROWS);
    return job?.order ?? null;
  }
  const [expiry] = await db
    .query("expiries")
    .withIndex("at", (q) => q.eq("queue", queue).gte("at", from).lt("at", to))
    .take(FIRST_ROWS);
  return expiry?.at ?? null;
}

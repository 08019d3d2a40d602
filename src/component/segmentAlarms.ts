/**
 * Alarms of segments: what the dispatcher and the expiry have in common. An alarm stands for a slice of time, so that what
 * many jobs wait for costs one scheduled function; wide slices far away, narrow ones near (`shared/segments.ts`).
 *
 * Who stops looking, and how nothing is missed:
 * - *A narrow alarm* (the kind's own ring) deletes its row in the transaction in which it has read its whole slice for
 *   real. Its time has passed, so hardly anybody writes there.
 * - *A wide alarm* must not read its slice for real: jobs that are put into it meanwhile have narrow alarms of their own,
 *   and would still make it run again and again. It first says in its row that it is handing over, which everybody
 *   who relied on the row has read for real; then it looks, in a transaction of its own and in a snapshot. Who meets a row
 *   that is handing over writes it, at his own place if that is earlier: so a later look comes there.
 *
 * Reads for real: the alarm's row, and those of the narrow ones that it arms. Looks: one row of each narrower segment in
 * which there is anything. Writes: those alarms' rows. No job is rewritten, and none is read for real.
 * Conflicts with: an enqueue into a segment whose alarm has just been armed by another, or rings.
 */
import { v, type Infer } from "convex/values";
import {
  ARM_MAX,
  REBUCKET_MAX,
  ringsAt,
  segmentOf,
  segmentsOf,
  type Segment,
  type Widths,
} from "../shared/index.js";
import { internal } from "./_generated/api.js";
import type { Doc, Id } from "./_generated/dataModel.js";
import { internalQuery, type DatabaseReader, type MutationCtx } from "./_generated/server.js";
import { current, findAlarm, insertAlarm, rearm, revive, type Ring } from "./alarms.js";
import { isOverdue } from "./timers.js";

export const vSegmentKind = v.union(v.literal("dispatcher"), v.literal("expiry"));
export type SegmentKind = Infer<typeof vSegmentKind>;

/** What such alarms call, and how wide their slices are. */
export interface Ladder {
  kind: SegmentKind;
  widths: Widths;
  ring: Ring;
}

/** An alarm of a segment: a row of `timers` that has all that goes with one. */
export interface SegmentAlarm {
  row: Doc<"timers">;
  queue: string;
  segment: Segment;
  end: number;
  isFinest: boolean;
}

function segmentAlarmOf(row: Doc<"timers">, { widths }: Ladder): SegmentAlarm {
  const { queue, start, width } = row;
  if (queue === undefined || start === undefined || width === undefined) {
    throw new Error(`Timer ${row._id} has no segment; this is a bug in Conveyor.`);
  }
  return {
    row,
    queue,
    segment: { start, width },
    end: start + width,
    isFinest: width === widths[0],
  };
}

// --- Making sure --------------------------------------------------------------------------------

/**
 * Makes sure that an alarm will see to these instants. An alarm that is there costs one point read a segment. What has no
 * alarm because it was scheduled by a canceled function is found by `watchdog.ts` once it is overdue.
 */
export async function ensureSegments(
  ctx: MutationCtx,
  ladder: Ladder,
  queue: string,
  ats: readonly number[],
  now: number,
): Promise<void> {
  for (const segment of segmentsOf(ladder.widths, ats, now, ARM_MAX)) {
    await ensureSegment(ctx, ladder, queue, segment, now);
  }
}

async function ensureSegment(
  ctx: MutationCtx,
  { kind, ring }: Ladder,
  queue: string,
  segment: Segment,
  now: number,
  /** The first instant in the segment that must not be missed. */
  at = segment.start,
): Promise<void> {
  const key = { kind, queue, ...segment };
  const row = await findAlarm(ctx.db, key);
  if (row === null) {
    await insertAlarm(ctx, key, ring, Math.max(ringsAt(segment), now));
    return;
  }
  const from = handedOverTo(row);
  // Its next look may have begun: only a write makes sure that there is a later one.
  if (from !== null) await rearm(ctx, row, ring, now, { from: Math.min(from, at) });
  else if (isOverdue(row, now)) await revive(ctx, row, ring, now);
}

// --- An alarm rings -----------------------------------------------------------------------------

/** What was called by an older generation does nothing; a wide alarm hands over; a narrow one does the kind's own work. */
export async function ringSegment(
  ctx: MutationCtx,
  ladder: Ladder,
  called: { timer: Id<"timers">; generation: number },
  work: (ctx: MutationCtx, alarm: SegmentAlarm, now: number) => Promise<void>,
): Promise<null> {
  const row = await current(ctx.db, called);
  if (row === null) return null;
  const alarm = segmentAlarmOf(row, ladder);
  const now = Date.now();
  if (alarm.isFinest) await work(ctx, alarm, now);
  else await handOver(ctx, ladder, alarm, now);
  return null;
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

/** Hands what lies in a wide segment to alarms of narrower ones. */
async function handOver(
  ctx: MutationCtx,
  ladder: Ladder,
  { row, queue, segment, end }: SegmentAlarm,
  now: number,
): Promise<void> {
  const from = handedOverTo(row);
  if (from === null) {
    await rearm(ctx, row, ladder.ring, now, { from: segment.start });
    return;
  }
  const stretch: Stretch = {
    ...{ kind: ladder.kind, queue, from, to: end, below: segment.width, now },
    widths: [...ladder.widths],
    // Halved each time that it failed.
    max: Math.max(1, REBUCKET_MAX >> (row.failures ?? 0)),
  };
  const seen: Found | null = await ctx.runQuery(
    internal.segmentAlarms.look,
    { timer: row._id, generation: row.generation ?? 0, stretch },
    { useStaleSnapshot: true },
  );
  const found = seen ?? (await segmentsIn(ctx.db, stretch));
  for (const { at, ...narrower } of found.segments) {
    await ensureSegment(ctx, ladder, queue, narrower, now, at);
  }
  if (found.next === null) await ctx.db.delete("timers", row._id);
  else await rearm(ctx, row, ladder.ring, now, { from: found.next });
}

const vFound = v.object({
  /** Narrower segments, each with the first instant in it. */
  segments: v.array(v.object({ start: v.number(), width: v.number(), at: v.number() })),
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
 * The look itself, or `null` from a snapshot that does not show yet that the alarm hands over: only one that does shows
 * all who relied on it. To be called with `useStaleSnapshot`.
 */
export const look = internalQuery({
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
    segments.push({ ...segment, at });
    from = segment.start + segment.width;
  }
  return { segments, next: from };
}

/**
 * Dead index entries are walked about as many at a time as rows are asked for, and a range may begin with those of jobs
 * that were canceled, or promoted.
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

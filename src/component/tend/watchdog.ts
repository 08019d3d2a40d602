/**
 * The watchdog: an alarm that is armed is not yet one that rings. Its scheduled function may have failed, been canceled
 * by hand, be backing off, or have been scheduled by a function that was canceled itself. Calls that come by check for
 * overdue alarms, for jobs that are overdue without an alarm, and for jobs that have long waited where no lane is
 * awake, and schedule the missing work anew.
 *
 * It has no timer of its own: the janitor's sweeps bring it along, and workers that tend (`tend.ts`); an app can call it
 * from a cron. Beats of idle workers check, and repair nothing.
 *
 * Snapshot reads (`lookForOverdue`, within a caller's snapshot query): timers that are overdue, and in some queues the
 * first jobs that are, within one budget of ranges for all of these queues. Reads for real (`reviveOverdue`): these
 * timers, and their scheduled functions; a gate without a polling lane, and the lane it names. Writes: these timers,
 * that gate. Schedules wakes. Conflicts with: the ring of such an alarm, should it come at this very moment.
 */
import { v, type Infer } from "convex/values";
import {
  JANITOR_OVERDUE_MS,
  rotate,
  sliceOf,
  TEND_LATE_MS,
  TENDERS,
  WAKE_OVERDUE_MS,
  WATCH_RANGES_MAX,
} from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import {
  internalMutation,
  internalQuery,
  type DatabaseReader,
  type MutationCtx,
} from "../_generated/server.js";
import { findAlarms, findDead, reviveDead } from "../loops/loop.js";
import { countedFleet, liveFleet } from "../claim/fleet.js";
import { ensureArrivals, isLate } from "../count/arrivals.js";
import { nextDebtAt } from "../edges/callbacks.js";
import { isAnyAwake, LANES_ASKED } from "../push/lanes.js";
import { oldestIn } from "../count/oldest.js";
import { findQueue, queuesAfter } from "../rows/queues.js";
import { ensureUpkeep, findUncounted } from "../count/rollUp.js";
import {
  ensureSegments,
  firstInstant,
  comesFor,
  vSegmentKind,
  WIDTHS,
  type SegmentKind,
} from "../loops/segments.js";
import { ensureJanitor, findTimers, firstActive, isTimeToTend } from "../loops/timers.js";
import { findGate, isQuiet, quieten, scheduleWake } from "../edges/wakes.js";

const KINDS: readonly SegmentKind[] = ["dispatcher", "expiry"];

/**
 * Stretches of overdue jobs that one check examines in a queue: jobs that a busy dispatcher is about to promote, too.
 */
const STRETCHES_MAX = 4;
/** Queues that one check examines; `watch` goes on with the remaining ones. */
const QUEUES_LOOKED_AT = 16;
/** The part of a queue's ranges that goes into jobs without an alarm; the other ranges show whether it is asleep. */
const STRAYS_PART = 1 / 4;

/** The findings of a check. A hint: {@link reviveOverdue} reads it for real. */
const vOverdue = v.object({
  timers: v.array(v.id("timers")),
  /** Instants at which jobs were due, or were to expire, and that no alarm stands for. */
  strays: v.array(v.object({ kind: vSegmentKind, queue: v.string(), at: v.number() })),
  /** Pushed queues with jobs that have long waited and no polling lane. */
  asleep: v.array(v.string()),
});
export type Overdue = Infer<typeof vOverdue>;

/**
 * Finds dead alarms of all queues, and in these queues jobs without one. To be called within a snapshot query, which may
 * read `WATCH_RANGES_MAX` ranges for it: each queue has its part of them.
 */
export async function lookForOverdue(
  db: DatabaseReader,
  queues: readonly string[],
  now: number,
): Promise<Overdue> {
  const share = Math.floor((WATCH_RANGES_MAX - 3) / Math.max(1, queues.length));
  const each = Math.floor((share * STRAYS_PART) / 2);
  const [dead, asleep, strays] = await Promise.all([
    findDead(db, now),
    Promise.all(queues.map((queue) => isAsleep(db, queue, now, share - 2 * each))),
    Promise.all(
      queues.flatMap((queue) =>
        KINDS.map(async (kind) => {
          const ats = await straysOf(db, kind, queue, now, each);
          return ats.map((at) => ({ kind, queue, at }));
        }),
      ),
    ),
  ]);
  return {
    timers: dead.map(({ _id }) => _id),
    strays: strays.flat(),
    asleep: queues.filter((_, i) => asleep[i] === true),
  };
}

export function isOverdue({ timers, strays, asleep }: Overdue): boolean {
  return timers.length + strays.length + asleep.length > 0;
}

/**
 * Whether jobs of a pushed queue wait, and none of its lanes is awake: their wake was scheduled by a function that was
 * canceled, or was canceled by hand. A queue that waits for a slot of the scheduler seems the same, and a wake that
 * finds none does no harm.
 */
async function isAsleep(
  db: DatabaseReader,
  name: string,
  now: number,
  ranges: number,
): Promise<boolean> {
  const queue = await findQueue(db, name);
  if (queue === null || !queue.config.push || queue.isPaused) return false;
  const { maxParallelism, fallbackAfterMs } = queue.config;
  if (maxParallelism === 0) return false;
  const gate = await findGate(db, name);
  const asked = isQuiet(gate) ? 0 : Math.min(LANES_ASKED, Math.floor(ranges / 4));
  // A lane that guards polls; one that is full frees capacity some time; and one that died is found by the janitor.
  if (asked > 0 && (await isAnyAwake(db, name, asked))) return false;
  const at = await oldestIn(db, queue, ranges - 3 - asked);
  return at !== null && at < now - fallbackAfterMs - WAKE_OVERDUE_MS;
}

async function straysOf(
  db: DatabaseReader,
  kind: SegmentKind,
  queue: string,
  now: number,
  ranges: number,
): Promise<number[]> {
  const [finest] = WIDTHS[kind];
  const until = now - JANITOR_OVERDUE_MS - finest;
  const stretches = Math.min(STRETCHES_MAX, Math.floor(ranges / (1 + WIDTHS[kind].length)));
  const strays: number[] = [];
  let from = 0;
  for (let i = 0; i < Math.max(1, stretches); i += 1) {
    const at = await firstInstant(db, kind, queue, from, until);
    if (at === null) break;
    if (!(await hasAlarm(db, kind, queue, at))) strays.push(at);
    from = sliceOf(finest, at).start + finest;
  }
  return strays;
}

/** Whether some alarm, narrow or wide, will yet come for this instant. */
async function hasAlarm(
  db: DatabaseReader,
  kind: SegmentKind,
  queue: string,
  at: number,
): Promise<boolean> {
  for (const width of WIDTHS[kind]) {
    const rows = await findAlarms(db, { kind, queue, ...sliceOf(width, at) });
    if (rows.some((row) => comesFor(row, at))) return true;
  }
  return false;
}

/** Schedules anew the findings of a check, unless another transaction has in the meantime. */
async function reviveOverdue(
  ctx: MutationCtx,
  { timers, strays, asleep }: Overdue,
  now: number,
): Promise<void> {
  for (const name of asleep) await rouse(ctx, name);
  for (const id of timers) await reviveDead(ctx, id, now);
  for (const { kind, queue, at } of strays) {
    await ensureSegments(ctx, kind, queue, [at], now);
  }
}

/**
 * No lane polls, even if the gate names one: the wake may start a lane, or say that there is no room. Should a lane
 * guard the gate that is not awake, the wake would leave it to that one.
 */
async function rouse(ctx: MutationCtx, name: string): Promise<void> {
  const queue = await findQueue(ctx.db, name);
  if (queue === null) return;
  const gate = await findGate(ctx.db, name);
  const guard = gate?.guard === undefined ? null : await ctx.db.get("lanes", gate.guard);
  const session = guard === null ? null : await ctx.db.get("sessions", guard.session);
  if (gate?.guard !== undefined && session?.state !== "active") await quieten(ctx, gate, queue);
  else await scheduleWake(ctx, queue);
}

/** Checks, and revives. */
export async function watchOver(
  ctx: MutationCtx,
  queues: readonly string[],
  now: number,
): Promise<void> {
  await reviveOverdue(ctx, await check(ctx, queues, now), now);
}

/**
 * Whether a check finds anything, for a call that repairs nothing. Of a fleet that fell idle at once, and so beats at once, a few
 * say so: each that tends conflicts with the others.
 */
export async function isAnyOverdue(
  ctx: MutationCtx,
  queues: readonly string[],
  now: number,
): Promise<{ isLate: boolean; fleet: number }> {
  const { fleet, counted, isLate } = await check(ctx, queues, now);
  return { isLate: isLate && Math.random() * fleet < TENDERS, fleet: counted };
}

async function check(ctx: MutationCtx, queues: readonly string[], now: number): Promise<Checked> {
  // From a random one on: the next check examines other queues.
  const some = rotate(queues, Math.random()).slice(0, QUEUES_LOOKED_AT);
  const args = { queues: some, now };
  return await ctx.runQuery(internal.tend.watchdog.findOverdue, args, { useStaleSnapshot: true });
}

const vChecked = v.object({
  ...vOverdue.fields,
  /** Anything is overdue, or a sweep is late: leases may be over. */
  isLate: v.boolean(),
  /** Where anything is overdue: how many live workers there are, of one of the queues where they are many. */
  fleet: v.number(),
  /** How many serve the first queue, where their fleet has a row. */
  counted: v.number(),
});
type Checked = Infer<typeof vChecked>;

/** To be called with `useStaleSnapshot`. */
export const findOverdue = internalQuery({
  args: { queues: v.array(v.string()), now: v.number() },
  returns: vChecked,
  handler: async (ctx, { queues, now }): Promise<Checked> => {
    const [found, first, timers] = await Promise.all([
      lookForOverdue(ctx.db, queues, now),
      // Later ones are none of its business, and neither are their dead entries.
      firstActive(ctx.db, now - TEND_LATE_MS),
      findTimers(ctx.db),
    ]);
    const isLate = isOverdue(found) || isTimeToTend(first === null ? [] : [first], timers, now);
    return {
      ...found,
      isLate,
      fleet: isLate ? await liveFleet(ctx.db, queues, now) : 1,
      counted: queues.length === 0 ? 0 : await countedFleet(ctx.db, queues[0]!),
    };
  },
});

/**
 * Checks all queues, leases too: for an app's cron, and queues that are seldom used. Of more queues than one
 * transaction checks, the remaining ones follow in scheduled functions, one after the other.
 */
export async function watch(ctx: MutationCtx, after = ""): Promise<null> {
  const now = Date.now();
  const { queues, uncounted, lateArrivals, sweepFor }: Visit = await ctx.runQuery(
    internal.tend.watchdog.visitQueues,
    { after },
    { useStaleSnapshot: true },
  );
  await watchOver(ctx, queues, now);
  for (const queue of uncounted) await ensureUpkeep(ctx, queue, now);
  if (queues.length === QUEUES_LOOKED_AT) {
    const args = { after: queues.at(-1)! };
    await ctx.scheduler.runAfter(0, internal.tend.watchdog.watchOthers, args);
  }
  if (after !== "") return null;
  if (lateArrivals) await ensureArrivals(ctx, now, now);
  if (sweepFor !== null) await ensureJanitor(ctx, sweepFor, now, undefined);
  return null;
}

/** Goes on with the queues that come after this one by name. */
export const watchOthers = internalMutation({
  args: { after: v.string() },
  returns: v.null(),
  handler: (ctx, { after }): Promise<null> => watch(ctx, after),
});

const vVisit = v.object({
  /** By name, as many as one check examines. */
  queues: v.array(v.string()),
  /** The ones of them with finished jobs that are not counted: the sweep that was to see it may have died. */
  uncounted: v.array(v.string()),
  /** Whether a new job has long not been counted. */
  lateArrivals: v.boolean(),
  /**
   * When the first lease ends; where nothing is leased, when a sweep was to come, since a callback may be owed; where none was
   * to come, when that callback was: the sweep, too, may have been born canceled.
   */
  sweepFor: v.union(v.number(), v.null()),
});
type Visit = Infer<typeof vVisit>;

/** To be called with `useStaleSnapshot`. */
export const visitQueues = internalQuery({
  args: { after: v.string() },
  returns: vVisit,
  handler: async (ctx, { after }): Promise<Visit> => {
    const names = await queuesAfter(ctx.db, after, QUEUES_LOOKED_AT);
    const active = await firstActive(ctx.db);
    // The first of the sweeps, overdue or coming.
    const [sweep] = (await findTimers(ctx.db)).sort((a, b) => a.dueAt - b.dueAt);
    const sweepFor = active?.expiresAt ?? sweep?.dueAt ?? (await nextDebtAt(ctx.db));
    const uncounted = await findUncounted(ctx.db, names);
    return { queues: names, uncounted, lateArrivals: await isLate(ctx.db, Date.now()), sweepFor };
  },
});

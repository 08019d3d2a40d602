/**
 * Idle shutdown: the last lane cancels the sweep that its wake has armed. A sweep after each job of an app that seldom
 * has one would be a fifth of the job's cost.
 *
 * Handshake, as of a sweep that goes: a transaction that leases depends, by a real read, on a timer; this one is
 * deleted after a real read that nothing is leased and no callback is owed, and that no other session has served since
 * it was made. So of a claim and a lane that leaves one retries. The lane ensures the sweep's other duty, the roll-up,
 * itself; and where anything has been lost in a queue in which nothing runs, the sweep is left to come.
 *
 * Snapshot reads: overdue work in some queues in which nothing runs. Reads for real: the janitor's timers, all active
 * sessions, sessions that were idle since, the first owed callback, the first session that is over, the roll-up's
 * alarm. Writes: deletes the timer (`timers`), cancels its sweep. Conflicts with: a call that leases anything, or
 * beats; a transaction that owes a callback or inserts a timer of the janitor's; a sweep.
 */
import { v } from "convex/values";
import {
  JANITOR_OVERDUE_MS,
  RANGE_ROWS,
  ROLL_UP_RARE_MS,
  ROLL_UP_REST_MS,
} from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Id } from "../_generated/dataModel.js";
import { internalQuery, type DatabaseReader, type MutationCtx } from "../_generated/server.js";
import type { Session } from "../rows/sessions.js";
import type { Lane } from "./lanes.js";
import { patrol } from "../tend/sweepPlan.js";
import { ensureUpkeep, hasRollUp } from "../count/rollUp.js";
import { conclude } from "../loops/loop.js";
import { findTimers, firstGone, isFar } from "../loops/timers.js";
import { isOverdue, lookForOverdue } from "../tend/watchdog.js";

/** One of so many is left to come: work that was lost a moment ago is not overdue yet. */
const SWEEPS_LEFT = 16;
/** How far clocks and commits may be apart. */
const APART_MS = 60_000;
/** Idle sessions that are read: a queue's spares, one of which ended every job of a minute. */
const IDLE_READ = 16;

/**
 * The lane has left, and holds nothing: its rows say so already. A roll-up counts the jobs that it has ended: the lane
 * ensures one, since the last sweep sees the queues of so many sessions only.
 */
export async function comeToRest(
  ctx: MutationCtx,
  lane: Lane,
  session: Session,
  now: number,
): Promise<void> {
  const isRare = await callOffSweep(ctx, lane, session, now);
  if (isRare) await ensureUpkeep(ctx, lane.queue, now, ROLL_UP_RARE_MS);
  else if (!(await hasRollUp(ctx.db, lane.queue, now)))
    await ensureUpkeep(ctx, lane.queue, now, ROLL_UP_REST_MS);
}

/** Whether it has canceled the sweep. */
async function callOffSweep(
  ctx: MutationCtx,
  lane: Lane,
  { sweep }: Session,
  now: number,
): Promise<boolean> {
  if (sweep === undefined || Math.random() * SWEEPS_LEFT < 1) return false;
  // A snapshot read first: where other sessions work, a real read of them would lose to each of them.
  const { madeAt } = sweep;
  const args = { queue: lane.queue, session: lane.session, madeAt, now };
  const mayRest: boolean = await ctx.runQuery(internal.push.idleShutdown.readIdle, args, {
    useStaleSnapshot: true,
  });
  if (!mayRest) return false;
  const [timers, isNeeded, gone] = await Promise.all([
    findTimers(ctx.db),
    isNeededSince(ctx.db, lane.queue, madeAt),
    firstGone(ctx.db),
  ]);
  const [timer, ...more] = timers.filter((one) => !isFar(one, now));
  if (timer?._id !== sweep.timer || timer.scheduledId === undefined || more.length > 0)
    return false;
  // The session may rely on this sweep, which then stays for it.
  if (gone !== undefined && timers.length === 1) return false;
  // It is about to come, or is dead: the next transaction that finds it replaces it.
  if (timer.dueAt < now + JANITOR_OVERDUE_MS || isNeeded) return false;
  await ctx.scheduler.cancel(timer.scheduledId);
  await conclude(ctx, timer, "gone");
  return true;
}

/**
 * Whether a sweep would have nothing to do: beside this lane no session works, and nothing is lost where nothing runs.
 */
export const readIdle = internalQuery({
  args: { queue: v.string(), session: v.id("sessions"), madeAt: v.number(), now: v.number() },
  returns: v.boolean(),
  handler: async (ctx, { queue, session, madeAt, now }): Promise<boolean> => {
    const lost = async () => {
      const { queues } = await patrol(ctx);
      return await lookForOverdue(ctx.db, [...new Set([queue, ...queues])], now);
    };
    const [isNeeded, overdue] = await Promise.all([
      isNeededSince(ctx.db, queue, madeAt, session),
      lost(),
    ]);
    return !isNeeded && !isOverdue(overdue);
  },
});

/** Whether anything is leased or owed, or a session has served another queue since the lane, and with it the timer. */
async function isNeededSince(
  db: DatabaseReader,
  queue: string,
  madeAt: number,
  but?: Id<"sessions">,
): Promise<boolean> {
  const [active, idle, owed] = await Promise.all([
    db
      .query("sessions")
      .withIndex("state", (q) => q.eq("state", "active"))
      .take(RANGE_ROWS),
    db
      .query("sessions")
      .withIndex("state", (q) => q.eq("state", "idle").gte("expiresAt", madeAt - APART_MS))
      .take(IDLE_READ),
    db
      .query("callbacks")
      .withIndex("state", (q) => q.eq("state", "owed"))
      .take(RANGE_ROWS),
  ]);
  // In a snapshot of before, the lane itself still holds its last job.
  const working = active.filter(({ _id }) => _id !== but);
  if (working.length + owed.length > 0 || idle.length === IDLE_READ) return true;
  return idle.some(({ queues }) => queues.some((name) => name !== queue));
}

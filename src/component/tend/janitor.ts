/**
 * The janitor: ends leases that were not renewed, and with the same sweeps publishes cursors, forgets old sessions, and
 * plans again callbacks that are still to be delivered.
 *
 * A sweep finds its work in a snapshot and acts on real reads, a few silent sessions per transaction: reading the beats
 * of a thousand workers for real, it would conflict with two of them every time and never commit. It never runs
 * `onComplete`. Jobs that it returns wake their workers by themselves: they enter a range that `hasWork` has read.
 *
 * Reads for real: its timer and one that serves as well, expired sessions with their jobs, the range in which leases
 * would end before the next sweep; before the last timer goes, all active sessions, the first owed callback, the
 * first session that is over, and uncounted ends in the queues of its snapshot. Writes: these, its timer (`timers`),
 * `cursors`, `patrols`; deletes forgotten sessions. Conflicts with: a claim that depends on its timer, a call or beat
 * of the expired session, and as `lostLeases.ts` at its jobs; another sweep with the same work; a claim with a lease
 * that ends before the next sweep; before the last timer goes, a transaction that leases, owes a callback or ends a
 * job in these queues, and a session's last word.
 */
import { v } from "convex/values";
import {
  SESSION_RETENTION_MS,
  JANITOR_FORGET_MAX,
  JANITOR_FORGET_PAUSE_MS,
  JANITOR_FORGET_REST_MS,
  JANITOR_SLACK_MS,
  RANGE_ROWS,
  ROLL_UP_LATELY_MS,
} from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import type { MutationCtx } from "../_generated/server.js";
import { ensureArrivals } from "../count/arrivals.js";
import { nextDebtAt, replan } from "../edges/callbacks.js";
import { publicBounds } from "../rows/cursors.js";
import { hasReadMuch } from "../rows/payloads.js";
import { endLeases } from "./lostLeases.js";
import { forgetLane } from "../push/lanes.js";
import { freeLost } from "../push/mainLoop.js";
import {
  vIdleFrom,
  vTurn,
  type Found,
  type IdleFrom,
  type Lost,
  type LostTurn,
} from "./sweepPlan.js";
import { ensureUpkeep, findUncounted } from "../count/rollUp.js";
import { forgetSession } from "../rows/tokenSessions.js";
import { defineLoop, type Next } from "../loops/loop.js";
import { firstGone, forgetDead, forgottenAt, isServed, sweepAt } from "../loops/timers.js";
import { watchOver } from "./watchdog.js";

/** How far a commit may lag behind its own clock, and more. */
const CLOCK_LAG_MS = 60_000;

export const sweep = defineLoop({
  kind: "janitor",
  carried: { idleFrom: v.optional(vIdleFrom), after: v.optional(vTurn) },
  run: sweepOnce,
});

/** Where a sweep goes on that the last one has left. */
interface From {
  idleFrom?: IdleFrom;
  after?: LostTurn;
}

/** One sweep, of the alarm's own function or of a call that tends. `timer` has been read for real, and the caller concludes it. */
export async function sweepOnce(
  ctx: MutationCtx,
  timer: Doc<"timers">,
  now: number,
  { idleFrom, after }: From,
): Promise<Next> {
  const lost: Lost = await ctx.runQuery(
    internal.tend.sweepPlan.findLostLeases,
    { now, ...(after === undefined ? {} : { after }) },
    { useStaleSnapshot: true },
  );
  // Of many sweeps that are due at once one does all that there is to do.
  if (await isServed(ctx.db, timer, lost.timers, now, now)) return "gone";
  let ended = 0;
  for (const session of lost.expired) {
    if (ended > 0 && (await hasReadMuch(ctx))) break;
    await endLeases(ctx, session, now);
    ended += 1;
  }
  for (const process of lost.processes) await freeLost(ctx, process);
  if (lost.expired.length + lost.processes.length === 0)
    return await repair(ctx, timer, lost, idleFrom, now);
  // The search that follows is long, and the leases that were ended here are their workers', too, until this commits.
  return lost.more || ended < lost.expired.length
    ? { at: now, carried: { after: lost.turn } }
    : { at: now + JANITOR_SLACK_MS, carried: {} };
}

/** Nothing is to be ended: the sweep repairs all else that it finds. */
async function repair(
  ctx: MutationCtx,
  timer: Doc<"timers">,
  lost: Lost,
  idleFrom: IdleFrom | undefined,
  now: number,
): Promise<Next> {
  const found: Found = await ctx.runQuery(
    internal.tend.sweepPlan.planSweep,
    { now, ...(idleFrom === undefined ? {} : { idleFrom }) },
    { useStaleSnapshot: true },
  );
  for (const cursor of found.published) await publish(ctx, cursor, now);
  for (const session of found.forgotten) await forget(ctx, session, now);
  for (const callback of found.overdue) await replan(ctx, callback);
  await watchOver(ctx, found.watched, now);
  // A roll-up that is about to ring is left to the next sweep: the two would only conflict.
  for (const queue of found.unattended) await ensureUpkeep(ctx, queue, now);
  // A roll-up counts them besides.
  if (found.lateArrivals && found.uncounted.length === 0) await ensureArrivals(ctx, now, now);
  return await nextOf(ctx, timer, lost, found, now);
}

/**
 * When the timer's next sweep comes. The timer goes when nothing is leased, owed or to be forgotten, or because another timer
 * serves. A sweep that goes on at once does not write its timer: every claim and completion depends on that row, and the
 * sweeps that follow a crash of many sessions would conflict with all of them. Should their chain break, the timer soon is
 * dead, and the next claim replaces it.
 */
async function nextOf(
  ctx: MutationCtx,
  timer: Doc<"timers">,
  lost: Lost,
  found: Found,
  now: number,
): Promise<Next> {
  await forgetDead(ctx, timer, lost.timers, now);
  const next = await nextSweepAt(ctx, lost.nextExpiry, now);
  // Before the last sweep goes, it looks at the queues of all sessions that have become idle.
  if (next === null && found.idleFrom !== null)
    return { at: now, carried: { idleFrom: found.idleFrom } };
  if (next === null) await leaveNothing(ctx, found, now);
  const forgetsAt = next === null ? await nextForgottenAt(ctx, now) : Infinity;
  // Soon, if there were as many sessions to forget as one sweep takes.
  const hasForgottenAll = found.forgotten.length < JANITOR_FORGET_MAX / 2;
  const again = hasForgottenAll ? Infinity : now + JANITOR_FORGET_PAUSE_MS;
  const dueAt = Math.min(next ?? forgetsAt, again);
  const isLast = dueAt === Infinity;
  const isOver = !isLast && (await isServed(ctx.db, timer, lost.timers, dueAt, now));
  if (!isOver && found.patrolled !== null) await notePatrol(ctx, found.patrolled);
  return isOver || isLast ? "gone" : { at: dueAt };
}

/** The next sweep, of any timer, goes on behind these queues. Sweeps that leave it to another timer do not write it. */
async function notePatrol(ctx: MutationCtx, after: string): Promise<void> {
  const row = await ctx.db.query("patrols").first();
  if (row === null) await ctx.db.insert("patrols", { after });
  else await ctx.db.patch("patrols", row._id, { after });
}

/**
 * Nothing is leased, so that no other sweep comes: finished jobs are read for real, since the snapshot may be older
 * than the last completion. A transaction that finishes a job just now conflicts with it, and hardly any can.
 */
async function leaveNothing(
  ctx: MutationCtx,
  { served, unattended }: Found,
  now: number,
): Promise<void> {
  const others = served.filter((queue) => !unattended.includes(queue));
  for (const queue of await findUncounted(ctx.db, others))
    await ensureUpkeep(ctx, queue, now, ROLL_UP_LATELY_MS);
}

/**
 * When a session that is over is to be forgotten, read for real: its last word relies on a timer. Many that went one after the
 * other are forgotten together.
 */
async function nextForgottenAt(ctx: MutationCtx, now: number): Promise<number> {
  const first = await firstGone(ctx.db);
  if (first === undefined) return Infinity;
  return Math.max(forgottenAt(first.expiresAt), now + JANITOR_FORGET_REST_MS);
}

/**
 * When to sweep next, or `null` if nothing is leased and no callback is owed.
 *
 * The snapshot says which leases end first. That none ends before is read for real, with no row to be expected in the
 * range: a claim that relies on this timer as it was, and commits meanwhile with a shorter lease, makes this sweep
 * retry, and beats of other sessions do not. A commit cannot bring an end further back than the minute that is read: it
 * may lag behind its clock by the 20 seconds that the platform lets a mutation take. Where the snapshot shows no lease
 * at all, the whole range is read.
 */
async function nextSweepAt(
  ctx: MutationCtx,
  seen: number | null,
  now: number,
): Promise<number | null> {
  const active = ctx.db.query("sessions");
  const [first] = await (
    seen === null
      ? active.withIndex("state", (q) => q.eq("state", "active"))
      : active.withIndex("state", (q) =>
          q
            .eq("state", "active")
            .gte("expiresAt", now - CLOCK_LAG_MS)
            .lt("expiresAt", seen),
        )
  ).take(RANGE_ROWS);
  const next = first?.expiresAt ?? seen;
  if (next !== null) return sweepAt(next, now);
  // For real: of a transaction that owes a callback, and relies on this timer, and a sweep that goes, one retries. While
  // anything is leased sweeps come in any case, and no transaction depends on it.
  return await nextDebtAt(ctx.db);
}

async function publish(
  ctx: MutationCtx,
  cursor: Found["published"][number],
  now: number,
): Promise<void> {
  const row = await publicBounds(ctx.db, cursor.queue);
  const fields = { ...cursor, publishedAt: now };
  if (row === undefined) await ctx.db.insert("cursors", fields);
  else await ctx.db.replace("cursors", row._id, fields);
}

/** A session that has been silent for a day will not repeat a call. Read for real: it may have come back. */
async function forget(ctx: MutationCtx, id: Id<"sessions">, now: number): Promise<void> {
  const session = await ctx.db.get("sessions", id);
  if (session === null || session.leases.length > 0) return;
  if (session.lastSeenAt >= now - SESSION_RETENTION_MS) return;
  if (session.state === "active") return;
  if (session.lane !== undefined) await forgetLane(ctx, session.lane);
  await forgetSession(ctx.db, id);
}

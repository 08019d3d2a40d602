/**
 * The janitor's timers, rows of `timers`: a scheduled sweep that must exist while anything is leased.
 *
 * The handshake: a transaction that leases depends, by a real read, on one timer that comes in time; a sweep that goes
 * deletes its timer after a real read of all active sessions. So of a claim and a sweep that goes, one retries and sees
 * the other. Only "there is one" needs that dependency. A claim with a snapshot that shows none inserts one of its own,
 * blindly, so that a fleet that wakes at once does not conflict here; of several timers all but the first go at their
 * next sweep.
 */
import {
  SESSION_RETENTION_MS,
  JANITOR_PERIOD_MS,
  JANITOR_SLACK_MS,
  JANITOR_TOLERANCE_MS,
  RANGE_ROWS,
  TEND_LATE_MS,
} from "../../shared/index.js";
import { v } from "convex/values";
import { internal } from "../_generated/api.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import { internalQuery, type DatabaseReader, type MutationCtx } from "../_generated/server.js";
import { conclude, findAlarms, insertAlarm, isOverdue } from "./loop.js";

/** There is one as a rule, and as many as claims began at once when there was none. */
const TIMERS_SEEN = 64;

/** Longer than a sweep for a lease or an owed callback is ahead. */
const FAR_MS = 60 * 60_000;

/** By id: of several timers the first is the one that stays, and on which all claims depend. */
export async function findTimers(db: DatabaseReader): Promise<Doc<"timers">[]> {
  const timers = await findAlarms(db, { kind: "janitor" }, TIMERS_SEEN);
  return timers.sort((a, b) => (a._id < b._id ? -1 : 1));
}

/** When to sweep for a lease that ends then: soon after it, and not seldom even if that is far away. */
export function sweepAt(leaseEndsAt: number, now: number): number {
  return Math.min(Math.max(leaseEndsAt, now) + JANITOR_SLACK_MS, now + JANITOR_PERIOD_MS);
}

/** When to sweep for the row of a session that has last been seen then, and is over. */
export function forgottenAt(lastSeenAt: number): number {
  return lastSeenAt + SESSION_RETENTION_MS + JANITOR_SLACK_MS;
}

/** Whether the timer is only for sessions to forget: any other comes sooner. */
export function isFar({ dueAt }: { dueAt: number }, now: number): boolean {
  return dueAt > now + FAR_MS;
}

/** The session that is to be checked first, of all that hold a lease; `until`: if it is to be checked before. */
export async function firstActive(
  db: DatabaseReader,
  until = Infinity,
): Promise<Doc<"sessions"> | null> {
  return await db
    .query("sessions")
    .withIndex("state", (q) => q.eq("state", "active").lt("expiresAt", until))
    .first();
}

/** The first session that is over. Every timer that goes has read for real that there is none, or that another comes for it. */
export async function firstGone(db: DatabaseReader): Promise<Doc<"sessions"> | undefined> {
  const [first] = await db
    .query("sessions")
    .withIndex("state", (q) => q.eq("state", "gone"))
    .take(RANGE_ROWS);
  return first;
}

/**
 * Whether leases should long have been ended: their sweep is late, or none comes. So long that two machines' clocks and a busy
 * scheduler do not show it. `expired`: sessions with leases that are over, if they were read.
 */
export function isTimeToTend(
  expired: readonly { expiresAt: number }[] | null,
  timers: readonly { dueAt: number }[],
  now: number,
): boolean {
  const isLate = (at: number) => at < now - TEND_LATE_MS;
  if (timers.some(({ dueAt }) => isLate(dueAt))) return true;
  return (expired ?? []).some(({ expiresAt }) => isLate(expiresAt + JANITOR_SLACK_MS));
}

/** Whether the timer sweeps by then. One that is overdue does not. */
export function serves(timer: { dueAt: number }, dueAt: number, now: number): boolean {
  return timer.dueAt <= dueAt + JANITOR_TOLERANCE_MS && !isOverdue(timer, now);
}

/**
 * Ensures that a sweep comes soon after this end of a lease.
 *
 * `seen` is the timer that a snapshot showed to serve, `null` if it showed none, `undefined` without a snapshot read.
 * An old "none" is harmless, one timer too many; an old "there is one" is not, so that one is read for real. The
 * snapshot read was for an expected end: where the timer comes too late for this one, another is made, since each call
 * with an overdue attempt would insert one more timer.
 */
export async function ensureJanitor(
  ctx: MutationCtx,
  leaseEndsAt: number,
  now: number,
  seen: Id<"timers"> | null | undefined,
): Promise<void> {
  const dueAt = sweepAt(leaseEndsAt, now);
  const timers = await readSeen(ctx.db, seen);
  if (timers.some((timer) => serves(timer, dueAt, now))) return;
  const shown = seen === null || seen === undefined ? null : await aTimerBy(ctx, dueAt, now);
  const sooner = shown === null ? [] : await readSeen(ctx.db, shown);
  await ensureAmong(ctx, sooner, leaseEndsAt, now);
}

/** The same among timers that were read for real. Returns the timer if it was made here, and no other comes soon. */
export async function ensureAmong(
  ctx: MutationCtx,
  timers: readonly Doc<"timers">[],
  leaseEndsAt: number,
  now: number,
): Promise<Id<"timers"> | null> {
  const dueAt = sweepAt(leaseEndsAt, now);
  if (timers.some((timer) => serves(timer, dueAt, now))) return null;
  const id = await insertAlarm(ctx, { kind: "janitor" }, dueAt);
  return timers.every((timer) => isFar(timer, now)) ? id : null;
}

/** Ensures a sweep by then, for work that must be noticed if it dies. Reads all timers for real. */
export async function ensureSweep(ctx: MutationCtx, dueAt: number, now: number): Promise<void> {
  const timers = await findTimers(ctx.db);
  if (!timers.some((timer) => serves(timer, dueAt, now)))
    await insertAlarm(ctx, { kind: "janitor" }, dueAt);
}

/**
 * For a call that leases nothing more: nothing is depended on here. But should the janitor have died, some call must notice: a
 * snapshot read shows whether a timer serves. Returns whether none did.
 */
export async function reviveJanitor(
  ctx: MutationCtx,
  leaseEndsAt: number,
  now: number,
): Promise<boolean> {
  const isUnswept = (await aTimerBy(ctx, sweepAt(leaseEndsAt, now), now)) === null;
  if (isUnswept) await ensureJanitor(ctx, leaseEndsAt, now, null);
  return isUnswept;
}

async function aTimerBy(
  ctx: MutationCtx,
  dueAt: number,
  now: number,
): Promise<Id<"timers"> | null> {
  return await ctx.runQuery(
    internal.loops.timers.janitorTimers,
    { dueAt, now },
    { useStaleSnapshot: true },
  );
}

/** The timer that sweeps by then, as a snapshot shows it. */
export const janitorTimers = internalQuery({
  args: { dueAt: v.number(), now: v.number() },
  returns: v.union(v.id("timers"), v.null()),
  handler: async (ctx, { dueAt, now }): Promise<Id<"timers"> | null> => {
    const timers = await findTimers(ctx.db);
    return timers.find((timer) => serves(timer, dueAt, now))?._id ?? null;
  },
});

async function readSeen(
  db: DatabaseReader,
  seen: Id<"timers"> | null | undefined,
): Promise<Doc<"timers">[]> {
  if (seen === undefined) return await findTimers(db);
  const timer = seen === null ? null : await db.get("timers", seen);
  return timer === null ? [] : [timer];
}

// --- Sweeps beside one another ------------------------------------------------------------------

/** Timers as a snapshot shows them, by id. */
type Seen = readonly { id: Id<"timers">; dueAt: number }[];

/**
 * Whether another timer sweeps by then. Only one before this counts, so that no two leave it to each other in a
 * circle. Reads for real the one that the snapshot shows to matter, and no other: after a burst there are many, and their
 * sweeps must not conflict.
 */
export async function isServed(
  db: DatabaseReader,
  timer: Doc<"timers">,
  seen: Seen,
  dueAt: number,
  now: number,
): Promise<boolean> {
  const before = seen.find((other) => other.id < timer._id && serves(other, dueAt, now));
  const other = before === undefined ? null : await db.get("timers", before.id);
  return other !== null && serves(other, dueAt, now);
}

/** Forgets timers with a dead sweep, which this one replaces. */
export async function forgetDead(
  ctx: MutationCtx,
  timer: Doc<"timers">,
  seen: Seen,
  now: number,
): Promise<void> {
  for (const { id } of seen.filter((other) => isOverdue(other, now) && other.id !== timer._id)) {
    const dead = await ctx.db.get("timers", id);
    if (dead !== null && isOverdue(dead, now)) await conclude(ctx, dead, "gone");
  }
}

/**
 * The snapshot reads of a sweep, which add nothing to its read set. Their answers are hints; the sweep reads the rows
 * for real before it acts on them. `findLostLeases` is short: a sweep that finds anything there ends it, and reads nothing
 * else. Where that is more than one sweep ends, it also reads the active sessions of one token, a next one each time.
 * `planSweep` is for a sweep that ends nothing.
 *
 * May not write, and may not be called but with `useStaleSnapshot`.
 */
import { v, type Infer } from "convex/values";
import {
  CALLBACK_OVERDUE_MS,
  EXPIRED_LEASES_MAX,
  EXPIRED_MAX,
  SESSION_RETENTION_MS,
  IDLE_LIVE_MS,
  JANITOR_FORGET_MAX,
  JANITOR_REPLAN_MAX,
  QUEUES_MAX,
  RANGE_ROWS,
  SESSIONS_MAX,
  SESSIONS_READ_BYTES,
  someOf,
} from "../../shared/index.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import { internalQuery, type QueryCtx } from "../_generated/server.js";
import { isLate } from "../count/arrivals.js";
import { justAfter } from "../rows/cursors.js";
import { takeSessions, takeWithin } from "../rows/rowBytes.js";
import type { Session } from "../rows/sessions.js";
import { findLost } from "../push/mainLoop.js";
import { queuesAfter } from "../rows/queues.js";
import { findUnattended, findUncounted } from "../count/rollUp.js";
import { findTimers } from "../loops/timers.js";
import { findBounds, vPublished } from "./publishPlan.js";

/**
 * Queues that each sweep checks in the order of their names, one page after another: lost work there is seen by no
 * other.
 */
const PATROLLED = 8;

/**
 * Queues of sessions in which a sweep searches for jobs that were not counted. With more, its read of idle sessions goes
 * on.
 */
const SERVED_MAX = 64;

/** Of what reads of sessions may take, the part of each read of a plan: beside them are first rows of many queues. */
const READS_BESIDE = 4;
const IDLE_BYTES = SESSIONS_READ_BYTES / READS_BESIDE;

/** Expired sessions among which a sweep begins: the sweeps of several timers, due at once, should not conflict. */
const EXPIRED_PICKED = 16;

/** The turn of the last sweep: the sessions of a token; `null`: lanes, which have none. */
export const vTurn = v.union(v.id("tokens"), v.null());
export type LostTurn = Infer<typeof vTurn>;

const vLost = v.object({
  /** Some of the sessions with expired leases. */
  expired: v.array(v.id("sessions")),
  /** Whether there are more of them, */
  more: v.boolean(),
  /** and then: the turn of this sweep. */
  turn: vTurn,
  /** Processes that have ended silently. */
  processes: v.array(v.id("processes")),
  /** When the next leases run out, or `null` if there are none. */
  nextExpiry: v.union(v.number(), v.null()),
  /** By id. */
  timers: v.array(v.object({ id: v.id("timers"), dueAt: v.number() })),
});
export type Lost = Infer<typeof vLost>;

/** Sessions and processes that are gone. */
export const findLostLeases = internalQuery({
  args: { now: v.number(), after: v.optional(vTurn) },
  returns: vLost,
  handler: async (ctx, { now, after }): Promise<Lost> => {
    const active = await ctx.db
      .query("sessions")
      .withIndex("state", (q) => q.eq("state", "active"))
      .take(RANGE_ROWS);
    const expired = active.filter((session) => session.expiresAt < now);
    const first = pickExpired(expired, EXPIRED_MAX, EXPIRED_LEASES_MAX);
    const more = expired.length > first.length;
    const turn = more ? await findTurn(ctx, after, expired, now) : null;
    return {
      expired: (turn === null ? first : withTurn(turn.expired, expired)).map(({ _id }) => _id),
      more,
      turn: turn?.of ?? null,
      processes: await findLost(ctx.db),
      nextExpiry: active.find((session) => session.expiresAt >= now)?.expiresAt ?? null,
      timers: (await findTimers(ctx.db)).map(({ _id, dueAt }) => ({ id: _id, dueAt })),
    };
  },
});

/** Where a read of idle sessions goes on: in the order in which they were last seen. */
export const vIdleFrom = v.object({ expiresAt: v.number(), creationTime: v.number() });
export type IdleFrom = Infer<typeof vIdleFrom>;

const vFound = v.object({
  forgotten: v.array(v.id("sessions")),
  /** Callbacks with a next try that should long have been planned. */
  overdue: v.array(v.id("callbacks")),
  /** Queues of live sessions and of sessions that have just become idle, and the next ones by name. */
  served: v.array(v.string()),
  /** The ones of them with finished jobs that are not counted, */
  uncounted: v.array(v.string()),
  /** and of these, the ones to which no roll-up comes soon. */
  unattended: v.array(v.string()),
  /** Whether a new job has long not been counted: in its queue nothing ends. */
  lateArrivals: v.boolean(),
  /** Queues to check for alarms that should have rung, and for jobs that are due without one. */
  watched: v.array(v.string()),
  /** The name of the last queue of this sweep's page, where there are more queues than one page has. */
  patrolled: v.union(v.string(), v.null()),
  /** Where there are more idle sessions than were read. */
  idleFrom: v.union(vIdleFrom, v.null()),
  published: v.array(vPublished),
});
export type Found = Infer<typeof vFound>;

export const planSweep = internalQuery({
  args: { now: v.number(), idleFrom: v.optional(vIdleFrom) },
  returns: vFound,
  handler: async (ctx, { now, idleFrom }): Promise<Found> => {
    // None is over: the sweep has just looked, and would else pass the same dead entries again.
    const active = await takeSessions(
      ctx.db
        .query("sessions")
        .withIndex("state", (q) => q.eq("state", "active").gte("expiresAt", now)),
      RANGE_ROWS,
      READS_BESIDE,
    );
    const busy = someOf([...new Set(active.flatMap((one) => one.queues))], SERVED_MAX);
    // Also of sessions that have just become idle, so that the sweep which disarms leaves good cursors behind.
    const idle = await idleQueues(
      ctx,
      idleFrom ?? { expiresAt: now - IDLE_LIVE_MS, creationTime: 0 },
      now + IDLE_LIVE_MS,
    );
    const page = await patrol(ctx);
    const queues = someOf([...new Set([...busy, ...idle.queues])], QUEUES_MAX);
    const served = [...new Set([...busy, ...idle.queues, ...page.queues])];
    const uncounted = await findUncounted(ctx.db, served);
    return {
      forgotten: await findForgotten(ctx, now),
      overdue: await findOverdue(ctx, now),
      served,
      uncounted,
      unattended: await findUnattended(ctx.db, uncounted, now),
      lateArrivals: await isLate(ctx.db, now),
      watched: [...new Set([...someOf(queues, PATROLLED), ...page.queues])],
      patrolled: page.last,
      idleFrom: idle.next,
      published: await findBounds(ctx, queues, now),
    };
  },
});

/** As many as one sweep ends: they are silent, so that a transaction with all of them has no conflicts as a rule. */
function pickExpired(expired: readonly Session[], max: number, maxLeases: number): Session[] {
  const from = Math.floor(Math.random() * Math.min(expired.length, EXPIRED_PICKED));
  const picked: Session[] = [];
  let leases = 0;
  for (const session of expired.slice(from)) {
    leases += session.leases.length;
    if (picked.length > 0 && leases > maxLeases) break;
    picked.push(session);
    if (picked.length === max) break;
  }
  return picked;
}

/**
 * Half of the sessions that a sweep ends are the turn's, and the other half, or the turn's rest, are the ones expired
 * longest.
 */
function withTurn(turn: readonly Session[], expired: readonly Session[]): Session[] {
  const own = pickExpired(turn, EXPIRED_MAX / 2, EXPIRED_LEASES_MAX / 2);
  const others = expired.filter(({ _id }) => own.every((one) => one._id !== _id));
  const leases = own.reduce((sum, one) => sum + one.leases.length, 0);
  return [...own, ...pickExpired(others, EXPIRED_MAX - own.length, EXPIRED_LEASES_MAX - leases)];
}

/**
 * Where more has run out than one sweep ends, each token has its turn, and so have lanes: a thousand silent sessions of one
 * token, with 64 leases each, take ten minutes, and no other's wait for that.
 */
async function findTurn(
  { db }: QueryCtx,
  after: LostTurn | undefined,
  longest: readonly Session[],
  now: number,
): Promise<{ of: LostTurn; expired: Session[] } | null> {
  const atWork = db.query("sessions");
  const next =
    after === undefined
      ? null
      : await atWork
          .withIndex("standing", (q) => q.eq("state", "active").gt("token", after ?? undefined))
          .first();
  const first =
    next ?? (await atWork.withIndex("standing", (q) => q.eq("state", "active")).first());
  if (first === null) return null;
  const { token } = first;
  if (longest.every((session) => session.token === token))
    return { of: token ?? null, expired: [] };
  const its = atWork.withIndex("standing", (q) => q.eq("state", "active").eq("token", token));
  const sessions = await takeSessions(its, SESSIONS_MAX);
  return { of: token ?? null, expired: sessions.filter(({ expiresAt }) => expiresAt < now) };
}

/**
 * The queues of sessions that have become idle, of as many sessions as fit; `next`: the beginning of the ones that do
 * not. Workers that stand by are seen later than `until`: the ones on call have the same queues.
 */
async function idleQueues(
  ctx: QueryCtx,
  { expiresAt, creationTime }: IdleFrom,
  until: number,
): Promise<{ queues: string[]; next: IdleFrom | null }> {
  const idle = ctx.db.query("sessions");
  // Sessions are seen on a grid: many have the same time.
  const tied = await takeWithin(
    idle.withIndex("state", (q) =>
      q.eq("state", "idle").eq("expiresAt", expiresAt).gte("_creationTime", creationTime),
    ),
    RANGE_ROWS,
    IDLE_BYTES,
  );
  const later = await takeWithin(
    idle.withIndex("state", (q) =>
      q.eq("state", "idle").gt("expiresAt", expiresAt).lt("expiresAt", until),
    ),
    tied.isCut ? 0 : RANGE_ROWS - tied.rows.length,
    IDLE_BYTES - tied.bytes,
  );
  const sessions = [...tied.rows, ...later.rows];
  const isCut = tied.isCut || later.isCut || sessions.length === RANGE_ROWS;
  const queues = new Set<string>();
  for (const session of sessions) {
    for (const queue of session.queues) queues.add(queue);
    const isLast = session === sessions.at(-1) && isCut;
    if (!isLast && queues.size <= SERVED_MAX - QUEUES_MAX) continue;
    if (session === sessions.at(-1) && !isLast) break;
    return { queues: [...queues], next: keyAfter(session) };
  }
  return { queues: [...queues], next: null };
}

/** Sessions that began in the very same instant and were last seen in the same ten seconds are left to the pages of all queues. */
function keyAfter({ expiresAt, _creationTime }: Doc<"sessions">): IdleFrom {
  return {
    expiresAt,
    creationTime: justAfter({ seq: 0n, creationTime: _creationTime }).creationTime,
  };
}

/**
 * The next page of queues by name, and the first ones behind the last; `last`: the name of the page's last one, unless a page
 * has all queues.
 */
export async function patrol(ctx: QueryCtx): Promise<{ queues: string[]; last: string | null }> {
  const after = (await ctx.db.query("patrols").first())?.after ?? "";
  const next = await queuesAfter(ctx.db, after, PATROLLED);
  if (next.length === PATROLLED) return { queues: next, last: next.at(-1)! };
  const first = after === "" ? [] : await queuesAfter(ctx.db, "", PATROLLED - next.length);
  const queues = [...new Set([...next, ...first])];
  return { queues, last: queues.length < PATROLLED ? null : first.at(-1)! };
}

async function findForgotten(ctx: QueryCtx, now: number): Promise<Id<"sessions">[]> {
  const silent = async (state: "idle" | "gone") =>
    await ctx.db
      .query("sessions")
      .withIndex("state", (q) => q.eq("state", state).lt("expiresAt", now - SESSION_RETENTION_MS))
      .take(JANITOR_FORGET_MAX / 2);
  return [...(await silent("idle")), ...(await silent("gone"))].map((session) => session._id);
}

async function findOverdue(ctx: QueryCtx, now: number): Promise<Id<"callbacks">[]> {
  const overdue = await ctx.db
    .query("callbacks")
    .withIndex("state", (q) => q.eq("state", "owed").lt("dueAt", now - CALLBACK_OVERDUE_MS))
    .take(JANITOR_REPLAN_MAX);
  return overdue.map((row) => row._id);
}

/**
 * What a sweep looks at before it acts: run as a snapshot query, so that it adds nothing to the sweep's read set. What
 * it returns is a hint; the sweep reads for real what it acts on.
 *
 * May not write, and may not be called but with `useStaleSnapshot`.
 */
import { v, type Infer } from "convex/values";
import {
  CALLBACK_OVERDUE_MS,
  EXPIRED_LEASES_MAX,
  EXPIRED_MAX,
  HOLDER_RETENTION_MS,
  IDLE_LIVE_MS,
  JANITOR_FORGET_MAX,
  JANITOR_OVERDUE_MS,
  JANITOR_REPLAN_MAX,
  PUBLISH_RANGES_MAX,
  PUBLISHED_BOUNDS_MAX,
  QUEUES_MAX,
  RANGE_ROWS,
} from "../shared/index.js";
import type { Doc, Id } from "./_generated/dataModel.js";
import { internalQuery, type QueryCtx } from "./_generated/server.js";
import { isLate } from "./arrivals.js";
import {
  afterCommit,
  boundOf,
  compareKeys,
  pendingFrom,
  publicBounds,
  START,
  type Bound,
  type Key,
} from "./cursors.js";
import { findLost } from "./mainLoop.js";
import { findQueue, type Queue } from "./queues.js";
import { findUnattended, findUncounted } from "./rollUp.js";
import { placesOf } from "./routes.js";
import { keyOf, snapshotOf } from "./scan.js";
import { vBound, vKey } from "./stored.js";
import { findTimers } from "./timers.js";
import { lookForOverdue, vOverdue } from "./watchdog.js";

/** A queue's cursors are not published again within this: `hasWork` runs again with each. */
const PUBLISH_EVERY_MS = JANITOR_OVERDUE_MS;

/** Queues that a sweep reads, and those among them in which it looks for what was lost though nothing is leased there. */
const OTHERS_READ = 64;
const OTHERS_MAX = 8;

/** Queues in which a sweep looks for what was not counted: of those that it leaves out, the last jobs might never be. */
const SERVED_MAX = 64;

/** Expired holders among which a sweep begins: the sweeps of several timers, due at once, should not meet. */
const EXPIRED_PICKED = 16;

const vFound = v.object({
  /** Some of those whose leases have run out. */
  expired: v.array(v.id("holders")),
  /** Processes that have ended without a word. */
  lostProcesses: v.array(v.id("processes")),
  /** Whether there are more of those expired. */
  more: v.boolean(),
  /** When the next leases run out, or `null` if there are none. */
  nextExpiry: v.union(v.number(), v.null()),
  /** By id. */
  timers: v.array(v.object({ id: v.id("timers"), dueAt: v.number() })),
  forgotten: v.array(v.id("holders")),
  /** Callbacks whose next try should long have been planned. */
  overdue: v.array(v.id("callbacks")),
  /** Queues of live holders, and of those that have just become idle. */
  served: v.array(v.string()),
  /** Those of them in which jobs have finished that nobody has counted, */
  uncounted: v.array(v.string()),
  /** and of these, those to which no roll-up comes soon. */
  unattended: v.array(v.string()),
  /** Whether a new job has long not been counted: in its queue nothing ends. */
  lateArrivals: v.boolean(),
  /** Alarms that should have rung, and jobs of these queues that are due without one. */
  neglected: vOverdue,
  published: v.array(
    v.object({
      queue: v.string(),
      epoch: v.number(),
      bounds: v.array(vBound),
      floor: v.optional(vKey),
    }),
  ),
});
export type Found = Infer<typeof vFound>;

export const find = internalQuery({
  args: { now: v.number() },
  returns: vFound,
  handler: async (ctx, { now }): Promise<Found> => {
    const active = await ctx.db
      .query("holders")
      .withIndex("state", (q) => q.eq("state", "active"))
      .take(RANGE_ROWS);
    const expired = active.filter((holder) => holder.expiresAt < now);
    const picked = pickExpired(expired);
    const next = active.find((holder) => holder.expiresAt >= now);
    // Also of those who have just become idle, so that the sweep which disarms leaves good cursors behind.
    const holders = [...active, ...(await idleHolders(ctx, now))];
    const served = someOf([...new Set(holders.flatMap((one) => one.queues))], SERVED_MAX);
    const queues = someOf(served, QUEUES_MAX);
    const uncounted = await findUncounted(ctx.db, served);
    return {
      expired: picked.map(({ _id }) => _id),
      lostProcesses: await findLost(ctx.db),
      more: expired.length > picked.length,
      nextExpiry: next?.expiresAt ?? null,
      timers: (await findTimers(ctx.db)).map(({ _id, dueAt }) => ({ id: _id, dueAt })),
      forgotten: await findForgotten(ctx, now),
      overdue: await findOverdue(ctx, now),
      served: [...served],
      uncounted,
      unattended: await findUnattended(ctx.db, uncounted, now),
      lateArrivals: await isLate(ctx.db, now),
      neglected: await lookForOverdue(ctx.db, [...queues, ...(await others(ctx, queues))], now),
      published: await findBounds(ctx, queues, now),
    };
  },
});

/** As many as one sweep ends: they are silent, so that a transaction with all of them loses to nobody as a rule. */
function pickExpired(expired: readonly Doc<"holders">[]): Doc<"holders">[] {
  const from = Math.floor(Math.random() * Math.min(expired.length, EXPIRED_PICKED));
  const picked: Doc<"holders">[] = [];
  let leases = 0;
  for (const holder of expired.slice(from)) {
    leases += holder.leases.length;
    if (picked.length > 0 && leases > EXPIRED_LEASES_MAX) break;
    picked.push(holder);
    if (picked.length === EXPIRED_MAX) break;
  }
  return picked;
}

async function idleHolders(ctx: QueryCtx, now: number): Promise<Doc<"holders">[]> {
  return await ctx.db
    .query("holders")
    .withIndex("state", (q) => q.eq("state", "idle").gte("expiresAt", now - IDLE_LIVE_MS))
    .take(RANGE_ROWS);
}

/** Some of the queues in which nothing is leased: a wake or an alarm that was lost there is noticed by nobody else. */
export async function others(ctx: QueryCtx, served: readonly string[]): Promise<readonly string[]> {
  const queues = await ctx.db.query("queues").take(OTHERS_READ);
  const names = queues.map(({ name }) => name).filter((name) => !served.includes(name));
  return someOf(names, OTHERS_MAX);
}

async function findForgotten(ctx: QueryCtx, now: number): Promise<Id<"holders">[]> {
  const silent = async (state: "idle" | "gone") =>
    await ctx.db
      .query("holders")
      .withIndex("state", (q) => q.eq("state", state).lt("expiresAt", now - HOLDER_RETENTION_MS))
      .take(JANITOR_FORGET_MAX / 2);
  return [...(await silent("idle")), ...(await silent("gone"))].map((holder) => holder._id);
}

async function findOverdue(ctx: QueryCtx, now: number): Promise<Id<"callbacks">[]> {
  const overdue = await ctx.db
    .query("callbacks")
    .withIndex("state", (q) => q.eq("state", "owed").lt("dueAt", now - CALLBACK_OVERDUE_MS))
    .take(JANITOR_REPLAN_MAX);
  return overdue.map((row) => row._id);
}

/** So many of the list, from a random one on: where there are more, each has its turn. */
function someOf<Item>(list: readonly Item[], max: number): readonly Item[] {
  return list.length <= max ? list : rotated(list).slice(0, max);
}

function rotated<Item>(list: readonly Item[]): readonly Item[] {
  const start = Math.floor(Math.random() * list.length);
  return [...list.slice(start), ...list.slice(0, start)];
}

/**
 * New public bounds for the queues in use whose old ones are not fresh, the oldest first: all that one sweep looks at is
 * bounded, and a queue for which there is no room left comes first in the next.
 */
async function findBounds(
  ctx: QueryCtx,
  queues: readonly string[],
  now: number,
): Promise<Found["published"]> {
  const known = await Promise.all(
    queues.map(async (name) => ({ name, old: await publicBounds(ctx.db, name) })),
  );
  const stale = known
    .filter(({ old }) => now >= (old?.publishedAt ?? -Infinity) + PUBLISH_EVERY_MS)
    .sort((a, b) => (a.old?.publishedAt ?? 0) - (b.old?.publishedAt ?? 0));
  const published: Found["published"] = [];
  let room = PUBLISH_RANGES_MAX;
  for (const { name, old } of stale) {
    const queue = await findQueue(ctx.db, name);
    if (queue === null) continue;
    const places = await placesOf(ctx.db, queue);
    const ranges = Math.min(places.length, PUBLISH_RANGES_MAX);
    if (ranges > room) continue;
    room -= ranges;
    const bounds = await boundsOf(ctx, queue, places, old);
    published.push({ queue: name, epoch: queue.epoch, ...bounds });
  }
  return published;
}

/**
 * For each place where something waits, its first row. All others are empty, and nothing can become claimable there but
 * with a `seq` above this snapshot: one floor says so for all of them, also for those that do not exist yet.
 *
 * A queue of more places than are looked at here gets no new floor: the places that were seen are then named one by one,
 * from a random one on, and of the others stands what was known.
 */
async function boundsOf(
  ctx: QueryCtx,
  queue: Queue,
  places: readonly { order: number; shard: number }[],
  old: Doc<"cursors"> | undefined,
): Promise<{ bounds: Bound[]; floor?: Key }> {
  const snapshot = snapshotOf(ctx);
  const end = snapshot === null ? null : afterCommit(snapshot);
  const isWhole = end !== null && places.length <= PUBLISH_RANGES_MAX;
  const bounds: Bound[] = [];
  for (const [i, place] of (isWhole ? places : rotated(places)).entries()) {
    const from = boundOf([old], queue.epoch, place.order, place.shard);
    const [first] =
      i < PUBLISH_RANGES_MAX
        ? await pendingFrom(ctx.db, { queue: queue.name, ...place }, from, 1)
        : [null];
    if (first === undefined && isWhole) continue;
    const seen = first === null ? from : first === undefined ? (end ?? from) : keyOf(first);
    bounds.push({ ...place, ...(compareKeys(seen, from) > 0 ? seen : from) });
  }
  if (isWhole) return { bounds, floor: end };
  const floor = old?.epoch === queue.epoch ? old.floor : undefined;
  // The first are those just seen. A bound that is left out is a lower one, which is always right.
  const named = bounds.filter(isAbove(floor)).slice(0, PUBLISHED_BOUNDS_MAX);
  return { bounds: named, ...(floor === undefined ? {} : { floor }) };
}

function isAbove(floor: Key = START): (bound: Bound) => boolean {
  return (bound) => compareKeys(bound, floor) !== 0;
}

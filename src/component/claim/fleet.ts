/**
 * Fleets: a session's place among many, without a read of all their rows with every claim.
 *
 * The row is a hint, like every result of a snapshot read: a session with an outdated view of the other sessions conflicts with
 * one of them at a job. It is counted from a snapshot by a function of its own, which a session that is missing there,
 * or finds the count old, schedules blindly: about four sessions of a fleet of any size do, and all but the first of
 * these calls find the count done. (With 64 workers and 12 jobs per second, calls read 37 documents per job; 63 where each
 * claim reads the rows of all.)
 *
 * Snapshot reads: all live sessions. Reads for real: the queue's row of `fleets`. Writes: that row. Conflicts with:
 * another count.
 */
import { v, type Infer } from "convex/values";
import {
  FLEET_ASKS,
  FLEET_MAX,
  FLEET_OLD_MS,
  FLEET_WAIT_MS,
  IDLE_LIVE_MS,
  RANKED_SESSIONS_MAX,
  stableHash,
  type Places,
} from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Doc } from "../_generated/dataModel.js";
import {
  internalMutation,
  internalQuery,
  type DatabaseReader,
  type MutationCtx,
} from "../_generated/server.js";
import { takeSessions } from "../rows/rowBytes.js";

export const vPlaceInFleet = v.object({
  /** How many are live and serve the queue, itself among them. */
  size: v.number(),
  /** Its place, from 0 on, in an order that all agree on; `null` if it has not been counted yet. */
  rank: v.union(v.number(), v.null()),
});
export type PlaceInFleet = Infer<typeof vPlaceInFleet>;

export interface Fleet extends PlaceInFleet {
  /** Whether this session is to ask for another count. */
  isMiscounted: boolean;
}

/** The fleet of a queue as a session sees it; `null` where `live` are all there are. */
export async function fleetOf(
  db: DatabaseReader,
  queue: string,
  sessionKey: string,
  live: readonly Doc<"sessions">[],
  now: number,
): Promise<Fleet | null> {
  if (live.length <= RANKED_SESSIONS_MAX) return null;
  const row = await findFleet(db, queue);
  const members = row === null ? new Uint32Array() : new Uint32Array(row.members);
  const rank = rankOf(members, stableHash(sessionKey));
  const size = rank === null ? Math.max(members.length, live.length) : members.length;
  const isWrong = row === null || rank === null || row.at < now - FLEET_OLD_MS;
  return { size, rank, isMiscounted: isWrong && Math.random() * size < FLEET_ASKS };
}

/**
 * The place among so few that all of them have been seen: with the fleet's row alone, eight workers of one queue lost twice as
 * many conflicts (0.2 per 100 jobs instead of 0.1), and each newcomer waited for a count.
 */
export function placeAmong(sessionKey: string, others: readonly Doc<"sessions">[]): PlaceInFleet {
  const before = others.filter((other) => other.sessionKey < sessionKey);
  return { size: others.length + 1, rank: before.length };
}

export function larger(one: PlaceInFleet, { size, rank }: PlaceInFleet): PlaceInFleet {
  return size > one.size ? { size, rank } : one;
}

/** The places of a session among the workers of each of its queues. A lane follows no subscription, and has no place there. */
export class PlacesByQueue {
  private readonly byQueue = new Map<string, PlaceInFleet>();
  private readonly workers: readonly Doc<"sessions">[];

  constructor(
    private readonly sessionKey: string,
    live: readonly Doc<"sessions">[],
  ) {
    this.workers = live.filter(({ lane }) => lane === undefined);
    this.isWhole = live.length <= RANKED_SESSIONS_MAX;
  }
  private readonly isWhole: boolean;

  /** Of a queue that was read; `fleet`: its count, where more sessions are live than can be read. */
  note(queue: string, fleet: PlaceInFleet | null): PlaceInFleet {
    const place = fleet ?? this.among(queue);
    this.byQueue.set(queue, { size: place.size, rank: place.rank });
    return place;
  }

  private among(queue: string): PlaceInFleet {
    const others = this.workers.filter(
      ({ sessionKey, queues }) => sessionKey !== this.sessionKey && queues.includes(queue),
    );
    return placeAmong(this.sessionKey, others);
  }

  known(served: readonly string[]): Places {
    if (this.isWhole) for (const queue of served) this.note(queue, null);
    const alike = new Map<string, Places[number]>();
    for (const [queue, { size, rank }] of this.byQueue) {
      const key = `${size}:${rank}`;
      const group = alike.get(key) ?? { size, rank, queues: [] };
      group.queues.push(queue);
      alike.set(key, group);
    }
    return [...alike.values()];
  }
}

/** Binary search: a thousand claims per second, each among a thousand. */
function rankOf(members: Uint32Array, hash: number): number | null {
  let [low, high] = [0, members.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (members[middle]! < hash) low = middle + 1;
    else high = middle;
  }
  return members[low] === hash ? low : null;
}

/** A session is over: a few of a fleet that leaves together have it counted without them. */
export async function leaveFleets(
  ctx: MutationCtx,
  { sessionKey, queues }: Doc<"sessions">,
  now: number,
): Promise<void> {
  for (const queue of queues) {
    const row = await findFleet(ctx.db, queue);
    if (row === null) continue;
    const members = new Uint32Array(row.members);
    const isAsking = Math.random() * members.length < FLEET_ASKS;
    if (isAsking && rankOf(members, stableHash(sessionKey)) !== null)
      await countAnew(ctx, queue, now);
  }
}

export async function countAnew(ctx: MutationCtx, queue: string, now: number): Promise<void> {
  const args = { queue, askedAt: now };
  await ctx.scheduler.runAfter(FLEET_WAIT_MS, internal.claim.fleet.countFleet, args);
}

export const countFleet = internalMutation({
  args: { queue: v.string(), askedAt: v.number() },
  returns: v.null(),
  handler: async (ctx, { queue, askedAt }): Promise<null> => {
    const row = await findFleet(ctx.db, queue);
    const now = Date.now();
    if (row !== null && row.at >= askedAt) return null;
    const args = { queue, now };
    const members: ArrayBuffer = await ctx.runQuery(internal.claim.fleet.fleetMembers, args, {
      useStaleSnapshot: true,
    });
    if (row === null) await ctx.db.insert("fleets", { queue, members, at: now });
    else await ctx.db.patch("fleets", row._id, { members, at: now });
    // While it grows, newcomers would otherwise request a count one by one.
    if (members.byteLength > (row?.members.byteLength ?? 0)) await countAnew(ctx, queue, now + 1);
    return null;
  },
});

/** The hashes of all live sessions that serve the queue, in order. */
export const fleetMembers = internalQuery({
  args: { queue: v.string(), now: v.number() },
  returns: v.bytes(),
  handler: async ({ db }, { queue, now }): Promise<ArrayBuffer> => {
    const since = { active: now, idle: now - IDLE_LIVE_MS };
    const live = await Promise.all(
      (["active", "idle"] as const).map((state) =>
        takeSessions(
          db
            .query("sessions")
            .withIndex("state", (q) => q.eq("state", state).gte("expiresAt", since[state])),
          FLEET_MAX,
        ),
      ),
    );
    const serving = live.flat().filter(({ queues }) => queues.includes(queue));
    const hashes = new Set(serving.map(({ sessionKey }) => stableHash(sessionKey)));
    return Uint32Array.from(hashes).sort().buffer;
  },
});

/**
 * How many idle sessions are live, where they are few enough to be read. Else as many as serve the one of the queues that has
 * most, as they were last counted: a row stays as it was when its fleet is killed.
 */
export async function liveFleet(
  db: DatabaseReader,
  queues: readonly string[],
  now: number,
): Promise<number> {
  const idle = await db
    .query("sessions")
    .withIndex("state", (q) => q.eq("state", "idle").gte("expiresAt", now - IDLE_LIVE_MS))
    .take(RANKED_SESSIONS_MAX + 1);
  if (idle.length <= RANKED_SESSIONS_MAX) return idle.length;
  return Math.max(1, ...(await Promise.all(queues.map((queue) => countedFleet(db, queue)))));
}

/** How many served the queue, as they were last counted; 0 where they never were. */
export async function countedFleet(db: DatabaseReader, queue: string): Promise<number> {
  const row = await findFleet(db, queue);
  return (row?.members.byteLength ?? 0) / Uint32Array.BYTES_PER_ELEMENT;
}

async function findFleet(db: DatabaseReader, queue: string): Promise<Doc<"fleets"> | null> {
  return await db
    .query("fleets")
    .withIndex("queue", (q) => q.eq("queue", queue))
    .unique();
}

/**
 * What a claim looks at before it takes anything: run as a snapshot query, so that it adds nothing to the claim's
 * read set. What it returns is a hint; the claim reads each job for real before it takes it.
 *
 * May not write, and may not be called but with `useStaleSnapshot`.
 */
import { v, type Infer } from "convex/values";
import {
  foreignShards,
  hasTurn,
  bandsOf,
  PRIORITY_DEFAULT,
  RANKED_HOLDERS_MAX,
  STEAL_AFTER_MS,
} from "../shared/index.js";
import type { Doc } from "./_generated/dataModel.js";
import { internalQuery, type QueryCtx } from "./_generated/server.js";
import {
  afterCommit,
  boundOf,
  compareKeys,
  decodeCursor,
  pendingFrom,
  publicBounds,
  type Key,
  type QueueBounds,
} from "./cursors.js";
import { liveHolders, standOf, type Stand } from "./stand.js";
import { findTimers, serves, sweepAt } from "./timers.js";

/** Expired holders among which a claim picks one: they seldom expire together, and two claims should not meet. */
const EXPIRED_SEEN = 4;

/**
 * Rows that a claimer looks at for each that it needs and each that shares its shard: so many that one of them is
 * nearly always its own, in a shard with a backlog.
 */
const WINDOW_FACTOR = 8;
/** Of what is another's, a claim takes this part: its owner's next batch is seldom robbed, and soon made up for. */
const STEAL_PART = 4;
/** More would cost more to read than the conflicts it saves. */
const WINDOW_MAX = 128;

const vKey = v.object({ seq: v.int64(), creationTime: v.number() });
const vScan = v.object({
  queue: v.string(),
  order: v.number(),
  shard: v.number(),
  /** The rows seen, in the order of the index. */
  rows: v.array(v.object({ id: v.id("jobs"), key: vKey })),
  /** Once all of these rows are dealt with, nothing below this is claimable; `null` if there may be more. */
  end: v.union(vKey, v.null()),
});
export type Scan = Infer<typeof vScan>;
type SeenRow = Scan["rows"][number];

export const vLook = v.object({
  /** Jobs in the order in which to take them. */
  picks: v.array(v.id("jobs")),
  scans: v.array(vScan),
  /** A holder whose leases have run out, if any. */
  expired: v.union(v.id("holders"), v.null()),
  /** A timer of the janitor's that comes in time for a lease of now, if any. */
  timer: v.union(v.id("timers"), v.null()),
});
export type Look = Infer<typeof vLook>;

const vLookedAtQueue = v.object({
  name: v.string(),
  shards: v.number(),
  epoch: v.number(),
  leaseMs: v.number(),
});
type LookedAtQueue = Infer<typeof vLookedAtQueue>;

export const look = internalQuery({
  args: {
    session: v.string(),
    queues: v.array(vLookedAtQueue),
    max: v.number(),
    /** The claim's frozen clock. */
    now: v.number(),
    cursor: v.optional(v.string()),
  },
  returns: vLook,
  handler: async (ctx, { session, queues, max, now, cursor }): Promise<Look> => {
    const mine = decodeCursor(cursor);
    const live = await liveHolders(ctx, now);
    const eyes: Eyes = { ctx, max, now, snapshot: snapshotOf(ctx), picks: [], scans: [] };
    // From a random queue on: none waits for ever behind another's backlog.
    for (const queue of rotate(queues, Math.random())) {
      const stand = standOf(session, queue, live, now);
      const bounds = [mine.get(queue.name), await publicBounds(ctx.db, queue.name)];
      for (const order of bandsOf(PRIORITY_DEFAULT)) {
        await lookAtBand(eyes, queue, order, stand, bounds);
      }
    }
    const { picks, scans } = eyes;
    const expired = picks.length < max ? await anExpiredHolder(ctx, session, now) : null;
    return { picks, scans, expired, timer: await aTimer(ctx, queues, now) };
  },
});

/** What a look has found so far, and with what it looks. */
interface Eyes {
  ctx: QueryCtx;
  max: number;
  now: number;
  snapshot: bigint | null;
  picks: Doc<"jobs">["_id"][];
  scans: Scan[];
}

/**
 * One band: the claimer's own shards, merged in commit order, then, with room left, what has waited elsewhere.
 *
 * Bands are the outer loop, so that what comes back goes before what is new wherever it lies; what is stolen is
 * bounded by age, so that the owner of a shard meets nobody at its fresh jobs.
 */
async function lookAtBand(
  eyes: Eyes,
  queue: LookedAtQueue,
  order: number,
  { own, turn, guarded, isAlone, robs }: Stand,
  bounds: readonly (QueueBounds | undefined)[],
): Promise<void> {
  const sharers = turn === "unknown" ? RANKED_HOLDERS_MAX : turn.sharers;
  const ownScans = await lookAtShards(eyes, queue, order, own, bounds, windowOf(eyes, sharers));
  const rows = ownScans.flatMap((scan) => scan.rows);
  rows.sort((a, b) => compareKeys(a.key, b.key));
  // A clock decides here only when a thief may look; the owner finds the job whatever the clocks say.
  const waited = BigInt(Math.floor(eyes.now - STEAL_AFTER_MS)) * 1_000_000n;
  const part = isAlone ? 1 : STEAL_PART;
  if (turn === "unknown") {
    pickScattered(eyes, rows, 1);
  } else {
    const mine = rows.filter((row) => hasTurn(row.id, turn));
    pickFirst(eyes, mine);
    const others = rows.filter((row) => !mine.includes(row) && row.key.seq <= waited);
    if (robs) pickScattered(eyes, others, part);
  }
  const foreign = foreignShards(own, queue.shards, Math.random()).filter(
    (shard) => robs || !guarded.has(shard),
  );
  const window = windowOf(eyes, sharers);
  const foreignScans = await lookAtShards(eyes, queue, order, foreign, bounds, window, waited);
  pickScattered(
    eyes,
    foreignScans.flatMap((scan) => scan.rows),
    part,
  );
}

/** How many rows to look at: what is needed, if nobody else looks here; else enough to find one's own among them. */
function windowOf(eyes: Eyes, sharers: number): number {
  const need = eyes.max - eyes.picks.length;
  if (sharers === 1) return need;
  return Math.max(need, Math.min(need * sharers * WINDOW_FACTOR, WINDOW_MAX));
}

function pickFirst(eyes: Eyes, rows: readonly SeenRow[]): void {
  const need = eyes.max - eyes.picks.length;
  eyes.picks.push(...rows.slice(0, need).map((row) => row.id));
}

/**
 * Picks from a random row on, among rows that others may take in the same instant, one `part`th of them at most. The
 * first rows are as likely as any to be taken: none waits long.
 */
function pickScattered(eyes: Eyes, rows: readonly SeenRow[], part: number): void {
  const need = eyes.max - eyes.picks.length;
  const count = Math.min(need, Math.max(1, Math.floor(rows.length / part)));
  const start = Math.floor(Math.random() * Math.max(1, rows.length - count + 1));
  eyes.picks.push(...rows.slice(start, start + count).map((row) => row.id));
}

async function lookAtShards(
  eyes: Eyes,
  queue: LookedAtQueue,
  order: number,
  shards: readonly number[],
  bounds: readonly (QueueBounds | undefined)[],
  need: number,
  upTo?: bigint,
): Promise<Scan[]> {
  if (need === 0 || shards.length === 0) return [];
  // Jobs are spread at random: twice a shard's share nearly always suffices, and reads no more than that.
  const share = Math.min(need, 2 * Math.ceil(need / shards.length));
  const scans = await Promise.all(
    shards.map(async (shard): Promise<Scan> => {
      const place = { queue: queue.name, order, shard };
      const from = boundOf(bounds, queue.epoch, order, shard);
      const rows = await pendingFrom(eyes.ctx.db, place, from, share, upTo);
      return {
        ...place,
        rows: rows.map((row) => ({ id: row._id, key: keyOf(row) })),
        end: rows.length < share ? endOf(eyes.snapshot, upTo) : null,
      };
    }),
  );
  eyes.scans.push(...scans);
  return scans;
}

function keyOf(job: Doc<"jobs">): Key {
  // A snapshot shows committed rows only, so the timestamp has been resolved.
  return { seq: job.seq as bigint, creationTime: job._creationTime };
}

/**
 * Below what nothing is left once a range has been read to its end: the snapshot's own timestamp, or the bound of
 * the read, whichever is less. With the clock ahead of the database, rows may yet come below `upTo`.
 */
function endOf(snapshot: bigint | null, upTo: bigint | undefined): Key | null {
  if (snapshot === null) return null;
  return afterCommit(upTo !== undefined && upTo < snapshot ? upTo : snapshot);
}

/**
 * This query's own snapshot, never the outer transaction's: the platform may give a snapshot query an older one.
 * `null` where the platform cannot say; cursors then follow the rows that were taken, and only that.
 */
export function snapshotOf(ctx: QueryCtx): bigint | null {
  try {
    return ctx.meta.getSnapshotTs();
  } catch {
    return null;
  }
}

/** Looked at here, so that a claim depends on a timer only where there is one. */
async function aTimer(
  ctx: QueryCtx,
  queues: readonly LookedAtQueue[],
  now: number,
): Promise<Doc<"timers">["_id"] | null> {
  const leaseMs = Math.min(...queues.map((queue) => queue.leaseMs));
  const dueAt = sweepAt(now + leaseMs, now);
  const timer = (await findTimers(ctx.db)).find((one) => serves(one, dueAt, now));
  return timer?._id ?? null;
}

/** Read by a claim with room left, so that lost jobs come back even where no scheduled function runs. */
async function anExpiredHolder(
  ctx: QueryCtx,
  session: string,
  now: number,
): Promise<Doc<"holders">["_id"] | null> {
  const expired = await ctx.db
    .query("holders")
    .withIndex("state", (q) => q.eq("state", "active").lt("expiresAt", now))
    .take(EXPIRED_SEEN);
  const others = expired.filter((holder) => holder.session !== session);
  return others[Math.floor(Math.random() * others.length)]?._id ?? null;
}

function rotate<T>(list: readonly T[], random: number): T[] {
  const start = Math.floor(random * list.length);
  return [...list.slice(start), ...list.slice(0, start)];
}

/**
 * The search of a claim for jobs to take: run as a snapshot query, so that it adds nothing to the claim's read set. Its
 * result is a hint; the claim reads each job for real before it takes it.
 *
 * May not write, and may not be called but with `useStaleSnapshot`.
 */
import { v, type Infer } from "convex/values";
import {
  commitTimeOf,
  AVOID_MS,
  pendingOrder,
  rotate,
  SHARDS_MAX,
  vConditions,
  vPlaces,
  TENDERS,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import { internalQuery, type QueryCtx } from "../_generated/server.js";
import { boundsFor, decodeCursor, publicBounds, type PrivateCursor } from "../rows/cursors.js";
import { isOutOfTime } from "../edges/deadlines.js";
import {
  fleetOf,
  larger,
  placeAmong,
  PlacesByQueue,
  vPlaceInFleet,
  type Fleet,
  type PlaceInFleet,
} from "./fleet.js";
import { bringsHandler } from "../rows/jobRules.js";
import { mayGoOutside, offersOutside, takesAnyInside } from "../index/outsideWorkers.js";
import { conditionsKey, levelsOf, offerOf, type Offer } from "../rows/conditions.js";
import { earlier, pickFrom, pickRest, Picks, type ScanResult, type Target } from "./picking.js";
import { routesOf } from "../rows/routes.js";
import { bytesOf } from "../rows/rowBytes.js";
import {
  isSpent,
  newBudget,
  snapshotOf,
  vSeenRow,
  type ScanContext,
  type PlaceScan,
} from "../index/scan.js";
import {
  countAtWork,
  findSessions,
  servingOthers,
  assignmentAlone,
  assignmentInCrowd,
  assignmentInFleet,
  assignmentAmong,
  type Sessions,
} from "./assignment.js";
import { vKey } from "../rows/stored.js";
import { watchedUntil } from "../rows/sessions.js";
import { findDead } from "../loops/loop.js";
import { findTimers, isTimeToTend, serves, sweepAt } from "../loops/timers.js";

/** Of a claim that has not read them. */
const NO_SESSIONS: Sessions = { live: [], expired: [] };

const vScan = v.object({
  queue: v.string(),
  order: v.number(),
  shard: v.number(),
  /** The rows seen, in the order of the index. */
  rows: v.array(vSeenRow),
  /** Once all of these rows are dealt with, nothing below this is claimable; `null` if there may be more. */
  end: v.union(vKey, v.null()),
  /** Rows before the first were passed as too dear. */
  isBehindDear: v.boolean(),
});
export type Scan = Infer<typeof vScan>;

export const vLook = v.object({
  /** Jobs in the order in which to take them, each with the `seq` under which it was seen. */
  picks: v.array(v.object({ id: v.id("jobs"), seq: v.int64() })),
  /** Of one of a large fleet: how many more jobs wait, at least. */
  more: v.number(),
  /** The search stopped: the picks are as many as the claim may take, or end. */
  isFull: v.boolean(),
  scans: v.array(vScan),
  /** A timer of the janitor's that comes in time for a lease of now, if any. */
  timer: v.union(v.id("timers"), v.null()),
  /** Queues with a fleet to be counted anew: too large to be read with a claim, and without this session. */
  miscounted: v.array(v.string()),
  /** Its place among all that are live and serve a queue that was read: of several queues the one of most. */
  fleet: vPlaceInFleet,
  /**
   * The same by queue, as far as it is known: for all that it serves, where so few sessions are live that all have been
   * read.
   */
  places: vPlaces,
  /** A sweep is late, or another alarm: the claimer has the work tended. A claim that is full does not say so. */
  isLate: v.boolean(),
  /** The commit up to which the search is complete; `null` where the platform cannot say. */
  snapshot: v.union(v.int64(), v.null()),
});
export type Look = Infer<typeof vLook>;

const vLookedAtQueue = v.object({
  name: v.string(),
  shards: v.number(),
  epoch: v.number(),
  leaseMs: v.number(),
  /** Jobs that became claimable by a later commit are left to workers outside. */
  upTo: v.optional(v.int64()),
  /** It has no handler: a lane takes jobs that bring one. */
  needsHandler: v.optional(v.boolean()),
  /** Its jobs are spread over one shard, whatever it was before: all are claimed in the order in which they came. */
  isStrict: v.optional(v.boolean()),
  /** It is not searched: the claim names the jobs that it wants of it. */
  isPassedBy: v.optional(v.boolean()),
});
type LookedAtQueue = Infer<typeof vLookedAtQueue>;

const vLookArgs = v.object({
  sessionKey: v.string(),
  /** The claimer's name: a job that a worker of this name has failed is left to other workers for a while. */
  name: v.string(),
  queues: v.array(vLookedAtQueue),
  conditions: v.object({ ...vConditions.fields, groupPrefix: v.optional(v.string()) }),
  max: v.number(),
  /** The claim's frozen clock. */
  now: v.number(),
  cursor: v.optional(v.string()),
  /** When the first attempt that the session runs already is overdue: a sweep is to come for that. */
  endsBy: v.optional(v.number()),
  /** How many ranges it may read. */
  ranges: v.number(),
  /**
   * Whether it searches everywhere, in commit order, since other sessions rely on it; else its stand among them
   * decides.
   */
  everywhere: v.optional(v.boolean()),
  /** It is one of a large fleet. */
  isFleet: v.optional(v.boolean()),
  /** Of a session with jobs in hand: how long ago its last call was. */
  silentMs: v.optional(v.number()),
  /** Several claims do the same at the same time. */
  isCrowded: v.optional(v.boolean()),
  /** Jobs that became claimable by a later commit have a wake of their own. */
  upTo: v.optional(v.int64()),
  /** It comes in its turn, when no other session of a fleet does: it may take any job. */
  isWoken: v.optional(v.boolean()),
  /** It runs jobs inside Convex, where the name of the worker that failed a job does not matter. */
  isLane: v.optional(v.boolean()),
  /** It knows its places: where no queue is searched, no other worker's row is read. */
  isPlaced: v.optional(v.boolean()),
  /** All queues that it serves: the reply has its places among their workers. A lane requests none. */
  served: v.optional(v.array(v.string())),
});
type LookArgs = Infer<typeof vLookArgs>;

export const chooseJobs = internalQuery({
  args: vLookArgs,
  returns: vLook,
  handler: async (ctx, args): Promise<Look> => {
    const { queues, max, now, sessionKey, conditions } = args;
    const offer = { ...offerOf(conditions), worker: args.isLane === true ? "" : args.name };
    const mine = decodeCursor(args.cursor, conditionsKey(offer));
    const open = queues.filter(({ isPassedBy }) => isPassedBy !== true);
    const passedBy = queues.filter(({ isPassedBy }) => isPassedBy === true);
    // A wake, or a lane that searches for all, stands beside no other session, and leaves lost jobs to the sweep.
    const isForAll = args.isLane === true && args.everywhere === true && args.isCrowded !== true;
    const seesOthers = !isForAll && (args.isPlaced !== true || open.length > 0);
    const [sessions, timers] = await Promise.all([
      seesOthers ? findSessions(ctx, args) : NO_SESSIONS,
      findTimers(ctx.db),
    ]);
    const { live } = sessions;
    const picks = new Picks(max, offer.maxCost ?? Infinity);
    const left = newBudget(args.ranges);
    const seen: Seen[] = [];
    const miscounted: string[] = [];
    let place: PlaceInFleet = { size: 1, rank: 0 };
    const places = new PlacesByQueue(sessionKey, live);
    for (const { name } of seesOthers ? passedBy : []) {
      const fleet = await fleetOf(ctx.db, name, sessionKey, live, now);
      place = larger(place, places.note(name, fleet));
      if (fleet?.isMiscounted === true) miscounted.push(name);
    }
    // From a random queue on: none waits for ever behind another's backlog, or its many places.
    for (const queue of rotate(open, Math.random())) {
      if (picks.isFull || isSpent(left)) break;
      const [fleet, routes] = await Promise.all([
        args.everywhere === true ? null : fleetOf(ctx.db, queue.name, sessionKey, live, now),
        routesOf(ctx.db, queue.name),
      ]);
      const others = servingOthers(sessionKey, queue.name, live);
      place = larger(place, fleet ?? placeAmong(sessionKey, others));
      if (args.served !== undefined) places.note(queue.name, fleet);
      if (fleet?.isMiscounted === true && args.isLane !== true) miscounted.push(queue.name);
      const target = await targetOf(ctx, args, queue, { live, fleet, mine });
      for (const row of [...routes, ...target.bounds])
        left.bytes -= row === undefined ? 0 : bytesOf(row);
      const scanning: ScanContext = {
        db: ctx.db,
        offer,
        snapshot: snapshotOf(ctx),
        avoids: avoiding(args, others, target),
        isOver: (job) => isOutOfTime(job, now),
        ...(queue.needsHandler === true
          ? { mayRun: (job: Doc<"jobs">) => bringsHandler(ctx.db, job) }
          : {}),
        left,
      };
      const levels = levelsOf(routes, offer);
      seen.push({ scanning, target, scanned: await pickFrom(scanning, target, levels, picks) });
    }
    // Other sessions rely on a claim that searches everywhere: while it has room, a job hidden by the partial read of a
    // place is picked too.
    const isWhole =
      args.everywhere !== true ||
      picks.isFull ||
      (seen.length === open.length && (await restOf(seen, picks)));
    return {
      picks: picks.rows.map(({ id, key }) => ({ id, seq: key.seq })),
      more: args.isFleet === true ? seen.reduce((sum, one) => sum + countMore(one, picks), 0) : 0,
      isFull: picks.isFull,
      scans: seen.flatMap(({ scanned }) => scanned.placeScans.filter(wasRead).map(scanOf)),
      timer: timers.find((one) => serves(one, sweepFor(args), now))?._id ?? null,
      miscounted,
      fleet: place,
      places: places.known(args.served ?? []),
      isLate:
        !picks.isFull &&
        (seesOthers || args.isLane === true) &&
        Math.random() * place.size < TENDERS &&
        (isTimeToTend(sessions.expired, timers, now) ||
          (picks.rows.length === 0 && (await findDead(ctx.db, now)).length > 0)),
      snapshot: isWhole ? snapshotOf(ctx) : null,
    };
  },
});

/**
 * How many jobs wait besides the picks, at least. Jobs are spread at random over shards, and the fullest is read only in
 * part: the jobs seen in one shard speak for the rest, less two standard deviations of such a count.
 */
function countMore({ target, scanned }: Seen, picks: Picks): number {
  const counts = new Array<number>(target.shards).fill(0);
  for (const { shard, rows } of scanned.placeScans)
    counts[shard % SHARDS_MAX]! += rows.filter(
      (row) => row.cost !== null && !picks.has(row),
    ).length;
  const most = Math.max(...counts);
  const sum = counts.reduce((all, count) => all + count, 0);
  return target.isStrict
    ? sum
    : Math.max(sum, Math.floor((most - 2 * Math.sqrt(most)) * target.shards));
}

interface Seen {
  scanning: ScanContext;
  target: Target;
  scanned: ScanResult;
}

/** Picks the remaining jobs of the places read; returns whether none was left unseen. */
async function restOf(seen: readonly Seen[], picks: Picks): Promise<boolean> {
  for (const { scanning, target, scanned } of seen)
    if (!scanned.isWhole || !(await pickRest(scanning, target, scanned, picks))) return false;
  return true;
}

async function targetOf(
  ctx: QueryCtx,
  {
    sessionKey,
    now,
    silentMs,
    everywhere,
    isCrowded = false,
    isWoken = false,
    upTo,
    conditions,
  }: LookArgs,
  { name, shards, epoch, upTo: left, isStrict = shards === 1 }: LookedAtQueue,
  { live, fleet, mine }: { live: Doc<"sessions">[]; fleet: Fleet | null; mine: PrivateCursor },
): Promise<LaneTarget> {
  const known = boundsFor(mine, name, conditions.maxCost);
  const bounds = [...known, await publicBounds(ctx.db, name)];
  // Jobs left to workers outside are not left while no such worker is there.
  const offers = left === undefined ? [] : await offersOutside(ctx.db, name, now);
  const isAllLeft = offers.some(takesAnyInside);
  const newest = isAllLeft ? earlier(left, upTo) : upTo;
  const young = left === undefined || isAllLeft ? undefined : { offers, after: left };
  const woken = isWoken || isCrowded;
  const target = { name, shards, isStrict, epoch, bounds, now, newest, isWoken: woken, young };
  if (everywhere === true || isStrict) {
    const crowd =
      isCrowded && !isStrict
        ? assignmentInCrowd(sessionKey, { name, shards }, live)
        : assignmentAlone(shards);
    return { ...target, assignment: crowd };
  }
  const others = servingOthers(sessionKey, name, live);
  const assignment =
    fleet === null
      ? assignmentAmong(sessionKey, { name, shards }, live, now)
      : assignmentInFleet(
          sessionKey,
          shards,
          fleet,
          countAtWork(others, fleet.size, now, silentMs),
        );
  const mayTakeAny = isWoken && assignment.busy === 0;
  return { ...target, assignment: mayTakeAny ? { ...assignment, maySteal: true } : assignment };
}

/** A target, and the jobs that became claimable after a commit and that workers outside may take. */
type LaneTarget = Target & { young: { offers: readonly Offer[]; after: bigint } | undefined };

/**
 * Whether a job is left to other workers. By a lane, a young one to workers outside that may take it; else for two
 * seconds, to workers that have not failed it, while there is one. Then, or without such a worker, any claimer may have
 * it. A failed round of a circular queue is no retry: its item is at the end of the ring, and any worker takes it
 * there.
 */
function avoiding(
  { name, now, isLane }: LookArgs,
  others: readonly Doc<"sessions">[],
  { young }: LaneTarget,
): (job: Doc<"jobs">) => boolean {
  if (isLane === true)
    return (job) =>
      young !== undefined && (job.seq as bigint) > young.after && mayGoOutside(young.offers, job);
  const since = commitTimeOf(now - AVOID_MS);
  return ({ failedBy = [], seq, order, priority }) =>
    failedBy.includes(name) &&
    order === pendingOrder(true, priority) &&
    (seq as bigint) > since &&
    others.some((other) => !failedBy.includes(other.name));
}

function wasRead({ rows, end }: PlaceScan): boolean {
  return rows.length > 0 || end !== null;
}

function scanOf({ queue, order, shard, rows, end, isBehindDear }: PlaceScan): Scan {
  const seen = rows.map(({ id, key, isPassed, isDear }) => ({ id, key, isPassed, isDear }));
  return { queue, order, shard, rows: seen, end, isBehindDear };
}

/** When a sweep must have come for a lease of this claim, or for the first attempt that the session runs already. */
function sweepFor({ queues, now, isLane, endsBy = Infinity }: LookArgs): number {
  const endsAt =
    isLane === true
      ? watchedUntil([], now)
      : now + Math.min(...queues.map((queue) => queue.leaseMs));
  return sweepAt(Math.min(endsAt, endsBy), now);
}

/**
 * Wake: looks at what is claimable in a queue that Convex itself works off, and starts a lane with it.
 *
 * It takes up to a lane's width of jobs for one lane, writes its row and schedules it with the jobs as arguments, or without
 * any where they are large: the lane's first call then brings them. If it took as many as it may, there may be more, and it
 * sees to another wake. A wake that was scheduled for a job takes that one first, and others only if they came no later, so
 * that two wakes seldom want the same.
 *
 * If nothing came with it, and nobody is relied on, it takes that one alone, without a look, and starts a spare with it,
 * whose room is its own already: a start is sooner, reads half, and meets no other of its kind. Beside more than a few
 * lanes that one begins to look for all. So an isolated job costs a wake, a lane, its handler and a completion; where its
 * handler is a mutation, a wake and that mutation (`laneOnce.ts`).
 *
 * Nobody's job hangs on how fresh a snapshot is: its own job it reads by id, and one whose look is older than the commit it
 * looks because of comes again. Nor on a clock: what came with its own job is as old as that, and no longer left to workers.
 *
 * Reads for real: the queue's row and its gate; then, unless somebody is relied on, all its lanes, those of all queues that
 * are awake, each job before it is taken, the lane's holder, a timer of the janitor's. Looks: as a claim, everywhere.
 * Writes: the jobs taken, a lane, its holder, the gate, and the door where that changes; schedules the lane. Conflicts with:
 * another wake of the queue, a lane of the queue that changes its cap, a claim of the same job. Callers never meet it.
 */
import { v } from "convex/values";
import {
  commitTimeOf,
  JANITOR_PERIOD_MS,
  LANE_CARRIES_BYTES,
  LANE_LOOK_MS,
  msOfCommit,
  WAKE_AGAIN_MS,
  type LaneStart,
} from "../shared/index.js";
import { internal } from "./_generated/api.js";
import { internalMutation, internalQuery, type MutationCtx } from "./_generated/server.js";
import type { Doc, Id } from "./_generated/dataModel.js";
import { isClaimable } from "./basket.js";
import { takeFrom, type Claimed, type LaneLook } from "./claim.js";
import { closeCall, type Holder } from "./holders.js";
import { unheard } from "./laneAction.js";
import { describeLaneJobs } from "./laneJobs.js";
import { beginWith } from "./laneOnce.js";
import {
  awaken,
  ensureSpares,
  freeOf,
  lanesOf,
  leftOfAll,
  makeRoom,
  sleepingLane,
  findSpare,
  spareLane,
  widthOf,
  type Spare,
} from "./lanes.js";
import { findQueue, type Queue } from "./queues.js";
import { oldestIn } from "./oldest.js";
import { callOffSurplus } from "./surplus.js";
import { ensureAmong, ensureJanitor, findTimers, isStillborn, reviveJanitor } from "./timers.js";
import { findGate, hasCome, isQuiet, quieten, setGate, scheduleWake, type Gate } from "./wakes.js";

export const wake = internalMutation({
  args: {
    queue: v.string(),
    /** Why it was scheduled; absent where capacity came free, or somebody stopped looking. */
    job: v.optional(v.id("jobs")),
    /** Nothing else came by that call. */
    isAlone: v.optional(v.boolean()),
    dueAt: v.optional(v.number()),
    /** What became claimable by this commit is to be found now. */
    upTo: v.optional(v.int64()),
    /** It sees to another: what has come before it is left to workers outside for so long. */
    againAfterMs: v.optional(v.number()),
  },
  returns: v.null(),
  handler: async (ctx, args): Promise<null> => {
    const { job, isAlone = false, dueAt = Infinity, upTo, againAfterMs } = args;
    const [queue, gate, row, spare] = await Promise.all([
      findQueue(ctx.db, args.queue),
      findGate(ctx.db, args.queue),
      job === undefined ? null : ctx.db.get("jobs", job),
      isAlone ? findSpare(ctx, args.queue) : null,
    ]);
    if (queue === null || queue.isPaused || !queue.config.push) return null;
    // A lane looks again, or whoever frees capacity; and shuts the door and schedules another wake before it stops.
    if (gate?.state === "guarded" || (gate?.state === "full" && job !== undefined)) {
      await callOffSurplus(ctx, queue.name, dueAt);
      return null;
    }
    if (againAfterMs !== undefined) await scheduleWake(ctx, queue, snapshotOf(ctx), againAfterMs);
    const asked = job === undefined ? { upTo } : { row, ...(isAlone && { isAlone, spare }) };
    await wakeOne(ctx, queue, gate, asked, Date.now());
    return null;
  },
});

/** What a wake is for: a job, gone or not, that came by itself or not; or what became claimable by a commit. */
interface Asked {
  row?: Doc<"jobs"> | null;
  isAlone?: boolean;
  spare?: Spare | null;
  upTo?: bigint | undefined;
}

async function wakeOne(
  ctx: MutationCtx,
  queue: Queue,
  gate: Gate | null,
  { row, isAlone = false, spare: seen, upTo }: Asked,
  now: number,
): Promise<void> {
  const own = row !== undefined && row !== null && isClaimable(row) ? row : null;
  // Whatever else waits has a wake of its own; what moved this one since has seen to another.
  const [isContent, found, timers] =
    own !== null && isAlone && isQuiet(gate)
      ? await Promise.all([
          hasCome(ctx.db, queue.name, own, 1).then((others) => !others),
          seen === null || seen === undefined ? null : spareLane(ctx, queue, seen),
          // As a rule such a wake does not look, so that nothing shows it one on which it could depend.
          findTimers(ctx.db),
        ])
      : [false, null];
  const spare = isContent ? found : null;
  const [lanes, left] =
    spare === null
      ? await Promise.all([lanesOf(ctx.db, queue.name), leftOfAll(ctx)])
      : [[spare], { lanes: Infinity, runs: 1 }];
  // Nobody has begun it: it was canceled, say. When it came, and so what came with it, nobody knows any more.
  const isLost = row !== undefined && own === null && (row === null || row.attempt === 0);
  const { fallbackAfterMs } = queue.config;
  if (isLost && fallbackAfterMs > 0)
    await scheduleWake(ctx, queue, snapshotOf(ctx), fallbackAfterMs);
  // Up to where it has to have seen everything, and nothing is left to workers any more.
  const asked = (own?.seq as bigint | undefined) ?? upTo ?? waitedSince(ctx, queue, now);
  const free = freeOf(queue, lanes);
  const room = widthOf(queue, Math.min(free, left.runs));
  if (room <= 0 || left.lanes <= 0) {
    if (queue.config.maxParallelism === 0 || gate?.state === "leaving") return;
    // Nobody can be started. A queue that waits for nothing but its own lanes is looked at by them.
    const isNeeded = gate?.state === "full" || own !== null || (await isWaiting(ctx, queue, asked));
    if (!isNeeded) return;
    // From now on it is left to lanes: nobody may rely on one that died while no sweep comes.
    if (gate?.state !== "full") await reviveJanitor(ctx, Infinity, now);
    await setGate(ctx, gate, queue.name, { state: "full", ...(free > 0 && { needsSlot: true }) });
    return;
  }
  const lane = spare ?? (await sleepingLane(ctx, queue, lanes, now));
  const holder = (await ctx.db.get("holders", lane.holder))!;
  const n = holder.n + 1;
  const look: LaneLook = {
    ...{ everywhere: true, due: asked, isContent, carries: LANE_CARRIES_BYTES },
    // What became claimable after its own job has wakes of its own: they would only meet.
    ...(own === null ? {} : { first: own, upTo: asked }),
  };
  const open = new Map([[queue.name, queue]]);
  const taken = await takeFrom(ctx, holder, n, open, { max: room }, now, { lane: look });
  const isDone = isContent && taken.leases.length > 0;
  const mayBeMore = taken.leases.length === room && !isDone;
  // What an older snapshot does not show may be there all the same, and what stood behind others who have gone since.
  const isSure = isDone || mayBeMore || (taken.snapshot ?? 0n) >= asked;
  if (!isSure) await scheduleWake(ctx, queue, asked, WAKE_AGAIN_MS);
  if (taken.leases.length === 0) {
    if (!isSure) return;
    // Capacity is free, so it may no longer be said that whoever frees some looks.
    if (gate?.state === "full") await quieten(ctx, gate, queue);
    return;
  }
  // Jobs that come one by one, and seldom at once, need nobody who looks for more; but wakes that have no spare meet.
  const areMany =
    spare === null ? lanes.some(({ state }) => state === "awake") : seen?.areMany === true;
  // The last slot there is: whoever comes later cannot be given a lane.
  const isLast = left.lanes === 1;
  const guards = !mayBeMore && (areMany || isLast || !isQuiet(gate));
  const start: LaneStart = {
    ...{ lane: lane._id, generation: lane.generation + 1, n },
    ...(taken.isHeavy === true
      ? unheard(n)
      : { jobs: await describeLaneJobs(ctx.db, queue, taken.jobs) }),
    ...(guards ? { lookAfterMs: LANE_LOOK_MS } : {}),
  };
  const scheduledId = await beginWith(ctx, queue, start);
  // Under a canceled function it would never run: the jobs stay where they were, for a wake that is not.
  if (await isStillborn(ctx, scheduledId))
    throw new Error("A wake was run by a canceled function.");
  const cap = guards ? room : taken.leases.length;
  if (isDone && !guards && spare === null) await ensureSpares(ctx, queue, lanes, now);
  await makeRoom(ctx, queue, lanes, lane, cap);
  const { expiresAt } = await beginLane(ctx, holder, n, taken, now);
  const sweep = await ensureLookedAfter(ctx, holder, { isDone, timers, expiresAt, taken, now });
  await awaken(ctx, lane, {
    ...{ cap, under: queue.config.maxParallelism, scheduledId, startedAt: now, sweep },
  });
  if (guards) await setGate(ctx, gate, queue.name, { state: "guarded", guard: lane._id });
  if (mayBeMore) await scheduleWake(ctx, queue, asked);
}

/** Returns the timer that the lane may call off when it leaves: nothing runs beside it, and jobs are rare. */
async function ensureLookedAfter(
  ctx: MutationCtx,
  { n, lastSeenAt }: Holder,
  { isDone, timers, expiresAt, taken, now }: LookedAfter,
): Promise<Id<"timers"> | undefined> {
  if (timers === undefined) {
    await ensureJanitor(ctx, expiresAt, now, taken.timer);
    return undefined;
  }
  const made = await ensureAmong(ctx, timers, expiresAt, now);
  const isRare = n === 0 || lastSeenAt < now - JANITOR_PERIOD_MS;
  return isDone && isRare ? made : undefined;
}

interface LookedAfter {
  /** It took its own job, without a look. */
  isDone: boolean;
  /** All that there are, if they have been read. */
  timers: readonly Doc<"timers">[] | undefined;
  expiresAt: number;
  taken: Claimed;
  now: number;
}

/** The commit by which a job must have become claimable to be a lane's now. */
function waitedSince(ctx: MutationCtx, { config }: Queue, now: number): bigint {
  const { fallbackAfterMs } = config;
  return fallbackAfterMs === 0 ? snapshotOf(ctx) : commitTimeOf(now - fallbackAfterMs);
}

function snapshotOf(ctx: MutationCtx): bigint {
  return ctx.meta.getSnapshotTs();
}

async function beginLane(
  ctx: MutationCtx,
  holder: Holder,
  n: number,
  taken: Claimed,
  now: number,
): Promise<Holder> {
  const { leases: claimed, cursor } = taken;
  const call = { n, claimed, cursor, isAwake: true };
  return await closeCall(ctx.db, holder, call, now);
}

/** Whether anything may wait for a lane: also where the snapshot is too old to say. */
async function isWaiting(ctx: MutationCtx, queue: Queue, asked: bigint): Promise<boolean> {
  const args = { queue: queue.name };
  const { at, snapshot }: Oldest = await ctx.runQuery(internal.wake.oldest, args, {
    useStaleSnapshot: true,
  });
  return at === null ? snapshot < asked : at <= msOfCommit(asked);
}

/** When the job that has been claimable longest became so. To be called with `useStaleSnapshot`. */
export const oldest = internalQuery({
  args: { queue: v.string() },
  returns: v.object({
    at: v.union(v.number(), v.null()),
    snapshot: v.int64(),
  }),
  handler: async (ctx, args): Promise<Oldest> => {
    const queue = await findQueue(ctx.db, args.queue);
    const at = queue === null ? null : await oldestIn(ctx.db, queue);
    return { at, snapshot: ctx.meta.getSnapshotTs() };
  },
});

interface Oldest {
  at: number | null;
  snapshot: bigint;
}

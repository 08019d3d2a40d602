/**
 * Wake: looks at what is claimable in a queue that Convex itself works off, and starts a lane with it.
 *
 * It takes up to a lane's width of jobs for one lane, writes its row and schedules it with the jobs as arguments, so that
 * an isolated job costs a wake, a lane, its handler and a completion. If it took as many as it may, there may be more, and
 * it sees to another wake. A wake that was scheduled for a job takes that one first, and others only if they came no later,
 * so that two wakes seldom want the same.
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
  LANE_LOOK_MS,
  msOfCommit,
  WAKE_AGAIN_MS,
  type LaneStart,
} from "../shared/index.js";
import { internal } from "./_generated/api.js";
import { internalMutation, internalQuery, type MutationCtx } from "./_generated/server.js";
import type { Id } from "./_generated/dataModel.js";
import { isClaimable } from "./basket.js";
import { takeFrom, type LaneLook } from "./claim.js";
import { closeCall, type Holder } from "./holders.js";
import { startLane } from "./laneAction.js";
import { describeLaneJobs } from "./laneJobs.js";
import { awaken, freeOf, lanesOf, leftOfAll, sleepingLane, widthOf } from "./lanes.js";
import { findQueue, type Queue } from "./queues.js";
import { oldestIn } from "./oldest.js";
import { callOffSurplus } from "./surplus.js";
import { ensureJanitor, isStillborn, reviveJanitor } from "./timers.js";
import { findGate, quieten, setGate, scheduleWake, type Gate } from "./wakes.js";

export const wake = internalMutation({
  args: {
    queue: v.string(),
    /** Why it was scheduled; absent where capacity came free, or somebody stopped looking. */
    job: v.optional(v.id("jobs")),
    dueAt: v.optional(v.number()),
    /** What became claimable by this commit is to be found now. */
    upTo: v.optional(v.int64()),
    /** It sees to another: what has come before it is left to workers outside for so long. */
    againAfterMs: v.optional(v.number()),
  },
  returns: v.null(),
  handler: async (ctx, args): Promise<null> => {
    const [queue, gate] = await Promise.all([
      findQueue(ctx.db, args.queue),
      findGate(ctx.db, args.queue),
    ]);
    if (queue === null || queue.isPaused || !queue.config.push) return null;
    const { job, dueAt = Infinity, againAfterMs } = args;
    // A lane looks again, or whoever frees capacity; and shuts the door and schedules another wake before it stops.
    if (gate?.state === "guarded" || (gate?.state === "full" && job !== undefined)) {
      await callOffSurplus(ctx, queue.name, dueAt);
      return null;
    }
    if (againAfterMs !== undefined) await scheduleWake(ctx, queue, snapshotOf(ctx), againAfterMs);
    await wakeOne(ctx, queue, gate, args, Date.now());
    return null;
  },
});

async function wakeOne(
  ctx: MutationCtx,
  queue: Queue,
  gate: Gate | null,
  { job, upTo }: { job?: Id<"jobs">; upTo?: bigint },
  now: number,
): Promise<void> {
  const [row, lanes, left] = await Promise.all([
    job === undefined ? null : ctx.db.get("jobs", job),
    lanesOf(ctx.db, queue.name),
    leftOfAll(ctx),
  ]);
  const own = row !== null && isClaimable(row) ? row : null;
  // Nobody has begun it: it was canceled, say. When it came, and so what came with it, nobody knows any more.
  const isLost = job !== undefined && own === null && (row === null || row.attempt === 0);
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
  const lane = await sleepingLane(ctx, queue, lanes, now);
  const holder = (await ctx.db.get("holders", lane.holder))!;
  const n = holder.n + 1;
  const look: LaneLook = {
    everywhere: true,
    due: asked,
    // What became claimable after its own job has wakes of its own: they would only meet.
    ...(own === null ? {} : { first: own, upTo: asked }),
  };
  const open = new Map([[queue.name, queue]]);
  const taken = await takeFrom(ctx, holder, n, open, { max: room }, now, { lane: look });
  const mayBeMore = taken.leases.length === room;
  // What an older snapshot does not show may be there all the same, and what stood behind others who have gone since.
  const isSure = mayBeMore || (taken.snapshot ?? 0n) >= asked;
  if (!isSure) await scheduleWake(ctx, queue, asked, WAKE_AGAIN_MS);
  if (taken.leases.length === 0) {
    if (!isSure) return;
    // Capacity is free, so it may no longer be said that whoever frees some looks.
    if (gate?.state === "full") await quieten(ctx, gate, queue);
    return;
  }
  const others = lanes.some(({ state }) => state === "awake");
  // The last slot there is: whoever comes later cannot be given a lane.
  const isLast = left.lanes === 1;
  const isReliedOn = gate !== null && gate.state !== "quiet";
  const guards = !mayBeMore && (others || isLast || isReliedOn);
  const start: LaneStart = {
    ...{ lane: lane._id, generation: lane.generation + 1, n },
    jobs: await describeLaneJobs(ctx.db, queue, taken.jobs),
    ...(guards ? { lookAfterMs: LANE_LOOK_MS } : {}),
  };
  const scheduledId = await startLane(ctx, queue, start);
  // Under a canceled function it would never run: the jobs stay where they were, for a wake that is not.
  if (await isStillborn(ctx, scheduledId))
    throw new Error("A wake was run by a canceled function.");
  const cap = guards ? room : taken.leases.length;
  await awaken(ctx, lane, {
    ...{ cap, under: queue.config.maxParallelism, scheduledId, startedAt: now },
  });
  const closed = await beginLane(ctx, holder, n, taken, now);
  await ensureJanitor(ctx, closed.expiresAt, now, taken.timer);
  if (guards) await setGate(ctx, gate, queue.name, { state: "guarded", guard: lane._id });
  if (mayBeMore) await scheduleWake(ctx, queue, asked);
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
  taken: Awaited<ReturnType<typeof takeFrom>>,
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

/**
 * Wake: looks at what is claimable in a queue that Convex itself works off, and starts a lane with it.
 *
 * It takes up to a lane's width of jobs for one lane, writes its row and schedules it with the jobs as arguments, so that
 * an isolated job costs a wake, a lane, its handler and a completion. If it took as many as it may, there may be more, and
 * it sees to another wake.
 *
 * Reads for real: the queue's row, its gate, all its lanes, those of all queues that are awake; each job before it is
 * taken, the lane's holder, a timer of the janitor's. Looks: as a claim. Writes: the jobs taken, a lane, its holder, the
 * gate; schedules the lane. Conflicts with: another wake of the queue, a lane of the queue that changes its cap, a claim
 * of the same job. Callers never meet it.
 */
import { v } from "convex/values";
import { LANE_RETURN_MS, msOfCommit, type LaneStart } from "../shared/index.js";
import { internal } from "./_generated/api.js";
import { internalMutation, internalQuery, type MutationCtx } from "./_generated/server.js";
import { takeFrom } from "./claim.js";
import { boundOf, pendingFrom, publicBounds } from "./cursors.js";
import { closeCall, type Holder } from "./holders.js";
import { startLane } from "./laneAction.js";
import { describeLaneJobs } from "./laneJobs.js";
import { awaken, freeOf, lanesOf, leftOfAll, sleepingLane, widthOf } from "./lanes.js";
import { findQueue, type Queue } from "./queues.js";
import { placesOf } from "./routes.js";
import { ensureJanitor, isStillborn } from "./timers.js";
import { findGate, setGate, wakeSoon } from "./wakes.js";

export const wake = internalMutation({
  args: { queue: v.string() },
  returns: v.null(),
  handler: async (ctx, args): Promise<null> => {
    const queue = await findQueue(ctx.db, args.queue);
    if (queue === null || queue.isPaused || !queue.config.push) return null;
    await wakeOne(ctx, queue, Date.now());
    return null;
  },
});

async function wakeOne(ctx: MutationCtx, queue: Queue, now: number): Promise<void> {
  const gate = await findGate(ctx.db, queue.name);
  if (gate?.state === "guarded") return;
  const lanes = await lanesOf(ctx.db, queue.name);
  const left = await leftOfAll(ctx);
  const free = freeOf(queue, lanes);
  const room = widthOf(Math.min(free, left.runs));
  if (room <= 0 || left.lanes <= 0) {
    // Nobody can be started. A queue that waits for nothing but its own lanes is looked at by them.
    if (queue.config.maxParallelism === 0 || !(await isWaiting(ctx, queue, now))) return;
    await setGate(ctx, gate, queue.name, { state: "full", ...(free > 0 && { needsSlot: true }) });
    return;
  }
  const lane = await sleepingLane(ctx, queue, lanes, now);
  const holder = (await ctx.db.get("holders", lane.holder))!;
  const n = holder.n + 1;
  const taken = await takeFrom(ctx, holder, n, new Map([[queue.name, queue]]), { max: room }, now);
  if (taken.leases.length === 0) {
    await comeBack(ctx, queue, now);
    return;
  }
  const mayBeMore = taken.leases.length === room;
  const others = lanes.some(({ state }) => state === "awake");
  const isBackSoon = lane.leftAt !== undefined && now - lane.leftAt < LANE_RETURN_MS;
  // The last slot there is: whoever comes later cannot be given a lane.
  const isLast = left.lanes === 1;
  const guards = !mayBeMore && (others || isBackSoon || isLast);
  const start: LaneStart = {
    ...{ lane: lane._id, generation: lane.generation + 1, n },
    jobs: await describeLaneJobs(ctx.db, queue, taken.jobs),
  };
  const scheduledId = await startLane(ctx, queue, start);
  // Under a canceled function it would never run: the jobs stay where they were, for a wake that is not.
  if (await isStillborn(ctx, scheduledId))
    throw new Error("A wake was run by a canceled function.");
  const cap = guards ? room : taken.leases.length;
  await awaken(ctx, lane, { cap, scheduledId, startedAt: now });
  const closed = await beginLane(ctx, holder, n, taken, now);
  await ensureJanitor(ctx, closed.expiresAt, now, taken.timer);
  await setGate(ctx, gate, queue.name, {
    ...(guards ? { state: "guarded" as const, guard: lane._id } : { state: "quiet" as const }),
  });
  if (mayBeMore) await wakeSoon(ctx, queue);
}

async function beginLane(
  ctx: MutationCtx,
  holder: Holder,
  n: number,
  taken: Awaited<ReturnType<typeof takeFrom>>,
  now: number,
): Promise<Holder> {
  const { leases: claimed, cursor } = taken;
  const call = { n, claimed, answers: [], cursor, isAwake: true };
  return await closeCall(ctx.db, holder, call, now);
}

/** In a queue whose jobs are left to others first: the oldest that waits is looked at when its time is up. */
async function comeBack(ctx: MutationCtx, queue: Queue, now: number): Promise<void> {
  const { fallbackAfterMs } = queue.config;
  if (fallbackAfterMs === 0) return;
  const oldest: number | null = await oldestOf(ctx, queue);
  if (oldest === null) return;
  await ctx.scheduler.runAt(Math.max(now, oldest + fallbackAfterMs), internal.wake.wake, {
    queue: queue.name,
  });
}

async function isWaiting(ctx: MutationCtx, queue: Queue, now: number): Promise<boolean> {
  const oldest = await oldestOf(ctx, queue);
  return oldest !== null && oldest + queue.config.fallbackAfterMs <= now;
}

async function oldestOf(ctx: MutationCtx, queue: Queue): Promise<number | null> {
  const args = { queue: queue.name };
  return await ctx.runQuery(internal.wake.oldest, args, { useStaleSnapshot: true });
}

/** When the job that has been claimable longest became so; `null` if none is. To be called with `useStaleSnapshot`. */
export const oldest = internalQuery({
  args: { queue: v.string() },
  returns: v.union(v.number(), v.null()),
  handler: async (ctx, args): Promise<number | null> => {
    const queue = await findQueue(ctx.db, args.queue);
    if (queue === null) return null;
    const bounds = [await publicBounds(ctx.db, queue.name)];
    let first: number | null = null;
    for (const { order, shard } of (await placesOf(ctx.db, queue)).slice(0, PLACES_READ)) {
      const from = boundOf(bounds, queue.epoch, order, shard);
      const [job] = await pendingFrom(ctx.db, { queue: queue.name, order, shard }, from, 1);
      if (job === undefined) continue;
      const at = msOfCommit(job.seq as bigint);
      if (first === null || at < first) first = at;
    }
    return first;
  },
});

/** Of more places than these the others are not looked at: what waits there is found by lanes. */
const PLACES_READ = 1_024;

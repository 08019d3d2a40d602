/**
 * Wake: looks at what is claimable in a queue that Convex itself works off, and starts a lane with it.
 *
 * It takes up to a lane's width of jobs for one lane, writes its row and schedules it with the jobs as arguments, so that
 * an isolated job costs a wake, a lane, its handler and a completion. If it took as many as it may, there may be more, and
 * it sees to another wake. A wake that was scheduled for a job takes that one first, and others only if they came no later,
 * so that two wakes seldom want the same.
 *
 * Nobody's job hangs on how fresh a snapshot is: its own job it reads by id, and one that finds nothing in a snapshot older
 * than its own comes again.
 *
 * Reads for real: the queue's row and its gate; then, unless somebody is relied on, all its lanes, those of all queues that
 * are awake, each job before it is taken, the lane's holder, a timer of the janitor's. Looks: as a claim, everywhere.
 * Writes: the jobs taken, a lane, its holder, the gate, and the door where that changes; schedules the lane. Conflicts with:
 * another wake of the queue, a lane of the queue that changes its cap, a claim of the same job. Callers never meet it.
 */
import { v } from "convex/values";
import { LANE_LOOK_MS, WAKE_AGAIN_MS, type LaneStart } from "../shared/index.js";
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
import { findGate, quieten, setGate, wakeNow, type Gate } from "./wakes.js";

export const wake = internalMutation({
  args: {
    queue: v.string(),
    /** Why it was scheduled; absent where capacity came free, or somebody stopped looking. */
    job: v.optional(v.id("jobs")),
    dueAt: v.optional(v.number()),
  },
  returns: v.null(),
  handler: async (ctx, args): Promise<null> => {
    const [queue, gate] = await Promise.all([
      findQueue(ctx.db, args.queue),
      findGate(ctx.db, args.queue),
    ]);
    if (queue === null || queue.isPaused || !queue.config.push) return null;
    const { job, dueAt = Infinity } = args;
    // A lane looks again, or whoever frees capacity; and shuts the door and schedules another wake before it stops.
    if (gate?.state === "guarded" || (gate?.state === "full" && job !== undefined)) {
      await callOffSurplus(ctx, queue.name, dueAt);
      return null;
    }
    await wakeOne(ctx, queue, gate, job, Date.now());
    return null;
  },
});

async function wakeOne(
  ctx: MutationCtx,
  queue: Queue,
  gate: Gate | null,
  job: Id<"jobs"> | undefined,
  now: number,
): Promise<void> {
  const [row, lanes, left] = await Promise.all([
    job === undefined ? null : ctx.db.get("jobs", job),
    lanesOf(ctx.db, queue.name),
    leftOfAll(ctx),
  ]);
  const own = row !== null && isClaimable(row) ? row : null;
  const free = freeOf(queue, lanes);
  const room = widthOf(queue, Math.min(free, left.runs));
  if (room <= 0 || left.lanes <= 0) {
    if (queue.config.maxParallelism === 0 || gate?.state === "leaving") return;
    // Nobody can be started. A queue that waits for nothing but its own lanes is looked at by them.
    const isNeeded = gate?.state === "full" || own !== null || (await isWaiting(ctx, queue, now));
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
    // What became claimable after its own job has wakes of its own: they would only meet.
    ...(own === null ? {} : { first: own, upTo: own.seq as bigint }),
  };
  const open = new Map([[queue.name, queue]]);
  const taken = await takeFrom(ctx, holder, n, open, { max: room }, now, { lane: look });
  if (taken.leases.length === 0) {
    // What an older snapshot does not show may be there all the same.
    const isSure = (taken.snapshot ?? 0n) >= snapshotOf(ctx);
    if (!isSure) await wakeAgain(ctx, queue);
    // Capacity is free, so it may no longer be said that whoever frees some looks.
    else if (gate?.state === "full") await quieten(ctx, gate, queue);
    return;
  }
  const mayBeMore = taken.leases.length === room;
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
  if (mayBeMore) await wakeNow(ctx, queue);
}

function snapshotOf(ctx: MutationCtx): bigint {
  return ctx.meta.getSnapshotTs();
}

async function wakeAgain(ctx: MutationCtx, { name }: Queue): Promise<void> {
  await ctx.scheduler.runAfter(WAKE_AGAIN_MS, internal.wake.wake, { queue: name });
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
async function isWaiting(ctx: MutationCtx, queue: Queue, now: number): Promise<boolean> {
  const args = { queue: queue.name };
  const { at, snapshot }: Oldest = await ctx.runQuery(internal.wake.oldest, args, {
    useStaleSnapshot: true,
  });
  if (at === null) return snapshot < snapshotOf(ctx);
  return at + queue.config.fallbackAfterMs <= now;
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

/**
 * Wake: searches for claimable jobs in a pushed queue, and begins a lane with them.
 *
 * It takes up to a lane's width of jobs for one lane, writes its row, and has the main loop decide where the lane runs:
 * in a process of its own, which is scheduled with the jobs as arguments, or without any where they are large; in one
 * that runs already; or nowhere for now. If it took as many as it may, there may be more, and it schedules another
 * wake. A wake that was scheduled for a job takes that one first, and other jobs only if they came no later, so that
 * two wakes seldom want the same.
 *
 * If nothing came with it, the wake is not late, and the gate is quiet, or leaving after a guard that found no job, it
 * takes that one alone, without a search, and begins a lane with it that has kept room for one job: a start is sooner,
 * reads half, and conflicts with no other of its kind. With more than a few lanes awake that one begins to poll for all.
 * So an isolated job costs a wake, a process, its handler and a completion; where its handler is a mutation, a wake and
 * that mutation (`laneOnce.ts`).
 *
 * No job hangs on how fresh a snapshot is: its own job it reads by id, and a wake with a snapshot older than the commit
 * that scheduled it comes again. Nor on a clock: jobs that came with its own job are as old as that, and no longer left
 * to workers. Where its own job is gone and other jobs wait, another wake comes when all present jobs have been left to
 * workers for their time.
 *
 * Reads for real: the queue's row and its gate; then, unless the gate is guarded, the slot or the process that its
 * lane is to have; for a lane that may take more than its own job all of the queue's lanes, and where these leave no
 * room the sessions of lanes that may sleep; each job before it is taken, the lane's session, a timer of the
 * janitor's, and all of these where its job came alone; where it may start a process with more than one job, all rows
 * of `grants`. Never the lanes of other queues. Snapshot reads: the queue's lanes and the mount's slots; as a claim,
 * in all shards. Writes: the jobs taken, a lane, its session, a process with its row of `grants` or a hand-over, the
 * gate, and the door where that changes; where no lane can begin, `waitingQueues`; where `maxParallelism` was
 * lowered, the caps of lanes that sleep. Conflicts with: another wake of the queue, or one that takes the same slot;
 * a lane of the queue that changes its cap; a claim, a cancel or another move of the same job; a change of the
 * queue's row; a sweep with its timer, and where its job came alone each insert of such a timer. At `grants`, wakes
 * of all queues that start with more than one job, and transactions that give places or take them back. Where no lane
 * can begin, the transaction that wakes the queues that wait. The enqueue of a plain job conflicts with it only at
 * the door.
 */
import { v } from "convex/values";
import { commitTimeOf, HANDLERS_PER_STEP, msOfCommit } from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import { internalMutation, internalQuery, type MutationCtx } from "../_generated/server.js";
import type { Doc } from "../_generated/dataModel.js";
import { rulesOf } from "../rows/jobRules.js";
import { isOnce } from "./laneOnce.js";
import {
  asleepSince,
  freeOf,
  ifAsleep,
  lanesOf,
  makeRoom,
  newLane,
  sleepingLane,
  spareLane,
  widthOf,
  withCaps,
  type Lane,
  type Sleeper,
  type Standing,
} from "./lanes.js";
import { placesFor } from "./grants.js";
import { isClaimable } from "../edges/mayTake.js";
import { chooseTarget, waitFor, type Target } from "./mainLoop.js";
import { mountLimits } from "./mount.js";
import { isMutation, timeoutOf } from "../edges/processTime.js";
import { findQueue, type Queue } from "../rows/queues.js";
import { oldestIn } from "../count/oldest.js";
import { callOffSurplus, CROWD_MS, LATE_MS } from "./surplus.js";
import { findTimers, reviveJanitor } from "../loops/timers.js";
import { findGate, hasCome, isQuiet, setGate, scheduleWake, type Gate } from "../edges/wakes.js";
import { others, takeAndBegin, type Beginning, type Waking } from "./beginLane.js";

export const wake = internalMutation({
  args: {
    queue: v.string(),
    /** Why it was scheduled; absent where capacity came free, or a lane stopped polling. */
    job: v.optional(v.id("jobs")),
    /** Nothing else came by that call. */
    isAlone: v.optional(v.boolean()),
    /** No worker outside may take that job, and other jobs of the queue are left to such workers. */
    isApart: v.optional(v.boolean()),
    dueAt: v.optional(v.number()),
    /** Jobs that became claimable by this commit are to be found now. */
    upTo: v.optional(v.int64()),
    /** It schedules another: jobs that came before it are left to workers outside for so long. */
    againAfterMs: v.optional(v.number()),
  },
  returns: v.null(),
  handler: async (ctx, args): Promise<null> => {
    const { job, isApart, dueAt = Infinity, upTo, againAfterMs } = args;
    const now = Date.now();
    // By the clock of a call that may have gone on for long before its commit.
    const seemsLate = now - dueAt >= LATE_MS;
    const [queue, gate, row, standing] = await Promise.all([
      findQueue(ctx.db, args.queue),
      findGate(ctx.db, args.queue),
      job === undefined ? null : ctx.db.get("jobs", job),
      args.isAlone === true && !seemsLate ? lookAt(ctx, args.queue) : null,
    ]);
    if (queue === null || queue.isPaused || !queue.config.push) return null;
    // A late wake is one of many, and a very late one takes all that it has room for: each would start a lane for its own job.
    const since = row === null ? dueAt : Math.max(dueAt, msOfCommit(row.seq as bigint));
    const isOneOfMany = now - since >= LATE_MS;
    const isAlone = args.isAlone === true && now - since < CROWD_MS;
    // A lane polls, or the lane that frees capacity does; and shuts the door and schedules another wake before it
    // stops.
    if (gate?.state === "guarded" || (gate?.state === "full" && job !== undefined)) {
      if (isOneOfMany && row?.status === "pending")
        await callOffSurplus(ctx, row, now - queue.config.fallbackAfterMs);
      return null;
    }
    if (againAfterMs !== undefined)
      await scheduleWake(ctx, queue, ctx.meta.getSnapshotTs(), againAfterMs);
    const asked = job === undefined ? { upTo } : { row, isAlone, isApart };
    const seen = standing ?? (await lookAt(ctx, queue.name));
    await wakeOne(ctx, { queue, gate, seen, now }, asked);
    return null;
  },
});

async function lookAt(ctx: MutationCtx, queue: string): Promise<Standing> {
  const { class: of } = await ctx.meta.getDeploymentMetadata();
  return await ctx.runQuery(
    internal.push.lanes.readLanes,
    { queue, class: of },
    { useStaleSnapshot: true },
  );
}

/** The purpose of a wake: a job, gone or not, that came by itself or not; or jobs that became claimable by a commit. */
interface Asked {
  row?: Doc<"jobs"> | null;
  isAlone?: boolean;
  isApart?: boolean | undefined;
  upTo?: bigint | undefined;
}

async function wakeOne(ctx: MutationCtx, waking: Waking, asked: Asked): Promise<void> {
  const { queue, gate, now } = waking;
  const { row, upTo } = asked;
  const own = row !== undefined && row !== null && isClaimable(row) ? row : null;
  const { fallbackAfterMs } = queue.config;
  // A worker has it, or it was canceled. Its commit is not known any more, and may be younger than the clock of its enqueue says.
  const isGone = row !== undefined && own === null;
  if (isGone && fallbackAfterMs > 0 && (await isWaiting(ctx, queue, ctx.meta.getSnapshotTs())))
    await scheduleWake(ctx, queue, ctx.meta.getSnapshotTs(), fallbackAfterMs);
  // Up to where it has to have seen everything, and nothing is left to workers any more.
  const ownDue = asked.isApart === true ? undefined : (own?.seq as bigint | undefined);
  const due = ownDue ?? upTo ?? waitedSince(ctx, queue, now);
  // Other waiting jobs have wakes of their own.
  const isLeft = isQuiet(gate) || (gate?.state === "leaving" && gate.isVain === true);
  const isAlone = own !== null && asked.isAlone === true && isLeft;
  const alone = isAlone ? await beginAlone(ctx, waking, own, due) : NOT_ALONE;
  if (alone !== "begun") await beginWithAll(ctx, waking, { own, due, ...alone });
}

/** The result of a wake that could not begin a lane with its own job alone, or did not try. */
interface Alone {
  takesOnlyItsJob: boolean;
  /** `null`: its own job is not to be asked for again. */
  own?: Doc<"jobs"> | null;
  timers?: readonly Doc<"timers">[];
  target?: Target | null;
}
const NOT_ALONE: Alone = { takesOnlyItsJob: false };

/** Begins a lane that has kept room for one job with this one, if there is such a lane, and nothing came with the job. */
async function beginAlone(
  ctx: MutationCtx,
  { queue, gate, seen, now }: Waking,
  own: Doc<"jobs">,
  due: bigint,
): Promise<Alone | "begun"> {
  const rules = await rulesOf(ctx.db, queue, own);
  const runsOnce = isOnce(rules.handler, own.resets ?? 0) && !seen.otherLanesAwake;
  const [hasOthers, spare, timers, target] = await Promise.all([
    hasCome(ctx.db, queue.name, own, 1),
    spareLane(ctx.db, queue, seen),
    // As a rule such a wake makes no search, so that no snapshot shows it a timer on which it could depend.
    findTimers(ctx.db),
    runsOnce ? null : targetFor(ctx, queue, seen, timeoutOf(queue, rules.timeoutMs), now),
  ]);
  if (hasOthers) return NOT_ALONE;
  if (spare === null || target?.kind === "wait") return { takesOnlyItsJob: true, timers, target };
  const begun = await takeAndBegin(ctx, { queue, gate, seen, now }, spare, target, {
    ...{
      room: 1,
      own,
      due,
      takesOnlyItsJob: true,
      timers,
      guardsIf: seen.otherLanesAwake && pays(gate),
    },
  });
  // It was not to be had, or its time is over: either way no other lane tries it.
  return begun === "none" ? { ...NOT_ALONE, own: null } : "begun";
}

/**
 * Begins a lane with as many as there are, and it has room for; or with its own job alone. Where the snapshot shows no
 * room, it reads for real whether lanes have gone to sleep since: jobs that it leaves to lanes are left to awake ones.
 */
async function beginWithAll(
  ctx: MutationCtx,
  waking: Waking,
  alone: Alone & Pick<Beginning, "own" | "due">,
): Promise<void> {
  const lanes = await lanesOf(ctx.db, waking.queue.name);
  const begin = async (asleep: Sleeper[]) =>
    await beginAmong(ctx, { ...waking, seen: { ...waking.seen, asleep } }, alone, lanes);
  const asleep = withCaps(waking.seen.asleep, lanes);
  const first = await begin(asleep);
  if (first === "begun") return;
  const { own, due } = alone;
  if (first.hasRoom) return await leaveToOthers(ctx, waking, { own, due, free: first.free });
  const since = await asleepSince(ctx.db, lanes, asleep);
  const then = since.length === 0 ? first : await begin([...since, ...asleep]);
  if (then === "begun") return;
  await leaveToOthers(ctx, waking, { own, due, free: then.free });
  // `maxParallelism` was lowered below the room that sleeping lanes keep: these keep none, and another wake sees others.
  const room = freeOf(waking.queue, lanes);
  if (room >= 0) return;
  const left = await makeRoom(ctx, waking.queue, lanes, 1, [...since, ...asleep]);
  if (left > room) await scheduleWake(ctx, waking.queue);
}

/**
 * Whether a lane with a job that came alone is to poll for more jobs. Not where the last guard found none: jobs of a
 * minute that come one per second cost four polls and a wake each. Now and then it is tried.
 */
function pays(gate: Gate | null): boolean {
  return gate?.isVain !== true || Math.random() < TRIED_PART;
}
const TRIED_PART = 1 / 8;

/** It could not begin a lane: for want of room, or, with room, of a process or its places. */
interface NotBegun {
  free: number;
  hasRoom: boolean;
}

async function beginAmong(
  ctx: MutationCtx,
  waking: Waking,
  alone: Alone & Pick<Beginning, "own" | "due">,
  lanes: readonly Lane[],
): Promise<"begun" | NotBegun> {
  const { queue, gate, seen, now } = waking;
  const { own, due, takesOnlyItsJob, timers, target: chosen } = alone;
  const { asleep, count } = seen;
  const free = freeOf(queue, lanes) + asleep.reduce((sum, { cap }) => sum + cap, 0);
  const wide = takesOnlyItsJob ? Math.min(1, free) : widthOf(queue, free);
  const awake = lanes.length - asleep.length;
  if (wide <= 0 || isTooFew(queue, wide, lanes)) return { free: 0, hasRoom: false };
  const target =
    chosen === undefined ? await targetFor(ctx, queue, seen, timeoutOf(queue), now) : chosen;
  if (target?.kind === "wait") return { free, hasRoom: true };
  const sleeper = await sleepingLane(ctx.db, asleep);
  const caps = freeOf(queue, []) - free;
  const wanted = await roomFor(ctx, queue, seen, target, { wide, isFew: caps < 2 });
  // The place that a slot has of its own is for a queue that runs less: this one has lanes which take freed places.
  if (wanted < wide && wanted <= 1 && awake > 0) return { free, hasRoom: true };
  const beside = sleeper === null ? lanes : others(lanes, sleeper.lane);
  const spares = await confirmed(ctx, queue, seen, beside, wanted);
  const room = Math.min(wanted, freeOf(queue, beside) + spares.length);
  if (room <= 0) return { free, hasRoom: false };
  const lane = sleeper ?? (await newLane(ctx, queue, count, now));
  const begun = await takeAndBegin(ctx, waking, lane, target, {
    ...{ room, own, due, takesOnlyItsJob, timers, lanes: beside, spares },
    guardsIf: takesOnlyItsJob ? seen.otherLanesAwake && pays(gate) : awake > 0 || !isQuiet(gate),
  });
  if (begun !== "tooLong") return "begun";
  // Jobs that may run for longer than this process has left: another will do, if a slot may be taken for such jobs.
  const longest = timeoutOf(queue, Infinity);
  const another =
    chosen === undefined ? await targetFor(ctx, queue, seen, longest, now) : undefined;
  if (another?.kind !== "start") return { free, hasRoom: true };
  return await beginAmong(ctx, waking, { ...alone, target: another }, lanes);
}

/**
 * Mutations run in the calls of lanes, one after another: beside a lane that is awake, as one with room for two or more
 * is, one of a few would only conflict with it at the same jobs (of 1,000 that do nothing 240 per second instead of
 * 340).
 */
function isTooFew(queue: Queue, wide: number, lanes: readonly Lane[]): boolean {
  return isMutation(queue) && wide < HANDLERS_PER_STEP / 2 && lanes.some(({ cap }) => cap > 1);
}

/** Lanes that sleep for sure and have room for one job, as many as are needed beside the free room. */
async function confirmed(
  ctx: MutationCtx,
  queue: Queue,
  { asleep }: Standing,
  beside: readonly Lane[],
  wanted: number,
): Promise<Sleeper[]> {
  const needed = wanted - freeOf(queue, beside);
  const spares: Sleeper[] = [];
  for (const seen of asleep) {
    if (spares.length >= needed) break;
    const isBeside = beside.some(({ _id, cap }) => _id === seen.lane && cap === 1);
    if (isBeside && (await ifAsleep(ctx.db, seen)) !== null) spares.push(seen);
  }
  return spares;
}

async function targetFor(
  ctx: MutationCtx,
  queue: Queue,
  { mount }: Standing,
  timeoutMs: number,
  now: number,
): Promise<Target> {
  const target = await chooseTarget(ctx, queue, mount, timeoutMs, now);
  return target.kind === "handOver" && mount.left.few === 0 && !isMutation(queue)
    ? { kind: "wait" }
    : target;
}

/**
 * How many jobs a lane may begin with. Handlers that are mutations take no place. A process that is started has its
 * places from the first; one to which the lane is handed asks for them, for all such lanes at once: wakes that did
 * would conflict with each other.
 */
async function roomFor(
  ctx: MutationCtx,
  queue: Queue,
  { mount: { left } }: Standing,
  target: Target | null,
  { wide, isFew }: { wide: number; isFew: boolean },
): Promise<number> {
  if (isMutation(queue)) return wide;
  const few = isFew && wide <= 2;
  if (target?.kind === "handOver") return Math.min(wide, Math.max(1, few ? left.few : left.any));
  return await placesFor(ctx, await mountLimits(ctx, queue), wide, few);
}

/** No lane can begin. A queue that waits for nothing but its own lanes is polled by them. */
async function leaveToOthers(
  ctx: MutationCtx,
  { queue, gate, now }: Waking,
  { own, due, free }: { own: Doc<"jobs"> | null; due: bigint; free: number },
): Promise<void> {
  if (queue.config.maxParallelism === 0 || gate?.state === "leaving") return;
  const isNeeded = gate?.state === "full" || own !== null || (await isWaiting(ctx, queue, due));
  if (!isNeeded) return;
  // From now on it is left to lanes: none may be relied on that died while no sweep comes.
  if (gate?.state !== "full") await reviveJanitor(ctx, Infinity, now);
  await setGate(ctx, gate, queue.name, { state: "full" });
  if (free > 0) await waitFor(ctx, queue.name, freeOf(queue, []) - free >= 2);
}

/** The commit by which a job must have become claimable to be a lane's now. */
function waitedSince(ctx: MutationCtx, { config }: Queue, now: number): bigint {
  const { fallbackAfterMs } = config;
  return fallbackAfterMs === 0 ? ctx.meta.getSnapshotTs() : commitTimeOf(now - fallbackAfterMs);
}

/** Whether anything may wait for a lane: also where the snapshot is too old to say. */
async function isWaiting(ctx: MutationCtx, queue: Queue, asked: bigint): Promise<boolean> {
  const args = { queue: queue.name };
  const { at, snapshot }: Oldest = await ctx.runQuery(internal.push.wake.oldestWaiting, args, {
    useStaleSnapshot: true,
  });
  return at === null ? snapshot < asked : at <= msOfCommit(asked);
}

/** When the job that has been claimable longest became so. To be called with `useStaleSnapshot`. */
export const oldestWaiting = internalQuery({
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

/**
 * Ensures that new claimable jobs are found, in pushed queues. Everything that makes a job claimable comes by {@link
 * needsWake}; a lane that stops polling, by {@link quieten}.
 *
 * A caller neither writes nor depends on anything that changes at the rate of jobs: it reads the queue's gate in a
 * snapshot, and if that shows no polling lane, or not for long, schedules a wake, blindly. Only where a lane polls does
 * it depend on a row: the door, which is shut a moment after the gate has begun to send newcomers away. It must: an old
 * answer would leave the job to a lane that has gone.
 *
 * Snapshot reads: the gate; where jobs are left to workers outside, whether any is there. Reads for real: the door
 * where a lane polls; rows of its own transaction. Writes: schedules; a lane that begins or stops polling, the gate and
 * the door (`gates`, `doors`). Conflicts with: a lane that opens or shuts the door, a few times per minute.
 */
import { v } from "convex/values";
import { ORDER_PAUSED } from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Doc } from "../_generated/dataModel.js";
import { internalQuery, type DatabaseReader, type MutationCtx } from "../_generated/server.js";
import { mayRunInside } from "./mayTake.js";
import { nameWake } from "./transitions.js";
import { lookOffers, mayGoOutside } from "../index/outsideWorkers.js";
import type { Offer } from "../rows/conditions.js";
import type { EdgeCtx, QueueWakes, Wake } from "../rows/effects.js";
import { wakesOf, type Queue } from "../rows/queues.js";

export type Gate = Doc<"gates">;

/** The queue's gate, or `null` where no lane has ever polled: as if it were quiet. */
export async function findGate(db: DatabaseReader, queue: string): Promise<Gate | null> {
  return await db
    .query("gates")
    .withIndex("queue", (q) => q.eq("queue", queue))
    .unique();
}

/** Whether no lane is relied on: a transaction that makes a job claimable ensures a wake. */
export function isQuiet(gate: Gate | null): boolean {
  return gate === null || gate.state === "quiet";
}

async function findDoor(db: DatabaseReader, queue: string): Promise<Doc<"doors"> | null> {
  return await db
    .query("doors")
    .withIndex("queue", (q) => q.eq("queue", queue))
    .unique();
}

/** Whether the gate sends newcomers to the door. To be called with `useStaleSnapshot`. */
export const isGuarded = internalQuery({
  args: { queue: v.string() },
  returns: v.boolean(),
  handler: async (ctx, { queue }): Promise<boolean> => {
    const state = (await findGate(ctx.db, queue))?.state;
    return state === "guarded" || state === "full";
  },
});

/**
 * The wake that a job needs which is about to become claimable in this place; `null` for none. To be asked before it is written:
 * a thousand calls of `enqueue` in one mutation must not schedule as many.
 */
export async function needsWake(
  ctx: EdgeCtx,
  queue: Queue,
  job: Asked,
  place: { order: number; shard: number },
): Promise<Wake | null> {
  if (!queue.config.push || queue.isPaused || place.order === ORDER_PAUSED) return null;
  if (!mayRunInside(job)) return null;
  const wakes = wakesOf(ctx.effects, queue);
  wakes.claimable += 1;
  if (wakes.isSettled) return null;
  const here = { ...place, seq: ctx.db.vars.commitTs };
  if (queue.config.fallbackAfterMs > 0) return await sharedWake(ctx, wakes, job, here);
  wakes.isSettled = true;
  if (await hasCome(ctx.db, queue.name, here)) return null;
  return (await isLookedAfter(ctx, queue)) ? null : "now";
}

/** The same for a queue with jobs that are left to workers outside first: a transaction may need one of each kind. */
async function sharedWake(
  ctx: MutationCtx,
  wakes: QueueWakes,
  job: Asked,
  here: Pick<Doc<"jobs">, "order" | "shard" | "seq">,
): Promise<Wake | null> {
  const { queue, ofJobs } = wakes;
  if (wakes.offers === undefined && (await isLookedAfter(ctx, queue))) {
    wakes.isSettled = true;
    return null;
  }
  const offers = (wakes.offers ??= await lookOffers(ctx, queue.name));
  const wake = wakeOf(offers, job);
  if (ofJobs.some((one) => one.wake === wake)) return null;
  const relied = (wakes.relied ??= new Set());
  const place = `${wake} ${here.order} ${here.shard}`;
  if (relied.has(place)) return null;
  if (relied.size === RELIED_MAX) return wake;
  // On a wake of another call only jobs in its place rely: a claim that cancels it checks that place.
  const isSame = (other: Asked) => wakeOf(offers, other) === wake;
  if (!(await comes(ctx.db, queue.name, here, isSame, COME_SEEN))) return wake;
  relied.add(place);
  return null;
}

type Asked = Pick<Doc<"jobs">, "labels" | "cost" | "group" | "prefer">;

/** Jobs of this transaction in the same place among which one with the same wake is searched. */
const COME_SEEN = 16;
/** Places in which the jobs of a call rely on wakes of other calls: with more it has a wake of its own, which reads nothing. */
const RELIED_MAX = 16;

function wakeOf(offers: readonly Offer[], job: Asked): Wake {
  if (offers.length === 0) return "now";
  return mayGoOutside(offers, job) ? "later" : "apart";
}

/** Whether a lane polls the queue already, and will do so after this commit. */
async function isLookedAfter(ctx: MutationCtx, queue: Queue): Promise<boolean> {
  const args = { queue: queue.name };
  const isLookedAfter: boolean = await ctx.runQuery(internal.edges.wakes.isGuarded, args, {
    useStaleSnapshot: true,
  });
  return isLookedAfter && (await findDoor(ctx.db, queue.name))?.open === true;
}

/**
 * Whether a transaction has made another job claimable here, and so has ensured a wake: a job that is left to certain workers
 * first ensures none. Only that transaction wrote such rows, so the read conflicts only with their takers and movers.
 */
export async function hasCome(
  db: DatabaseReader,
  queue: string,
  { order, shard, seq }: Pick<Doc<"jobs">, "order" | "shard" | "seq">,
  beside = 0,
): Promise<boolean> {
  return await comes(db, queue, { order, shard, seq }, (_, come) => come > beside);
}

/** Whether one of the jobs in this place, the last first, is the one sought, up to so many. */
async function comes(
  db: DatabaseReader,
  queue: string,
  { order, shard, seq }: Pick<Doc<"jobs">, "order" | "shard" | "seq">,
  isSought: (job: Doc<"jobs">, come: number) => boolean,
  most = Infinity,
): Promise<boolean> {
  const here = db
    .query("jobs")
    .withIndex("status", (q) =>
      q
        .eq("queue", queue)
        .eq("status", "pending")
        .eq("order", order)
        .eq("shard", shard)
        .eq("seq", seq),
    )
    .order("desc");
  let come = 0;
  for await (const job of here) {
    if (!mayRunInside(job)) continue;
    come += 1;
    if (isSought(job, come)) return true;
    if (come === most) break;
  }
  return false;
}

/**
 * Schedules the wakes of a queue. The wake of a job, and of the jobs that this transaction makes claimable beside it, begins
 * after this commit: it reads that job for real, finds the rest, and comes again where its snapshot is older than this commit.
 *
 * `isAlone`: the call has made no other job claimable; another call of the transaction may have, in the same place. A new job
 * names its wake, of several jobs the first: a late wake cancels it. With `fallbackAfterMs` above 0 only a job that came
 * alone does, and a worker outside that claims the job cancels it too.
 */
export async function scheduleWakes(
  ctx: MutationCtx,
  { queue, isBlind, claimable, ofJobs }: QueueWakes,
): Promise<void> {
  if (isBlind) await wakeBlindly(ctx.scheduler, queue);
  for (const { job, wake, isNew } of ofJobs) {
    const dueAt = Date.now() + (wake === "later" ? queue.config.fallbackAfterMs : 0);
    const isAlone = isNew && claimable === 1;
    const alone = isAlone ? { isAlone } : {};
    const apart = wake === "apart" ? { isApart: true } : {};
    const args = { queue: queue.name, job, dueAt, ...alone, ...apart };
    const scheduled = await ctx.scheduler.runAt(dueAt, internal.push.wake.wake, args);
    if (isAlone || (isNew && queue.config.fallbackAfterMs === 0))
      await nameWake(ctx.db, job, scheduled);
  }
}

/**
 * A worker outside has taken a job that was left to it: its wake is called off, so that it costs no call. It stays where
 * another job of the same commit waits in the same place, and may rely on it.
 *
 * Reads for real: jobs of the same commit in the place, the wake. Writes: the wake's state. Conflicts with: the wake's start,
 * and claims of jobs of the same commit.
 */
export async function callOffWake(ctx: MutationCtx, job: Doc<"jobs">): Promise<void> {
  if (job.wake === undefined || (await hasCome(ctx.db, job.queue, job))) return;
  const scheduled = await ctx.db.system.get("_scheduled_functions", job.wake);
  // The other jobs of a call rely on the wake of the first.
  const isAlone = (scheduled?.args[0] as { isAlone?: boolean } | undefined)?.isAlone === true;
  if (isAlone && scheduled?.state.kind === "pending") await ctx.scheduler.cancel(job.wake);
}

/**
 * Capacity has come free, or will have in `afterMs`: a wake then searches for jobs. Jobs that became claimable by the
 * commit `upTo` are no longer left to workers outside.
 */
export async function scheduleWake(
  ctx: MutationCtx,
  { name }: Pick<Queue, "name">,
  upTo?: bigint,
  afterMs = 0,
): Promise<void> {
  const args = { queue: name, ...(upTo === undefined ? {} : { upTo }) };
  await ctx.scheduler.runAfter(afterMs, internal.push.wake.wake, args);
}

// --- The gate and the door ----------------------------------------------------------------------

/**
 * Writes which lane polls; from then on it may be relied on. Nothing is written where it says so already: every
 * transaction that has read it would retry.
 */
export async function setGate(
  ctx: MutationCtx,
  gate: Gate | null,
  queue: string,
  next: Pick<Gate, "state" | "guard" | "isVain">,
): Promise<void> {
  await setDoor(ctx, queue, next.state !== "quiet");
  if (gate === null) {
    if (next.state !== "quiet") await ctx.db.insert("gates", { queue, ...next });
    return;
  }
  const kept = ["state", "guard", "isVain"] as const;
  if (kept.every((field) => gate[field] === next[field])) return;
  await ctx.db.replace("gates", gate._id, { queue, ...next });
}

async function setDoor(ctx: MutationCtx, queue: string, open: boolean): Promise<void> {
  const door = await findDoor(ctx.db, queue);
  if (door === null) {
    if (open) await ctx.db.insert("doors", { queue, open });
  } else if (door.open !== open) await ctx.db.patch("doors", door._id, { open });
}

/**
 * Write, then read: from this commit on a transaction that makes a job claimable ensures a wake by itself, and the
 * wakes that are scheduled here see the earlier jobs.
 */
export async function quieten(ctx: MutationCtx, gate: Gate | null, queue: Queue): Promise<void> {
  const vain = gate?.isVain === true ? { isVain: true } : {};
  await setGate(ctx, gate, queue.name, { state: "quiet", ...vain });
  await wakeBlindly(ctx.scheduler, queue);
}

/**
 * A wake that begins after this commit, and so sees every earlier commit; it schedules another for the time when jobs
 * left to workers outside have waited for long enough. By that time only the wake knows for sure which jobs came
 * before.
 */
export async function wakeBlindly(
  scheduler: MutationCtx["scheduler"],
  { name, config }: Pick<Queue, "name" | "config">,
): Promise<void> {
  const { fallbackAfterMs } = config;
  const later = fallbackAfterMs > 0 ? { againAfterMs: fallbackAfterMs } : {};
  await scheduler.runAfter(0, internal.push.wake.wake, { queue: name, ...later });
}

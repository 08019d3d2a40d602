/**
 * Who sees to it that somebody looks, in queues that Convex itself works off. Everything that makes a job claimable comes
 * by {@link wakeFor}; everything that frees capacity by {@link wakeSoon}.
 *
 * A caller neither writes nor depends on anything that changes at the rate of jobs: it looks at the queue's gate in a
 * snapshot, and if that says that nobody looks, schedules a wake, blindly. Only "somebody does" is read for real: an old
 * one would leave the job to a lane that has gone.
 *
 * Looks: the gate. Reads for real: the gate where somebody looks; rows of its own transaction. Writes: schedules.
 * Conflicts with: a lane that guards the queue and goes, at most a few times a minute.
 */
import { v } from "convex/values";
import { internal } from "./_generated/api.js";
import type { Doc, Id } from "./_generated/dataModel.js";
import { internalQuery, type DatabaseReader, type MutationCtx } from "./_generated/server.js";
import type { Queue } from "./queues.js";

type Gate = Doc<"gates">;

/** The queue's gate, or `null` where nobody has ever looked: as if it were quiet. */
export async function findGate(db: DatabaseReader, queue: string): Promise<Gate | null> {
  return await db
    .query("gates")
    .withIndex("queue", (q) => q.eq("queue", queue))
    .unique();
}

/** To be called with `useStaleSnapshot`. */
export const isQuiet = internalQuery({
  args: { queue: v.string() },
  returns: v.boolean(),
  handler: async (ctx, { queue }): Promise<boolean> =>
    ((await findGate(ctx.db, queue))?.state ?? "quiet") === "quiet",
});

/** Makes sure that somebody will look at a job which is about to become claimable in this place. Before it is written. */
export async function wakeFor(
  ctx: MutationCtx,
  queue: Queue,
  place: { order: number; shard: number },
): Promise<void> {
  if (!queue.config.push || queue.isPaused || queue.isWoken) return;
  if (await hasJustCome(ctx.db, queue.name, place)) return;
  queue.isWoken = true;
  const args = { queue: queue.name };
  const quiet: boolean = await ctx.runQuery(internal.wakes.isQuiet, args, {
    useStaleSnapshot: true,
  });
  if (quiet || (await findGate(ctx.db, queue.name))?.state === "quiet") await wakeSoon(ctx, queue);
}

/**
 * Whether this transaction has made another job claimable here, and so has seen to a wake: a thousand calls of `enqueue`
 * in one mutation must not schedule as many. No committed row has this `seq`, so nobody is met.
 */
async function hasJustCome(
  db: MutationCtx["db"],
  queue: string,
  { order, shard }: { order: number; shard: number },
): Promise<boolean> {
  const [one] = await db
    .query("jobs")
    .withIndex("status", (q) =>
      q
        .eq("queue", queue)
        .eq("status", "pending")
        .eq("order", order)
        .eq("shard", shard)
        .eq("seq", db.vars.commitTs),
    )
    .take(1);
  return one !== undefined;
}

/** Schedules a wake: it begins after this commit, and so sees it. Jobs that are left to others first are looked at later. */
export async function wakeSoon(
  ctx: MutationCtx,
  queue: Pick<Queue, "name" | "config">,
): Promise<void> {
  const { fallbackAfterMs } = queue.config;
  await ctx.scheduler.runAfter(fallbackAfterMs, internal.wake.wake, { queue: queue.name });
}

// --- The gate -----------------------------------------------------------------------------------

/** Says who looks. Not written where it says so already: everybody who relies on it would run again. */
export async function setGate(
  ctx: MutationCtx,
  gate: Gate | null,
  queue: string,
  next: { state: Gate["state"]; guard?: Id<"lanes">; needsSlot?: boolean },
): Promise<void> {
  if (gate === null) {
    if (next.state !== "quiet") await ctx.db.insert("gates", { queue, ...next });
    return;
  }
  const { state, guard, needsSlot } = gate;
  if (state === next.state && guard === next.guard && needsSlot === next.needsSlot) return;
  await ctx.db.replace("gates", gate._id, { queue, ...next });
}

/**
 * Flip, then look: from this commit on whatever becomes claimable sees to a wake by itself, and the wake that is scheduled
 * here sees what came before.
 */
export async function quieten(ctx: MutationCtx, gate: Gate | null, queue: Queue): Promise<void> {
  await setGate(ctx, gate, queue.name, { state: "quiet" });
  await wakeSoon(ctx, queue);
}

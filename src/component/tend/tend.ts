/**
 * Tend: the work of a sweep that is late, in the call of a worker or lane that has noticed. So lost jobs come back, and dead
 * alarms are armed again, also where the scheduler has a backlog or has lost the sweep. Claims, completions, beats and steps
 * repair nothing: their answers say `isLate`, and their process calls this.
 *
 * Reads for real, writes, and conflicts with: as the sweep (`janitor.ts`), whose alarm it takes with its last call; where no
 * sweep is late, as a check for overdue work (`watchdog.ts`). Of two that tend at once, or one and the sweep, one retries and
 * finds the leases ended or the alarm moved.
 */
import { v, type Infer } from "convex/values";
import { checkLength, QUEUES_MAX } from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Doc } from "../_generated/dataModel.js";
import { internalMutation, internalQuery, type MutationCtx } from "../_generated/server.js";
import { conclude, findDue } from "../loops/loop.js";
import { ensureSweep, findTimers, firstActive, serves, sweepAt } from "../loops/timers.js";
import { sweepOnce } from "./janitor.js";
import { watchOver } from "./watchdog.js";

/** `isLate`: there is more, for another call. */
export const vTended = v.object({ isLate: v.boolean() });

/** `queues`: some that the caller serves; where no sweep is late, overdue work of these queues is sought. */
export async function tend(
  ctx: MutationCtx,
  queues: readonly string[],
): Promise<{ isLate: boolean }> {
  checkLength("The queues to tend", queues, 0, QUEUES_MAX);
  const now = Date.now();
  const late: Late = await ctx.runQuery(
    internal.tend.tend.findLate,
    { now },
    { useStaleSnapshot: true },
  );
  const alarm = late.timer === null ? null : await findDue(ctx.db, late.timer, now);
  if (alarm !== null) return await sweepNow(ctx, alarm, now);
  if (late.unsweptAt !== null) await ensureSweep(ctx, late.unsweptAt, now);
  await watchOver(ctx, queues, now);
  return { isLate: false };
}

/**
 * The sweep of an alarm that is due. While it leaves leases to end, the alarm stays as it is, due and with its own function: a
 * next call goes on, or that function does.
 */
async function sweepNow(
  ctx: MutationCtx,
  alarm: Doc<"timers">,
  now: number,
): Promise<{ isLate: boolean }> {
  const next = await sweepOnce(ctx, alarm, now, {});
  if (next !== "gone" && next.at <= now && isMore(next.carried)) return { isLate: true };
  if (alarm.scheduledId !== undefined) await ctx.scheduler.cancel(alarm.scheduledId);
  // The call belongs to a function that was canceled: all that it schedules is born canceled, and nothing of it may stand.
  if (!(await conclude(ctx, alarm, next)))
    throw new Error("The process was canceled, and tends nothing.");
  return { isLate: false };
}

function isMore(carried: object | undefined): boolean {
  return carried !== undefined && "after" in carried;
}

/** The call of a lane's process. */
export const tendNow = internalMutation({
  args: {},
  returns: vTended,
  handler: (ctx) => tend(ctx, []),
});

const vLate = v.object({
  /** The first sweep that is due. */
  timer: v.union(v.id("timers"), v.null()),
  /** When a sweep must come for the lease that ends first, and none does; else `null`. */
  unsweptAt: v.union(v.number(), v.null()),
});
type Late = Infer<typeof vLate>;

/** To be called with `useStaleSnapshot`. */
export const findLate = internalQuery({
  args: { now: v.number() },
  returns: vLate,
  handler: async (ctx, { now }): Promise<Late> => {
    const timers = await findTimers(ctx.db);
    const first = await firstActive(ctx.db);
    const due = timers.find(({ dueAt }) => dueAt <= now);
    const sweepsAt = first === null ? Infinity : sweepAt(first.expiresAt, now);
    const isSwept = timers.some((timer) => serves(timer, sweepsAt, now));
    return { timer: due?._id ?? null, unsweptAt: first === null || isSwept ? null : sweepsAt };
  },
});

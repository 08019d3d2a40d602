/**
 * Wakes that a storm of callers has left behind. A thousand callers with snapshots that show no polling lane schedule
 * as many wakes, and all but the first few will find one: until then they would hold up lanes, sweeps and the app's own
 * functions, one scheduler for all. So one of the late wakes cancels the newest.
 *
 * That is safe as a wake that ends at once is: the lane that is relied on while the gate is not quiet polls after this
 * commit, and the jobs of these wakes were committed before it. Only due wakes are canceled, and only wakes that were
 * scheduled for a job: a wake for capacity, or after a change of the gate, is a lane's last check.
 *
 * Snapshot reads: the component's scheduled functions. Reads for real: the wakes that it cancels, and the gate (its
 * caller). Writes: their state. Conflicts with: their start, from which the picked ones are as far as can be; another
 * such cancel.
 */
import { v } from "convex/values";
import { internal } from "../_generated/api.js";
import type { Id } from "../_generated/dataModel.js";
import { internalQuery, type MutationCtx } from "../_generated/server.js";

/** A wake that starts so late has earlier ones before it, and so most likely more behind it. */
const LATE_MS = 100;
/** As many run at once on the smallest class: one of them is enough. */
const CALLERS = 8;
/** Scheduled functions that are read, the newest first; so many at least must be superfluous. */
const LOOKED_AT = 1_000;
const WORTH_IT = 64;

export async function callOffSurplus(
  ctx: MutationCtx,
  queue: string,
  dueAt: number,
): Promise<void> {
  const now = Date.now();
  if (now - dueAt < LATE_MS || Math.random() * CALLERS >= 1) return;
  const ids: Id<"_scheduled_functions">[] = await ctx.runQuery(
    internal.push.surplus.pendingWakes,
    { queue, now },
    { useStaleSnapshot: true },
  );
  if (ids.length < WORTH_IT) return;
  // The older half may be starting by now.
  const newest = ids.slice(0, ids.length / 2);
  const rows = await Promise.all(newest.map((id) => ctx.db.system.get("_scheduled_functions", id)));
  for (const row of rows) {
    if (row?.state.kind === "pending") await ctx.scheduler.cancel(row._id);
  }
}

/** Wakes of the queue that are due and were scheduled for a job, the newest first. To be called with `useStaleSnapshot`. */
export const pendingWakes = internalQuery({
  args: { queue: v.string(), now: v.number() },
  returns: v.array(v.id("_scheduled_functions")),
  handler: async ({ db }, { queue, now }): Promise<Id<"_scheduled_functions">[]> => {
    const rows = await db.system.query("_scheduled_functions").order("desc").take(LOOKED_AT);
    return rows.flatMap(({ _id, name, args, scheduledTime, state }) => {
      const [asked] = args as [{ queue?: unknown; job?: unknown }?];
      const isSuch =
        state.kind === "pending" &&
        scheduledTime <= now &&
        WAKE.test(name) &&
        asked?.queue === queue &&
        asked.job !== undefined;
      return isSuch ? [_id] : [];
    });
  },
});

const WAKE = /^push\/wake(\.js)?:wake$/;

/**
 * Wakes that a storm of callers has left behind. A thousand callers with snapshots that show no polling lane schedule as
 * many wakes. All but the first few find one, and until then they stand before that lane, since one scheduler runs all.
 * So a late wake that finds the gate guarded or full cancels the later wakes of its own shard. A queue has eight shards by
 * default, and each is cleared by one transaction, or by a few where calls bring many jobs.
 *
 * That is safe as a wake that ends at once is: the lane that is relied on while the gate is not quiet polls after this
 * commit, and the jobs of these wakes were committed before it. Only due wakes are canceled, and only wakes of new jobs: a
 * wake for capacity, or after a change of the gate, is a lane's last check.
 *
 * The job's row names its wake, of the jobs of one call the first, since each row of `_scheduled_functions` brings its
 * arguments by one more read: 1,000 of them take 2 s to read, and 1,000 jobs 12 ms. Measured with 1,000 callers at once on
 * S16 (seeds 1 to 3): the first job starts after 1.3 to 1.5 s and the median after 3.1 to 3.2 s; with no cancels after 8.7
 * and 11.7 s.
 *
 * Snapshot reads: later jobs of the shard, and the second wake of them. Reads for real: all wakes that the snapshot names,
 * the gate and its own job (its caller). Writes: the state of the ones that are still pending and due.
 * Conflicts with: their start, from which all but the next are far; a late wake of the same shard; a claim of its own job.
 */
import { v } from "convex/values";
import { commitTimeOf } from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import { internalQuery, type MutationCtx } from "../_generated/server.js";

/** A wake that starts so late has earlier ones before it, and so most likely more behind it. */
export const LATE_MS = 100;
/** So late it is no wake that has lost a conflict and comes again, but one of a crowd: a retry comes sooner. */
export const CROWD_MS = 500;
/** The most jobs that are read, half of a transaction: 1,000 callers with four jobs each leave 500 in a shard. */
const JOBS_READ = 512;
/** Among so many the next two wakes are named, where calls bring up to 16 jobs. */
const NEXT_READ = 32;

/**
 * Cancels the wakes of jobs that came after this one, up to an instant: wakes of later jobs are not due. The gate must have been
 * read for real, and not be quiet.
 */
export async function callOffSurplus(
  ctx: MutationCtx,
  { queue, order, shard, seq }: Doc<"jobs">,
  upTo: number,
): Promise<void> {
  const ids: Id<"_scheduled_functions">[] = await ctx.runQuery(
    internal.push.surplus.laterWakes,
    { queue, order, shard, seq: seq as bigint, upTo: commitTimeOf(upTo) },
    { useStaleSnapshot: true },
  );
  const rows = await Promise.all(ids.map((id) => ctx.db.system.get("_scheduled_functions", id)));
  for (const row of rows) {
    if (row?.state.kind === "pending" && row.scheduledTime <= Date.now())
      await ctx.scheduler.cancel(row._id);
  }
}

/**
 * Wakes of jobs that came later into the shard, but for the next one, which may be about to start. None where the second
 * is not pending: another wake has canceled them. To be called with `useStaleSnapshot`.
 */
export const laterWakes = internalQuery({
  args: {
    queue: v.string(),
    order: v.number(),
    shard: v.number(),
    seq: v.int64(),
    upTo: v.int64(),
  },
  returns: v.array(v.id("_scheduled_functions")),
  handler: async (
    { db },
    { queue, order, shard, seq, upTo },
  ): Promise<Id<"_scheduled_functions">[]> => {
    const wakesAmong = async (count: number) => {
      const jobs = await db
        .query("jobs")
        .withIndex("status", (q) =>
          q
            .eq("queue", queue)
            .eq("status", "pending")
            .eq("order", order)
            .eq("shard", shard)
            .gt("seq", seq)
            .lt("seq", upTo),
        )
        .take(count);
      return jobs.flatMap(({ wake }) => (wake === undefined ? [] : [wake])).slice(1);
    };
    const [second] = await wakesAmong(NEXT_READ);
    const row = second === undefined ? null : await db.system.get("_scheduled_functions", second);
    return row?.state.kind === "pending" ? await wakesAmong(JOBS_READ) : [];
  },
});

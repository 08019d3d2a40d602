/**
 * Workers: who was seen last, and with what in hand. For people; nothing's correctness depends on it. A subscription
 * to it runs again with every beat of a worker it shows.
 */
import { checkInteger, WORKERS_MAX, type HolderState, type WorkerStatus } from "../shared/index.js";
import type { QueryCtx } from "./_generated/server.js";

/**
 * The newest of each state, merged. Active holders are indexed by the end of their leases, so where more than `limit`
 * are active with leases of different lengths, those with the longer ones go first.
 */
export async function workers(ctx: QueryCtx, limit: number = WORKERS_MAX): Promise<WorkerStatus[]> {
  checkInteger("limit", limit, 1, WORKERS_MAX);
  const newest = async (state: HolderState) =>
    await ctx.db
      .query("holders")
      .withIndex("state", (q) => q.eq("state", state))
      .order("desc")
      .take(limit);
  const holders = (await Promise.all([newest("active"), newest("idle"), newest("gone")])).flat();
  holders.sort((a, b) => b.lastSeenAt - a.lastSeenAt);
  return holders
    .slice(0, limit)
    .map(({ session, name, lane, state, lastSeenAt, leases, queues }) => ({
      session,
      name,
      isLane: lane !== undefined,
      state,
      lastSeenAt,
      // A lane's leases say no queue: it has one.
      holding: leases.map(({ id, queue = queues[0]!, attempt }) => ({ id, queue, attempt })),
    }));
}

/**
 * Whether workers outside of Convex are there for queues that both serve: while none is, jobs are left to none.
 *
 * Looks at `holders`, where it may be wrong by as much as its snapshot is old, or for as long as a session that is gone without
 * a word counts as live: a job is then begun too early, or when its queue's `fallbackAfterMs` is over. Reads a bounded number
 * of rows and bytes; where that are not all, workers may be there. Writes nothing.
 */
import { v } from "convex/values";
import { IDLE_LIVE_MS } from "../shared/index.js";
import { internal } from "./_generated/api.js";
import { internalQuery, type DatabaseReader, type MutationCtx } from "./_generated/server.js";
import { takeWithin } from "./rowBytes.js";

/** Live sessions of each state that are looked through, lanes among them: rows of less than 1 KB as a rule. */
const SESSIONS_READ = 64;
const SESSIONS_BYTES = 256 * 1_024;

/** Of these queues, those for which a worker outside is there. `but`: a session that is leaving. */
export async function servedOutside(
  db: DatabaseReader,
  queues: readonly string[],
  now: number,
  but?: string,
): Promise<string[]> {
  const since = { idle: now - IDLE_LIVE_MS, active: now };
  const served = new Set<string>();
  for (const state of ["idle", "active"] as const) {
    const live = db
      .query("holders")
      .withIndex("state", (q) => q.eq("state", state).gte("expiresAt", since[state]))
      .order("desc");
    const { rows, isCut } = await takeWithin(live, SESSIONS_READ, SESSIONS_BYTES);
    if (isCut || rows.length === SESSIONS_READ) return [...queues];
    for (const { lane, session, queues: names } of rows)
      if (lane === undefined && session !== but) for (const name of names) served.add(name);
  }
  return queues.filter((name) => served.has(name));
}

/** The same in a snapshot. May not be called but with `useStaleSnapshot`. */
export const served = internalQuery({
  args: { queues: v.array(v.string()), now: v.number(), but: v.optional(v.string()) },
  returns: v.array(v.string()),
  handler: (ctx, { queues, now, but }) => servedOutside(ctx.db, queues, now, but),
});

/** The same for a mutation, which depends on no session by that. */
export async function lookServed(
  ctx: MutationCtx,
  queues: readonly string[],
  but?: string,
): Promise<string[]> {
  const args = { queues: [...queues], now: Date.now(), ...(but === undefined ? {} : { but }) };
  return await ctx.runQuery(internal.outside.served, args, { useStaleSnapshot: true });
}

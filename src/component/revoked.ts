/**
 * Ends the leases of a revoked token's sessions before their time: none of them can report any more, so that their jobs
 * need not wait for the ends of leases, which may be a day away.
 *
 * An end that never comes is no loss: such a lease runs out like that of any worker that is silent. So these are plain
 * scheduled mutations, one after another, and no alarm.
 *
 * Looks: active holders. Reads for real: those of the token, the janitor's timers. Writes: those holders; inserts a timer.
 * Conflicts with: a sweep that ends the same leases. The sessions' own calls are refused by now.
 */
import { v, type Infer } from "convex/values";
import { REVOKED_SESSIONS } from "../shared/index.js";
import { internal } from "./_generated/api.js";
import { internalMutation, internalQuery } from "./_generated/server.js";
import { cutShort } from "./holders.js";
import { ensureJanitor } from "./timers.js";

const vFound = v.object({
  sessions: v.array(v.id("holders")),
  /** When the last one that was looked at expires, if there may be more. */
  next: v.union(v.number(), v.null()),
});

/** May not be called but with `useStaleSnapshot`. */
export const find = internalQuery({
  args: { token: v.id("tokens"), after: v.number() },
  returns: vFound,
  handler: async (ctx, { token, after }): Promise<Infer<typeof vFound>> => {
    const active = await ctx.db
      .query("holders")
      .withIndex("state", (q) => q.eq("state", "active").gte("expiresAt", after))
      .take(REVOKED_SESSIONS);
    const last = active.at(-1);
    const isEnd = active.length < REVOKED_SESSIONS || last!.expiresAt === after;
    return {
      sessions: active.filter((holder) => holder.token === token).map(({ _id }) => _id),
      next: isEnd ? null : last!.expiresAt,
    };
  },
});

export const endSessions = internalMutation({
  args: { token: v.id("tokens"), after: v.number() },
  returns: v.null(),
  handler: async (ctx, { token, after }): Promise<null> => {
    const found: Infer<typeof vFound> = await ctx.runQuery(
      internal.revoked.find,
      { token, after },
      { useStaleSnapshot: true },
    );
    const now = Date.now();
    for (const id of found.sessions) await cutShort(ctx.db, id, now);
    if (found.sessions.length > 0) await ensureJanitor(ctx, now, now, undefined);
    if (found.next !== null) {
      await ctx.scheduler.runAfter(0, internal.revoked.endSessions, { token, after: found.next });
    }
    return null;
  },
});

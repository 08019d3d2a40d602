/**
 * Ends the leases of a revoked token's sessions before their time: none of them can report any more, so that their jobs
 * need not wait for the ends of leases, which may be a day away.
 *
 * An end that never comes is no loss: such a lease runs out like that of any worker that is silent. So these are plain
 * scheduled mutations, one after another, and no alarm.
 *
 * Snapshot reads: active sessions. Reads for real: sessions of the token, the janitor's timers. Writes: these sessions;
 * inserts a timer. Conflicts with: a sweep that ends the same leases. The sessions' own calls are refused by now.
 */
import { v, type Infer } from "convex/values";
import { REVOKED_SESSIONS } from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Doc } from "../_generated/dataModel.js";
import { internalMutation, internalQuery, type DatabaseReader } from "../_generated/server.js";
import { cutShort } from "../rows/sessions.js";
import { ensureJanitor } from "../loops/timers.js";

/**
 * Where the next snapshot read begins: many leases end at one instant, where a fleet was woken at once. `passed`: the
 * sessions of that very key that were read, since sessions that began in one instant may share it.
 */
const vFrom = v.object({
  expiresAt: v.number(),
  creationTime: v.number(),
  passed: v.array(v.id("sessions")),
});
type From = Infer<typeof vFrom>;

const vFound = v.object({
  sessions: v.array(v.id("sessions")),
  /** `null` if there are no more. */
  next: v.union(vFrom, v.null()),
});
type Found = Infer<typeof vFound>;

/** May not be called but with `useStaleSnapshot`. */
export const findRevoked = internalQuery({
  args: { token: v.id("tokens"), from: vFrom },
  returns: vFound,
  handler: async (ctx, { token, from }): Promise<Found> => {
    const active = await activeFrom(ctx.db, from);
    const last = active.at(-1);
    const isEnd = last === undefined || active.length < REVOKED_SESSIONS;
    return {
      sessions: active.filter((session) => session.token === token).map(({ _id }) => _id),
      next: isEnd ? null : behind(from, active, last),
    };
  },
});

function behind(from: From, active: readonly Doc<"sessions">[], last: Doc<"sessions">): From {
  const key = { expiresAt: last.expiresAt, creationTime: last._creationTime };
  const isTied = ({ expiresAt, creationTime }: Omit<From, "passed">) =>
    expiresAt === key.expiresAt && creationTime === key.creationTime;
  const passed = active.filter((one) => isTied({ ...one, creationTime: one._creationTime }));
  return {
    ...key,
    passed: [...(isTied(from) ? from.passed : []), ...passed.map(({ _id }) => _id)],
  };
}

/** An index range can only be open at one field, so that there are two. */
async function activeFrom(
  db: DatabaseReader,
  { expiresAt, creationTime, passed }: From,
): Promise<Doc<"sessions">[]> {
  const rest = await db
    .query("sessions")
    .withIndex("state", (q) =>
      q.eq("state", "active").eq("expiresAt", expiresAt).gte("_creationTime", creationTime),
    )
    .take(REVOKED_SESSIONS + passed.length);
  const tie = rest.filter(({ _id }) => !passed.includes(_id)).slice(0, REVOKED_SESSIONS);
  if (tie.length === REVOKED_SESSIONS) return tie;
  const later = await db
    .query("sessions")
    .withIndex("state", (q) => q.eq("state", "active").gt("expiresAt", expiresAt))
    .take(REVOKED_SESSIONS - tie.length);
  return [...tie, ...later];
}

/** `after`, `created` and `passed` say where to go on; 0 for the beginning. */
export const endRevokedSessions = internalMutation({
  args: {
    token: v.id("tokens"),
    after: v.number(),
    created: v.optional(v.number()),
    passed: v.optional(v.array(v.id("sessions"))),
  },
  returns: v.null(),
  handler: async (ctx, { token, after, created = 0, passed = [] }): Promise<null> => {
    const found: Found = await ctx.runQuery(
      internal.tend.revoked.findRevoked,
      { token, from: { expiresAt: after, creationTime: created, passed } },
      { useStaleSnapshot: true },
    );
    const now = Date.now();
    for (const id of found.sessions) await cutShort(ctx.db, id, now);
    if (found.sessions.length > 0) await ensureJanitor(ctx, now, now, undefined);
    if (found.next !== null) {
      const { expiresAt, creationTime } = found.next;
      const next = { token, after: expiresAt, created: creationTime, passed: found.next.passed };
      await ctx.scheduler.runAfter(0, internal.tend.revoked.endRevokedSessions, next);
    }
    return null;
  },
});

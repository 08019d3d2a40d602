/**
 * The sessions of worker tokens: begun, bounded, forgotten. The only writer of `tokenSessions`.
 *
 * Sessions are counted in rows that no call writes, when one begins, and in a snapshot: none of a token's workers conflicts
 * with another, and a call of a session that is known costs nothing. Sessions that begin in one instant may together be a
 * few more than the bound.
 *
 * `enterSession`, of a new session, reads in a snapshot: the token's rows here and, where these are as many as may be,
 * 16 sessions. Reads for real: the session, and sessions that it forgets. Writes: the session's row and its row here;
 * deletes forgotten sessions. Conflicts with: a call of a session that it forgets; one of the two retries.
 */
import { v, type Infer } from "convex/values";
import {
  checkFacts,
  checkLabel,
  conveyorError,
  IDLE_GRID_MS,
  IDLE_LIVE_MS,
  SESSIONS_FORGOTTEN,
  SESSIONS_LOOKED_AT,
  SESSIONS_MAX,
  type WorkerFacts,
  type WorkerOrigin,
} from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Id } from "../_generated/dataModel.js";
import {
  internalQuery,
  type DatabaseReader,
  type DatabaseWriter,
  type MutationCtx,
} from "../_generated/server.js";
import {
  findSession,
  insertSession,
  removeSession,
  type Caller,
  type Session,
} from "./sessions.js";

/** The session's row, inserted at its first call. */
export async function enterSession(
  ctx: MutationCtx,
  caller: Caller,
  now: number,
): Promise<Session> {
  checkLabel("The name of a worker", caller.name);
  const { about } = caller;
  if (about !== undefined) checkFacts(about);
  const known = await findSession(ctx.db, caller.sessionKey, caller.token);
  if (known !== null) {
    if (about !== undefined && known.slots === undefined) await setOrigin(ctx.db, known._id, about);
    return known;
  }
  await makeRoom(ctx, caller, now);
  const session = await insertSession(ctx.db, caller, now);
  const row = { token: caller.token._id, session: session._id };
  const origin = about === undefined ? {} : { origin: originOf(about) };
  await ctx.db.insert("tokenSessions", { ...row, ...origin });
  return session;
}

/** The part of a worker's description that its calls do not change. */
function originOf({ slots: _, mode: _mode, ...origin }: WorkerFacts): WorkerOrigin {
  return origin;
}

/** The session began with a call that did not say it. */
async function setOrigin(
  db: DatabaseWriter,
  session: Id<"sessions">,
  about: WorkerFacts,
): Promise<void> {
  const row = await rowOf(db, session);
  if (row !== null) await db.patch("tokenSessions", row._id, { origin: originOf(about) });
}

/** Of a worker that has said it; a lane has none. */
export async function originIn(
  db: DatabaseReader,
  session: Id<"sessions">,
): Promise<WorkerOrigin | undefined> {
  return (await rowOf(db, session))?.origin;
}

async function rowOf(db: DatabaseReader, session: Id<"sessions">) {
  return await db
    .query("tokenSessions")
    .withIndex("session", (q) => q.eq("session", session))
    .first();
}

/** Deletes the row of a session that is over, with its row here. */
export async function forgetSession(db: DatabaseWriter, session: Id<"sessions">): Promise<void> {
  const rows = await db
    .query("tokenSessions")
    .withIndex("session", (q) => q.eq("session", session))
    .collect();
  for (const row of rows) await db.delete("tokenSessions", row._id);
  await removeSession(db, session);
}

async function makeRoom(ctx: MutationCtx, { token }: Caller, now: number): Promise<void> {
  const args = { token: token._id, now };
  const room: Room = await ctx.runQuery(internal.rows.tokenSessions.findTokenSessions, args, {
    useStaleSnapshot: true,
  });
  if (!room.isFull) return;
  for (const id of room.over) {
    const session = await ctx.db.get("sessions", id);
    if (session !== null && isSilent(session, now)) await forgetSession(ctx.db, id);
  }
  if (room.over.length > 0) return;
  throw conveyorError(
    "tooManySessions",
    `The worker token "${token.name}" has ${SESSIONS_MAX} sessions, and none of the ones checked is over: each process is ` +
      "one, until 90 s after its last call. Start fewer workers, or give some of them a token of their own.",
    { name: token.name, max: SESSIONS_MAX },
  );
}

const vRoom = v.object({ isFull: v.boolean(), over: v.array(v.id("sessions")) });
type Room = Infer<typeof vRoom>;

/** Whether a token has as many sessions as it may, and some of them that make room. May not be called but with `useStaleSnapshot`. */
export const findTokenSessions = internalQuery({
  args: { token: v.id("tokens"), now: v.number() },
  returns: vRoom,
  handler: async ({ db }, { token, now }): Promise<Room> => {
    const rows = await db
      .query("tokenSessions")
      .withIndex("token", (q) => q.eq("token", token))
      .take(SESSIONS_MAX);
    if (rows.length < SESSIONS_MAX) return { isFull: false, over: [] };
    // From a random one on: of a fleet, the oldest may be at work for months.
    const start = Math.floor(Math.random() * rows.length);
    const some = [...rows.slice(start), ...rows.slice(0, start)].slice(0, SESSIONS_LOOKED_AT);
    const sessions = await Promise.all(some.map(({ session }) => db.get("sessions", session)));
    const silent = sessions
      .flatMap((session) => (session !== null && isSilent(session, now) ? [session] : []))
      .sort((a, b) => a.lastSeenAt - b.lastSeenAt);
    const over = silent.filter((session) => isOver(session, now));
    const chosen = over.length > 0 ? over : silent.slice(0, 1);
    return { isFull: true, over: chosen.slice(0, SESSIONS_FORGOTTEN).map(({ _id }) => _id) };
  },
});

/**
 * Silent for long, and without a lease. One that stands by may live all the same: where there is no other room it is
 * forgotten, and comes back with its next call.
 */
function isSilent({ state, leases, lastSeenAt }: Session, now: number): boolean {
  return state !== "active" && leases.length === 0 && lastSeenAt < now - IDLE_LIVE_MS;
}

/** Silent for so long that it counts as live no more: one that stands by has said for how long it will be. */
function isOver({ lastSeenAt, expiresAt }: Session, now: number): boolean {
  return Math.max(lastSeenAt, expiresAt - IDLE_GRID_MS) < now - IDLE_LIVE_MS;
}

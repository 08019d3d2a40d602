/**
 * Call-ups of large fleets: which workers that stand by are to claim. Only this file writes `callUps`.
 *
 * A call-up moves one key: all places up to it are called. A claim that leaves more than the workers on call have room
 * for writes it, for twice as many as the call-up a moment before. A job that prefers a worker by its name calls up that one
 * alone: its row is read by no other worker's subscription, or by one in 256 of its token. A worker that comes and stands by
 * again does so after both keys that call it.
 *
 * Reads for real: the row of its peers; for a certain call-up the first places, too. Writes: that row; two old ones where
 * it is a new one. Conflicts with: another call-up of the same peers.
 */
import { v, type Infer, type ObjectType } from "convex/values";
import {
  CALL_UP_AGAIN_MS,
  CALL_UP_MAX,
  CALL_UPS_FORGOTTEN,
  CALL_UPS_KEPT_MS,
  checkLabel,
  checkLength,
  IDLE_LIVE_MS,
  LEASES_MAX,
  ON_CALL,
  RANKED_SESSIONS_MAX,
  SESSIONS_READ_BYTES,
  stableHash,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { DatabaseReader, MutationCtx, QueryCtx } from "../_generated/server.js";
import { FIRST_PLACE, peersOf, WATCHING } from "../rows/duties.js";
import { bytesOf } from "../rows/rowBytes.js";
import { authorize } from "../rows/tokens.js";

/** Peers on call that one transaction reads: with the one that watches, and entries of silent ones. */
const LISTENERS_READ = 4 * RANKED_SESSIONS_MAX;

export const vListener = v.object({
  id: v.id("sessions"),
  sessionKey: v.string(),
  since: v.optional(v.number()),
  lastSeenAt: v.number(),
});
export type Listener = Infer<typeof vListener>;

/** What a snapshot shows of the ones that stand by. */
export const vCallable = {
  callUp: v.union(v.object({ upTo: v.number(), count: v.number(), at: v.number() }), v.null()),
  /** Whether it is to make the next call-up, of the many calls that may. */
  asks: v.boolean(),
  /** The first places that stand by, in order: a few, or for a call-up all of it. */
  places: v.array(v.number()),
  /** Up to which place the worker itself has been called up, with its peers or by its name. */
  last: v.number(),
};
type Callable = ObjectType<typeof vCallable>;

/** Whether a place has been called up: the subscription of a worker that stands by. It depends on later places only. */
export async function isCalledUp(
  ctx: QueryCtx,
  args: { token: string; peers: string; since: number; worker?: string },
): Promise<boolean> {
  const { _id: token } = await authorize(ctx.db, args.token, []);
  const peers = peersOf({ token }, args);
  const { worker } = args;
  const keys = worker === undefined ? [peers] : [peers, keyOfName(peers, worker)];
  const rows = await Promise.all(
    keys.map((key) =>
      ctx.db
        .query("callUps")
        .withIndex("peers", (q) => q.eq("peers", key).gte("upTo", args.since))
        .first(),
    ),
  );
  return rows.some((row) => row !== null);
}

/** Rows of call-ups by name, of one token. A worker may say any names, and any peers: there are no more rows. */
const NAME_ROWS = 256;

/** Of the call-ups of one worker, and of a few more of its token: each look at these is in vain. */
export function keyOfName(peers: string, worker: string): string {
  checkLabel("The name of a worker", worker);
  const [token] = peers.split(":");
  return `${token}@${stableHash(worker) % NAME_ROWS}`;
}

/** The clock of the host on which a worker went to standby may be so far ahead. */
const AHEAD_MS = 1_000;

/**
 * Calls up workers that stand by, by their names: a waiting job prefers each. A place may be ahead of the clock, and is then
 * no later than just after the last call-up: see `standBy`. Reads → writes: the row of its peers and the rows of these names, of
 * at most `NAME_ROWS` → the latter.
 * Conflicts with: another beat of its token that names one of them, a call-up of its peers.
 */
export async function callUpPreferred(
  ctx: MutationCtx,
  peers: string,
  names: readonly string[],
  now: number,
): Promise<void> {
  checkLength("The workers that a beat names", names, 0, LEASES_MAX);
  if (names.length === 0) return;
  const last = (await findCallUp(ctx.db, peers))?.upTo ?? 0;
  for (const key of new Set(names.map((name) => keyOfName(peers, name)))) {
    const row = await findCallUp(ctx.db, key);
    const upTo = Math.max(now + AHEAD_MS, last + 1, (row?.upTo ?? 0) + 1);
    if (row !== null) {
      await ctx.db.patch("callUps", row._id, { upTo, at: now });
    } else {
      await forgetCallUps(ctx, now);
      await ctx.db.insert("callUps", { peers: key, upTo, count: 1, at: now });
    }
  }
}

/** The one that watches first, then the ones on call without room: of hundreds on call some are shown. */
export async function readListeners(db: DatabaseReader, peers: string): Promise<Listener[]> {
  const rows = await db
    .query("sessions")
    .withIndex("peers", (q) => q.eq("peers", peers).lt("standbySince", FIRST_PLACE))
    .order("desc")
    .take(LISTENERS_READ);
  return rows.map(({ _id: id, sessionKey, standbySince, lastSeenAt }) => ({
    ...{ id, sessionKey, lastSeenAt },
    ...(standbySince === undefined ? {} : { since: standbySince }),
  }));
}

/** The first live places that have not been called. Places of sessions that are gone are passed. */
export async function readPlaces(
  db: DatabaseReader,
  peers: string,
  called: { upTo: number } | null,
  count: number,
  now: number,
): Promise<number[]> {
  const after = Math.max(called?.upTo ?? 0, WATCHING);
  const places: number[] = [];
  let [read, bytes] = [0, 0];
  for await (const session of db
    .query("sessions")
    .withIndex("peers", (q) => q.eq("peers", peers).gt("standbySince", after))) {
    if (session.expiresAt >= now - IDLE_LIVE_MS) places.push(session.standbySince!);
    read += 1;
    bytes += bytesOf(session);
    if (places.length >= count || read >= 2 * CALL_UP_MAX || bytes >= SESSIONS_READ_BYTES) break;
  }
  return places;
}

export async function findCallUp(
  db: DatabaseReader,
  peers: string,
): Promise<Doc<"callUps"> | null> {
  return await db
    .query("callUps")
    .withIndex("peers", (q) => q.eq("peers", peers))
    .unique();
}

/**
 * How many a call-up calls: twice as many as one a moment before, in a burst; else as many as are on call. More where as
 * many are lacking for the jobs that were seen to wait: a burst is known at once.
 */
export function nextCount(
  last: Pick<Doc<"callUps">, "count" | "at"> | null,
  now: number,
  lacking = 0,
  againMs = CALL_UP_AGAIN_MS,
): number {
  const isFirst = last === null || last.at < now - againMs;
  return Math.min(CALL_UP_MAX, Math.max(isFirst ? ON_CALL : 2 * last.count, lacking));
}

/**
 * Calls up the first workers that stand by: with `most` so many at most, and for certain; else as the claims of a burst
 * do, of which about four write the row, and none that sees that another has. Returns whether any place was called.
 */
export async function callUp(
  ctx: MutationCtx,
  peers: string,
  seen: Callable,
  {
    now,
    watcher,
    most,
    lacking,
    wasCalled = false,
    againMs,
  }: {
    now: number;
    watcher: { lastSeenAt: number } | undefined;
    most?: number;
    lacking?: number;
    /** By a worker that the last call-up called, with as many others. */
    wasCalled?: boolean;
    againMs?: number | undefined;
  },
): Promise<boolean> {
  const isCertain = most !== undefined;
  if ((wasCalled || !isCertain) && !seen.asks) return false;
  const isBurst = wasCalled || nextCount(seen.callUp, now) > ON_CALL;
  const isWatcherCalled = (seen.callUp?.upTo ?? 0) >= (watcher?.lastSeenAt ?? 0);
  if (!isCertain && seen.places.length === 0 && isWatcherCalled) return false;
  const row = await findCallUp(ctx.db, peers);
  if (!isCertain && row?.upTo !== seen.callUp?.upTo) return false;
  const count = Math.min(most ?? CALL_UP_MAX, nextCount(row, now, lacking, againMs));
  const places = isCertain
    ? await readPlaces(ctx.db, peers, row, count, now)
    : seen.places.slice(0, count);
  const last = row?.upTo ?? 0;
  const upTo =
    places.length < count && watcher !== undefined
      ? Math.max(...places, watcher.lastSeenAt, last + 1)
      : Math.max(...places, last);
  if (upTo === last) return false;
  // A few that are called for certain are no sign that a burst is over.
  const called = { upTo, count: isBurst ? Math.max(count, row?.count ?? 0) : count, at: now };
  if (row !== null) {
    await ctx.db.patch("callUps", row._id, called);
    return true;
  }
  await forgetCallUps(ctx, now);
  await ctx.db.insert("callUps", { peers, ...called });
  return true;
}

/** Rows of peers that have not been called up for long: for each one that comes, two go. */
async function forgetCallUps(ctx: MutationCtx, now: number): Promise<void> {
  const rows = await ctx.db
    .query("callUps")
    .withIndex("at", (q) => q.lt("at", now - CALL_UPS_KEPT_MS))
    .take(CALL_UPS_FORGOTTEN);
  for (const { _id } of rows) await ctx.db.delete("callUps", _id);
}

/**
 * Fleets on call: of many idle workers alike a few subscribe to the waiting jobs, and the rest stand by for a call-up.
 *
 * *Peers* are the workers of one token with the same queues, labels and groups: the workers that would share one
 * cached answer of `hasWork`. A worker of a fleet of more than `RANKED_SESSIONS_MAX` says with its claims which its peers
 * are, and the answer says what it does while it has room:
 *
 *     on call   it subscribes to the waiting jobs. All do while none stands by, up to eight; beyond, two
 *     standby   it subscribes to the row of `callUps` from its own place on: a write there that does not reach its
 *               place does not rerun it. The one that watches claims every ten seconds besides
 *     off       it has no room, or comes for jobs that are there; its next claim with room says which of the two
 *
 * `callUps.ts` calls up. A claim that leaves more than the workers on call have room for does, and a worker on call that ends
 * its duty.
 *
 * At each commit some worker with room is on call, or all that stand by are called. Where two of these transactions run
 * at the same time, each reads the other's write for real:
 * - A worker goes to standby, or fills up beside two more with room: reads one worker on call by its id, its witness.
 * - The last worker on call with room fills up, leaves, or ends its duty with a beat: reads the workers on call, and the
 *   first ones that stand by.
 * A beat takes no duty on, so that a copy that comes late takes none on: it may end one, call up workers, or have its
 * worker claim. Workers on call that die together are missed by the worker that watches, or by a beat of standby.
 *
 * Snapshot reads: the peers on call, the row of `callUps`, the first places. Reads for real: as above. Writes: the fields
 * of the session's row are written with its call. A beat on call also clears the fields of sessions that were on call and
 * fell silent. Conflicts with: the same transactions of peers.
 */
import { v, type Infer } from "convex/values";
import {
  CALL_UP_ASKS,
  CALL_UP_MAX,
  checkInteger,
  DUTY_BEAT_MS,
  DUTY_SILENT_MS,
  IDLE_LIVE_MS,
  LEASES_MAX,
  MORE_MAX,
  ON_CALL,
  PRESENCE_MAX_MS,
  RANKED_SESSIONS_MAX,
  STANDBY_FIRST,
  STANDBY_MS,
  UNTAKEN_AGAIN_MS,
  WATCH_MS,
  type Duty,
  type OnCallRequest,
} from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import { internalQuery, type MutationCtx } from "../_generated/server.js";
import { FIRST_PLACE, FULL, isOnCall, peersOf, WATCHING, type DutyFields } from "../rows/duties.js";
import { setDuty, type Session } from "../rows/sessions.js";
import {
  callUp,
  callUpPreferred,
  findCallUp,
  keyOfName,
  nextCount,
  readListeners,
  readPlaces,
  vCallable,
  vListener,
  type Listener,
} from "./callUps.js";
import type { Claimed, ClaimRequest } from "./claimCall.js";

const vSeen = v.object({
  /** The workers on call, and the one that watches. */
  listeners: v.array(vListener),
  ...vCallable,
});
type Seen = Infer<typeof vSeen>;

const OFF: Duty = { kind: "off" };

/**
 * To be called with `useStaleSnapshot`. Of many that may make the next call-up about four do, as `draw` says, from 0 up to 1:
 * of as many as the last one called, of which a worker may be one, or of half of the ones on call. They alone see all places
 * that it calls, for `left` jobs.
 */
export const seePeers = internalQuery({
  args: {
    ...{ peers: v.string(), worker: v.string(), now: v.number(), left: v.number() },
    ...{ isOneOf: v.boolean(), draw: v.number(), atLeast: v.number() },
  },
  returns: vSeen,
  handler: async ({ db }, { peers, worker, now, left, isOneOf, draw, atLeast }): Promise<Seen> => {
    const [listeners, row, named] = await Promise.all([
      readListeners(db, peers),
      findCallUp(db, peers),
      findCallUp(db, keyOfName(peers, worker)),
    ]);
    const last = Math.max(row?.upTo ?? 0, named?.upTo ?? 0);
    const callUp = row === null ? null : { upTo: row.upTo, count: row.count, at: row.at };
    const isBurst = isOneOf || nextCount(callUp, now) > ON_CALL;
    // Each of eight on call may, beside one that watches. As a burst begins hundreds may be on call.
    const among = Math.max(isBurst ? (callUp?.count ?? 0) : 0, (listeners.length - 1) / 2);
    const asks = draw * among < CALL_UP_ASKS;
    const count = left > 0 && asks ? nextCount(callUp, now, left) : 1;
    const places = await readPlaces(db, peers, callUp, Math.max(count, atLeast), now);
    return { listeners, callUp, asks, places, last };
  },
});

async function see(
  ctx: MutationCtx,
  peers: string,
  session: Session,
  now: number,
  left: number,
  isOneOf = false,
): Promise<Seen> {
  // The first places say how often it is to beat on standby: one on call seldom stands by.
  const atLeast = isOnCall(session, peers) ? 1 : STANDBY_FIRST;
  const look = { now, isOneOf, draw: Math.random(), left, atLeast };
  const args = { peers, worker: session.name, ...look };
  return await ctx.runQuery(internal.claim.onCall.seePeers, args, { useStaleSnapshot: true });
}

interface Standing {
  /** The other workers on call, and those of them with room. */
  others: Listener[];
  withRoom: Listener[];
  /** Another worker watches. */
  watcher: Listener | undefined;
  /** On call, and not seen for long. */
  gone: Listener[];
}

function standingOf(
  { listeners, places }: Pick<Seen, "listeners" | "places">,
  session: Session,
  now: number,
): Standing {
  const rest = listeners.filter(({ id }) => id !== session._id);
  const isSeen = (ms: number) => (one: Listener) => one.lastSeenAt > now - ms;
  const watcher = rest.filter(isSeen(DUTY_SILENT_MS)).find(({ since }) => since === WATCHING);
  // While none stands by they beat as seldom as any idle worker.
  const silentMs = isMore({ places }, { watcher }) ? DUTY_SILENT_MS : IDLE_LIVE_MS;
  const others = rest.filter(({ since }) => since !== WATCHING).filter(isSeen(silentMs));
  return {
    ...{ others, watcher, withRoom: others.filter(({ since }) => since === undefined) },
    gone: rest.filter((one) => !isSeen(IDLE_LIVE_MS)(one)),
  };
}

/** Whether the peers are more than the ones on call. */
function isMore({ places }: Pick<Seen, "places">, { watcher }: Pick<Standing, "watcher">): boolean {
  return places.length > 0 || watcher !== undefined;
}

/** The fields of its row, and the answer. */
interface Chosen {
  fields: DutyFields;
  duty: Duty;
}

/** The duty of a worker of a large fleet after this claim. */
export async function askedDuty(
  ctx: MutationCtx,
  session: Session,
  { onCall, max, lookIn }: Pick<ClaimRequest, "onCall" | "max" | "lookIn">,
  { leases, leftJobs = 0, hasLeftRows = false, fleet }: Claimed,
  now: number,
): Promise<Chosen | undefined> {
  if (onCall === undefined) return undefined;
  if (session.peers === undefined && (fleet?.size ?? 0) <= RANKED_SESSIONS_MAX) return undefined;
  const { more = 0 } = onCall;
  checkInteger("more", more, 0, MORE_MAX);
  const isNamed = lookIn?.length === 0;
  const jobs = isNamed ? more : leftJobs === 0 ? 0 : Math.max(leftJobs, more);
  const left = hasLeftRows ? Math.max(1, jobs) : jobs;
  // A quiet one is given no job.
  const room = session.isQuiet === true ? 0 : max - leases.length;
  // It is at work, and has no duty to end.
  if (room === 0 && left === 0 && session.peers === undefined) return { fields: {}, duty: OFF };
  return await dutyAfterClaim(ctx, session, onCall, { room, left }, now);
}

/** How a claim went, as far as duty goes. */
interface ClaimEnd {
  /** How many more jobs the worker has room for. */
  room: number;
  /** Jobs that it has left, as far as is known. */
  left: number;
}

async function dutyAfterClaim(
  ctx: MutationCtx,
  session: Session,
  request: OnCallRequest,
  { room, left }: ClaimEnd,
  now: number,
): Promise<Chosen> {
  const peers = peersOf(session, request);
  // One that was called up was not enough, if it leaves any.
  const wasCalled = session.peers === peers && (session.standbySince ?? 0) >= WATCHING;
  const isOneOf = wasCalled || (room === 0 && !isOnCall(session, peers));
  const seen = await see(ctx, peers, session, now, left, isOneOf);
  const standing = standingOf(seen, session, now);
  const lacking = Math.max(0, left - room - (wasCalled ? 0 : standing.withRoom.length));
  if (room === 0) return await fillUp(ctx, session, peers, { seen, shown: standing }, lacking, now);
  const call = { now, watcher: standing.watcher, wasCalled, lacking };
  if (lacking > 0) await callUp(ctx, peers, seen, call);
  const wanted = isMore(seen, standing) ? ON_CALL : RANKED_SESSIONS_MAX;
  const { withRoom } = standing;
  if (withRoom.length >= wanted && (await hasWitness(ctx, peers, withRoom)))
    return standBy(session, request, peers, seen, standing, now);
  return { fields: { peers }, duty: onCall(session, seen, standing) };
}

/**
 * It has no room left. On call beside one other with room it stays so, and calls up more should that one be gone. Beside none
 * the workers that it calls up relieve it. One that watched goes on call without room: these, too, may be gone.
 */
async function fillUp(
  ctx: MutationCtx,
  session: Session,
  peers: string,
  { seen, shown }: { seen: Seen; shown: Standing },
  lacking: number,
  now: number,
): Promise<Chosen> {
  if (!isOnCall(session, peers)) {
    if (session.peers === peers && session.standbySince === WATCHING) {
      await callUp(ctx, peers, seen, { now, watcher: shown.watcher, most: ON_CALL });
      return { fields: { peers, standbySince: FULL }, duty: onCall(session, seen, shown) };
    }
    const call = { now, watcher: shown.watcher, wasCalled: true, lacking };
    if (lacking > 0) await callUp(ctx, peers, seen, call);
    return { fields: {}, duty: OFF };
  }
  // In a burst all on call fill up together: one that reads all of them retries with each. A witness is enough beside two.
  const { withRoom } = shown;
  const isSpare = withRoom.length >= ON_CALL && (await hasWitness(ctx, peers, withRoom));
  const listeners = isSpare ? seen.listeners : await readListeners(ctx.db, peers);
  const standing = standingOf({ ...seen, listeners }, session, now);
  const { length } = standing.withRoom;
  if (length === 0)
    await callUp(ctx, peers, seen, { now, watcher: standing.watcher, most: RANKED_SESSIONS_MAX });
  else if (lacking > 0) await callUp(ctx, peers, seen, { now, watcher: standing.watcher, lacking });
  if (length !== 1) return { fields: {}, duty: OFF };
  return { fields: { peers, standbySince: FULL }, duty: onCall(session, seen, standing) };
}

/**
 * The duty of a worker at its beat; without `fields` these stay. `more`: waiting jobs that it has seen none take.
 *
 * Between its calls a worker only ends a duty, or keeps it: one that is to go on call is told to claim.
 */
export async function dutyAtBeat(
  ctx: MutationCtx,
  session: Session,
  request: OnCallRequest,
  now: number,
): Promise<{ fields?: DutyFields; duty: Duty }> {
  const peers = peersOf(session, request);
  const { room = 0, more = 0, prefers = [] } = request;
  checkInteger("room", room, 0, LEASES_MAX);
  // It has claimed as one of them, and the rows that its words write are bounded by that.
  const isOn = isOnCall(session, peers);
  if (isOn) await callUpPreferred(ctx, peers, prefers, now);
  const seen = await see(ctx, peers, session, now, more, !isOn);
  // It ends its duty. Workers on call that do so at the same time may be the last with room.
  const isFull = room === 0 && isOn;
  const listeners = isFull ? await readListeners(ctx.db, peers) : seen.listeners;
  const standing = standingOf({ ...seen, listeners }, session, now);
  const { others, withRoom, watcher, gone } = standing;
  const call = async (most: number, againMs?: number) =>
    await callUp(ctx, peers, seen, { now, watcher, most, againMs, wasCalled: !isOn });
  const isCalling = more > 0 && (await call(CALL_UP_MAX, UNTAKEN_AGAIN_MS));
  if (!isOn) return stillStandsBy(session, request, peers, seen, standing, now);
  await forget(ctx, peers, gone, now);
  const areMore = isMore(seen, standing);
  // One to spare watches itself, if none does: of many that a burst has left on call each would call another.
  const isSpare = room > 0 && areMore && withRoom.length >= ON_CALL;
  const missing = (others.length === 0 ? 1 : 0) + (watcher === undefined ? 1 : 0);
  // One that fills up is relieved: the ones with room do without it, with another that it calls up.
  const lacking = room === 0 ? ON_CALL - withRoom.length : missing;
  if (more === 0 && lacking > 0 && areMore && !isSpare) await call(lacking);
  // The ones that it has called may be gone: as long as there are others to call it sees whether they come.
  if (room === 0 && isCalling)
    return { fields: { peers, standbySince: FULL }, duty: onCall(session, seen, standing) };
  if (room === 0) return { fields: {}, duty: OFF };
  if (isSpare && (await hasWitness(ctx, peers, withRoom)))
    return standBy(session, request, peers, seen, standing, now);
  return { duty: onCall(session, seen, standing) };
}

/**
 * It stands by as before, while enough are on call, one watches, and it has not been called. Else it is to claim. Without
 * room it does not watch: a beat of one on call has another come for that.
 */
function stillStandsBy(
  session: Session,
  request: OnCallRequest,
  peers: string,
  seen: Seen,
  { others, watcher }: Standing,
  now: number,
): { fields?: DutyFields; duty: Duty } {
  const { peers: of, standbySince = 0 } = session;
  const isWatching = standbySince === WATCHING;
  if (isWatching && (request.room ?? 0) === 0) return { fields: {}, duty: OFF };
  const isCalled = standbySince >= FIRST_PLACE && standbySince <= seen.last;
  const isServed = others.length >= ON_CALL && (watcher !== undefined || isWatching);
  if (of !== peers || standbySince < WATCHING || isCalled || !isServed) return { duty: OFF };
  const nextMs = isWatching ? WATCH_MS : presenceOf(request, session, seen, standbySince, now);
  return {
    fields: { peers, standbySince, silentMs: nextMs },
    duty: { kind: isWatching ? "watch" : "standby", since: standbySince, nextMs },
  };
}

/** A worker of a fleet leaves: the ones on call are as many as before. */
export async function dutyAtEnd(ctx: MutationCtx, session: Session, now: number): Promise<void> {
  const { peers } = session;
  if (peers === undefined || !isOnCall(session, peers)) return;
  const seen = await see(ctx, peers, session, now, 0);
  const listeners = await readListeners(ctx.db, peers);
  const { watcher, withRoom } = standingOf({ ...seen, listeners }, session, now);
  const most = ON_CALL - withRoom.length;
  if (most > 0) await callUp(ctx, peers, seen, { now, watcher, most });
}

function onCall({ sessionKey }: Session, seen: Seen, standing: Standing): Duty {
  const { others } = standing;
  const rank = others.filter((other) => other.sessionKey < sessionKey).length;
  const nextMs = isMore(seen, standing) ? { nextMs: DUTY_BEAT_MS } : {};
  return { kind: "onCall", size: others.length + 1, rank, ...nextMs };
}

/** Its place is after all that stand by. Where none watches it does, if its last call, by which it is called, reaches its place. */
function standBy(
  session: Session,
  request: OnCallRequest,
  peers: string,
  seen: Seen,
  { watcher }: Standing,
  now: number,
): Chosen {
  const { peers: of, standbySince = 0 } = session;
  const keepsPlace = of === peers && standbySince >= FIRST_PLACE && standbySince > seen.last;
  const since = keepsPlace ? standbySince : Math.max(now, seen.last + 1);
  const isWatching = watcher === undefined && since <= now;
  const nextMs = isWatching ? WATCH_MS : presenceOf(request, session, seen, since, now);
  return {
    fields: { peers, standbySince: isWatching ? WATCHING : since, silentMs: nextMs },
    duty: { kind: isWatching ? "watch" : "standby", since, nextMs },
  };
}

/**
 * How long it is silent on standby. A worker that has just started may see workers on call that are dead, as of a fleet that
 * crashed, and looks again when they have been silent for long. So do the first places, always.
 */
function presenceOf(
  { presenceMs = STANDBY_MS }: OnCallRequest,
  { _creationTime: startedAt }: Session,
  { places }: Seen,
  place: number,
  now: number,
): number {
  checkInteger("presenceMs", presenceMs, 1, PRESENCE_MAX_MS);
  const isFirst = places.filter((other) => other < place).length < STANDBY_FIRST;
  if (!isFirst && startedAt <= now - DUTY_SILENT_MS) return presenceMs;
  // Spread, as all of a fleet start together.
  return Math.min(presenceMs, Math.round((1 + Math.random()) * DUTY_SILENT_MS));
}

/** Whether one of these, read for real, is on call with room: if it fills up meanwhile, one of the two retries. */
async function hasWitness(
  ctx: MutationCtx,
  peers: string,
  withRoom: readonly Listener[],
): Promise<boolean> {
  const { id } = withRoom[Math.floor(Math.random() * withRoom.length)]!;
  const witness = await ctx.db.get("sessions", id);
  return witness?.peers === peers && witness.standbySince === undefined;
}

/** Sessions that were on call, and have been silent since: their entries would hide workers that live. */
async function forget(
  ctx: MutationCtx,
  peers: string,
  gone: readonly Listener[],
  now: number,
): Promise<void> {
  for (const { id } of gone) {
    const session = await ctx.db.get("sessions", id);
    if (session?.peers === peers && session.lastSeenAt <= now - IDLE_LIVE_MS)
      await setDuty(ctx.db, session, {});
  }
}

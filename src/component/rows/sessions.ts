/**
 * The rows of worker sessions: their leases, their state, their call counter. Only this file writes `sessions`.
 *
 * The row is the lease, so a write here is half of every edge in and out of `running`.
 */
import {
  expiry,
  firstTimeout,
  lostAt,
  roundUp,
  checkName,
  conveyorError,
  CURSOR_KEPT_BYTES,
  LANE_CURSOR_KEPT_BYTES,
  LANE_WATCH_GRID_MS,
  LANE_WATCH_MS,
  LEASES_MAX,
  textBytes,
  type Answer,
  type Lease,
  type WorkerFacts,
} from "../../shared/index.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import type { DatabaseReader, DatabaseWriter } from "../_generated/server.js";
import { offerFields, type Offer } from "./conditions.js";
import { dutyOf, type DutyFields } from "./duties.js";

export type Session = Doc<"sessions">;
export type HeldLease = Session["leases"][number];

/** A session's identity, as its claim states it. */
export interface Caller {
  token: Doc<"tokens">;
  sessionKey: string;
  name: string;
  queues: string[];
  /** Where the call says something new of it. */
  about?: WorkerFacts | undefined;
}

/** The session's row, checked against the token; `null` if the session has never called. */
export async function findSession(
  db: DatabaseReader,
  sessionKey: string,
  token: Doc<"tokens">,
): Promise<Session | null> {
  checkName("A session", sessionKey);
  const session = await sessionOfKey(db, sessionKey);
  if (session !== null && session.token !== token._id) {
    throw conveyorError(
      "sessionForbidden",
      "This session was begun with another worker token. Start the worker anew: every process has a session of its own.",
      { sessionKey },
    );
  }
  return session;
}

export async function sessionOfKey(
  db: DatabaseReader,
  sessionKey: string,
): Promise<Session | null> {
  return await db
    .query("sessions")
    .withIndex("sessionKey", (q) => q.eq("sessionKey", sessionKey))
    .unique();
}

/** The row of a session that makes its first call. */
export async function insertSession(
  db: DatabaseWriter,
  caller: Caller,
  now: number,
): Promise<Session> {
  const id = await db.insert("sessions", {
    sessionKey: caller.sessionKey,
    token: caller.token._id,
    name: caller.name,
    state: "idle",
    expiresAt: now,
    lastSeenAt: now,
    queues: caller.queues,
    leases: [],
    callSeq: 0,
    acknowledged: true,
    reply: { answers: [] },
  });
  return (await db.get("sessions", id))!;
}

/**
 * The row of a new lane, which names it: neither can be without the other. `insert` makes the lane of a session.
 */
export async function enterLane(
  db: DatabaseWriter,
  queue: string,
  number: number,
  now: number,
  insert: (session: Id<"sessions">) => Promise<Id<"lanes">>,
): Promise<Id<"lanes">> {
  // Lanes that were forgotten may have left later numbers in use.
  let free = number;
  while ((await sessionOfKey(db, `lane:${queue}:${free}`)) !== null) free += 1;
  const sessionKey = `lane:${queue}:${free}`;
  const session = await db.insert("sessions", {
    ...{ sessionKey, name: `${queue}#${free}`, state: "idle", expiresAt: now, lastSeenAt: now },
    ...{ queues: [queue], leases: [], callSeq: 0, acknowledged: true, reply: { answers: [] } },
  });
  const lane = await insert(session);
  await db.patch("sessions", session, { lane });
  return lane;
}

/** The lease of one attempt of one job, if the session has it. `id` may be anything. */
export function findLease(
  session: Pick<Session, "leases">,
  id: string,
  attempt: number,
): HeldLease | undefined {
  return session.leases.find((lease) => lease.id === id && lease.attempt === attempt);
}

/** How many more leases the session may have. */
export function room(session: Session): number {
  return Math.max(0, LEASES_MAX - session.leases.length);
}

/** The leases that a call names, and the ones that its session was asked to end; they are of calls `before` this one. */
interface Spoken {
  named: readonly Lease[];
  asked: readonly Lease[];
  before: number;
}

/**
 * The fields that follow from a sign of life and these leases: all are renewed, also leases that the call does not name.
 *
 * But a lease that the session was asked to end, and no longer speaks of, is renewed this once and then over: a worker
 * that dropped it silently would keep it for as long as it lives.
 */
function alive(held: HeldLease[], now: number, known?: Session, spoken?: Spoken) {
  const isIn = (list: readonly Lease[], { id, attempt }: HeldLease) =>
    list.some((lease) => lease.id === id && lease.attempt === attempt);
  const leases = held.map((lease) =>
    spoken !== undefined &&
    lease.callSeq < spoken.before &&
    isIn(spoken.asked, lease) &&
    !isIn(spoken.named, lease)
      ? { ...lease, timeoutAt: Math.min(lease.timeoutAt ?? Infinity, lostAt([lease], now)) }
      : lease,
  );
  return {
    state: leases.length === 0 ? ("idle" as const) : ("active" as const),
    expiresAt: expiry(leases, now, known?.state === "active" ? known.expiresAt : undefined),
    lastSeenAt: now,
    leases,
  };
}

/** Another duty, without a call of the worker. */
export async function setDuty(
  db: DatabaseWriter,
  { _id, leases, lastSeenAt }: Session,
  duty: DutyFields,
): Promise<void> {
  await db.patch("sessions", _id, dutyOf(duty, leases, lastSeenAt));
}

/** The same of a lane: it is watched for as long as it is awake. */
function awake(leases: HeldLease[], now: number) {
  const state = "active" as const;
  return { state, expiresAt: watchedUntil(leases, now), lastSeenAt: now, leases };
}

/** The scheduled function of this lane still runs. */
export async function keepAwake(
  db: DatabaseWriter,
  session: Session,
  leases: HeldLease[],
  now: number,
): Promise<void> {
  await db.patch("sessions", session._id, awake(leases, now));
}

/**
 * Writes the leases that are left once outcomes are recorded, before any app code runs in this transaction. A watched
 * lane stays so for as long as it is awake, also without leases.
 */
export async function keepLeases(
  db: DatabaseWriter,
  session: Session,
  leases: HeldLease[],
  now: number,
): Promise<void> {
  const isLookedAfter = session.lane !== undefined && session.state === "active";
  const seen = isLookedAfter ? awake(leases, now) : alive(leases, now, session);
  await db.patch("sessions", session._id, seen);
}

/** Some of a lane's leases are over. It is watched as before, also without leases. */
export async function dropLeases(
  db: DatabaseWriter,
  session: Session,
  leases: HeldLease[],
): Promise<void> {
  await db.patch("sessions", session._id, { leases });
}

type About = Pick<WorkerFacts, "slots" | "mode">;

/** The fields that follow for a worker: what it says, and since when. None where nothing changes. */
function spoken(session: Session, state: Session["state"], about: About | undefined, now: number) {
  if (session.lane !== undefined) return {};
  const { mode, slots } = about ?? session;
  const isNew = session.since === undefined || state !== session.state || mode !== session.mode;
  return { ...(about === undefined ? {} : { mode, slots }), ...(isNew ? { since: now } : {}) };
}

/** An operator has the worker claim nothing, or claim again. Each call of the session has read its row. */
export async function setQuiet(db: DatabaseWriter, id: Id<"sessions">, isQuiet: true | undefined) {
  await db.patch("sessions", id, { isQuiet });
}

/** The cursor that a row keeps for the call's repeat, or a lane's next step: none if it is large. */
function keptOf(cursor: string | undefined, { lane }: Session): { cursor?: string } {
  const max = lane === undefined ? CURSOR_KEPT_BYTES : LANE_CURSOR_KEPT_BYTES;
  return cursor === undefined || textBytes(cursor) > max ? {} : { cursor };
}

/** Ends a call of `claim` or `complete`: records the new leases, and the answers for a repeat. */
export async function closeCall(
  db: DatabaseWriter,
  session: Session,
  call: {
    callSeq: number;
    claimed: HeldLease[];
    /** A lane repeats no call: outcomes without an answer are sent again in the next call. */
    answers?: Answer[];
    cursor: string | undefined;
    name?: string;
    queues?: string[];
    about?: About | undefined;
    /** How many of its outcomes it records. */
    recorded?: number;
    /** The offer of its claim, if it claimed. */
    offer?: Offer;
    /** A lane that goes on, with or without leases: it is watched. */
    isAwake?: boolean;
    /** A lane that begins. */
    begins?: Pick<Session, "runsIn" | "sweep">;
    duty?: DutyFields | undefined;
    /** Of a worker's call that names the leases in hand. */
    spoken?: Omit<Spoken, "before"> | undefined;
  },
  now: number,
): Promise<Session> {
  const leases = [...session.leases, ...call.claimed];
  const { recorded = 0, isAwake } = call;
  const of = call.spoken && { ...call.spoken, before: session.callSeq };
  const seen = isAwake === true ? awake(leases, now) : alive(leases, now, session, of);
  const changed = {
    ...seen,
    ...spoken(session, seen.state, call.about, now),
    ...(recorded === 0 ? {} : { done: (session.done ?? 0) + recorded }),
    ...(call.duty === undefined ? {} : dutyOf(call.duty, leases, now)),
    callSeq: call.callSeq,
    ...(session.hasDeparted === undefined ? {} : { hasDeparted: undefined }),
    // A new call acknowledges the last one's answer; the session has yet to learn of this one's leases.
    acknowledged: call.claimed.length === 0 || session.lane !== undefined,
    reply: { answers: call.answers ?? [], ...keptOf(call.cursor, session) },
    ...(call.name === undefined ? {} : { name: call.name }),
    ...(call.queues === undefined ? {} : { queues: call.queues }),
    ...(call.offer === undefined ? {} : offerFields(call.offer)),
    ...(call.begins === undefined
      ? {}
      : {
          runsIn: call.begins.runsIn,
          sweep: call.begins.sweep,
          generation: generationOf(session) + 1,
        }),
  };
  await db.patch("sessions", session._id, changed);
  return { ...session, ...changed } as Session;
}

/** Of a lane: functions scheduled under an older generation do nothing any more. */
export function generationOf({ generation = 0 }: Session): number {
  return generation;
}

/** An empty poll changes nothing; the lane's sign of life needs to be written only now and then. */
export function isWatched({ state, expiresAt }: Session, now: number): boolean {
  return state === "active" && expiresAt > now + LANE_WATCH_MS / 2;
}

/** Until when a lane with these leases needs no check. */
export function watchedUntil(leases: readonly HeldLease[], now: number): number {
  return Math.min(roundUp(now + LANE_WATCH_MS, LANE_WATCH_GRID_MS), firstTimeout(leases));
}

/** The lane goes on in another scheduled function. */
export async function runsOnIn(
  db: DatabaseWriter,
  id: Id<"sessions">,
  runsIn: Id<"_scheduled_functions">,
): Promise<void> {
  await db.patch("sessions", id, { runsIn });
}

/** A beat: renews all leases of the session, as {@link alive} says. */
export async function renew(
  db: DatabaseWriter,
  session: Session,
  named: readonly Lease[],
  asked: readonly Lease[],
  now: number,
  about?: About,
): Promise<Session> {
  const seen = alive(session.leases, now, session, { named, asked, before: session.callSeq });
  const isNamed = ({ id, attempt }: HeldLease) =>
    named.some((lease) => lease.id === id && lease.attempt === attempt);
  const known = seen.leases.filter(isNamed);
  const changed = {
    ...{ ...seen, acknowledged: acknowledges(session, known) },
    ...spoken(session, seen.state, about, now),
  };
  await db.patch("sessions", session._id, changed);
  return { ...session, ...changed };
}

/**
 * Whether a beat with these leases shows that the reply which brought them has arrived. A beat with older leases does
 * not: it may have been sent before.
 */
function acknowledges(session: Session, named: readonly HeldLease[]): boolean {
  return session.acknowledged || named.some((lease) => lease.callSeq === session.callSeq);
}

/** The session let its leases run out, and they have been ended. A later call of the session brings it back. */
export async function bury(db: DatabaseWriter, session: Session): Promise<void> {
  const { lastSeenAt } = session;
  await db.patch("sessions", session._id, {
    ...{ state: "gone", expiresAt: lastSeenAt, leases: [], since: lastSeenAt },
    ...dutyOf({}, [], lastSeenAt),
  });
}

/** The session has said that it is over, with call `callSeq`, and holds nothing. */
export async function depart(
  db: DatabaseWriter,
  { _id }: Session,
  callSeq: number,
  now: number,
): Promise<void> {
  const seen = { expiresAt: now, lastSeenAt: now, since: now };
  await db.patch("sessions", _id, {
    ...{ state: "gone", ...seen, callSeq, acknowledged: true, reply: { answers: [] } },
    hasDeparted: true,
    ...dutyOf({}, [], now),
  });
}

/**
 * Some of its attempts had run long enough, and have been ended, or it has `recorded` outcomes outside its calls. The
 * session lives, and keeps its other leases.
 */
export async function keepOthers(
  db: DatabaseWriter,
  session: Session,
  leases: HeldLease[],
  recorded = 0,
): Promise<void> {
  const { state, expiresAt } = alive(leases, session.lastSeenAt);
  await db.patch("sessions", session._id, {
    ...{ state, expiresAt, leases },
    ...(recorded === 0 ? {} : { done: (session.done ?? 0) + recorded }),
  });
}

/** It has been silent for long, and holds nothing. */
export async function removeSession(db: DatabaseWriter, id: Id<"sessions">): Promise<void> {
  await db.delete("sessions", id);
}

/** Postpones the end of leases that could not be ended, so that they do not hold up other sessions' leases. */
export async function quarantine(
  db: DatabaseWriter,
  id: Id<"sessions">,
  until: number,
): Promise<void> {
  await db.patch("sessions", id, { expiresAt: until });
}

/** No process speaks for the session any more: its leases end as if it had been silent for as long as it may. */
export async function cutShort(db: DatabaseWriter, id: Id<"sessions">, now: number): Promise<void> {
  const session = await db.get("sessions", id);
  if (session?.state !== "active") return;
  const silentSince = Math.min(session.lastSeenAt, now - 1 - (lostAt(session.leases, now) - now));
  await db.patch("sessions", id, { lastSeenAt: silentSince, expiresAt: now - 1 });
}

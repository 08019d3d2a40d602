/**
 * Where a claimer stands among the live sessions of a queue: which shards it reads first, which jobs there are its
 * turn, and whether this claim takes from other sessions' shards.
 *
 * Reads `sessions` in the claim's snapshot and writes nothing. A claimer with an outdated view of the other sessions
 * conflicts with one of them at a job, and one of the two retries.
 */
import {
  IDLE_LIVE_MS,
  ownShards,
  RANKED_SESSIONS_MAX,
  stableHash,
  turnOf,
  type Turn,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { QueryCtx } from "../_generated/server.js";
import type { Fleet } from "./fleet.js";

/**
 * At the end of a backlog every session steals, and an owner with a full batch of its own left lost one job of it in
 * every attempt: with sixteen claimers, until its retries ran out. So about two sessions at a time steal from an owner
 * that has called within the last three seconds. From owners that are silent (busy with long jobs, or dead) any worker
 * takes. The stealers are two of the sessions at work now: sessions that are silent steal nothing, and may be gone.
 */
const STEALERS = 2;
const OWNER_SILENT_MS = 3_000;
const RIVAL_SILENT_MS = 500;
/** Of a fleet: twice as long as the session itself was silent. Where the deployment is slow, its rivals' calls are, too. */
const RIVAL_CYCLES = 2;
const STEAL_PART = 4;

export interface Assignment {
  /** The shards that it reads first. */
  own: number[];
  /** Its turn among the sessions that read there with it. */
  turn: Turn | "unknown";
  /** Whether no other session is known to serve the queue. */
  isAlone: boolean;
  /** Shards with owners that have called a moment ago and will be back for the jobs there. */
  guarded: ReadonlySet<number>;
  /** Whether this claim takes from guarded shards as well. */
  maySteal: boolean;
  /** Of a large fleet: how many sessions with jobs in hand have called a moment ago. */
  busy: number;
  /**
   * Of another session's jobs, a claim takes this part: the owner's next batch is seldom stolen from, and soon
   * replaced.
   */
  part: number;
}

/** For whom: `silentMs` of a session with jobs in hand, since its last call. */
interface FindArgs {
  now: number;
  isFleet?: boolean;
  queues: readonly { name: string }[];
  silentMs?: number;
}

export interface Sessions {
  /**
   * The sessions that share the work: with leases that run, or idle and seen a moment ago. One more than can be ranked.
   */
  live: Doc<"sessions">[];
  /** The sessions with expired leases; `null` where more are active than were read. */
  expired: Doc<"sessions">[] | null;
}

/** Of a fleet at work, where so many are active as are read at most, no idle one is read. */
export async function findSessions(
  { db }: QueryCtx,
  { now, isFleet, queues, silentMs }: FindArgs,
): Promise<Sessions> {
  const finding = db
    .query("sessions")
    .withIndex("standing", (q) => q.eq("state", "active"))
    .order("desc")
    .take(RANKED_SESSIONS_MAX + 1);
  const isLive = ({ expiresAt }: Doc<"sessions">) => expiresAt >= now;
  const isAlike = (session: Doc<"sessions">) =>
    isAtWork(session, now, silentMs) && queues.every(({ name }) => session.queues.includes(name));
  const isBusy =
    isFleet === true && (await finding).filter(isLive).filter(isAlike).length > RANKED_SESSIONS_MAX;
  // The latest first. Before them lie dead entries of sessions that have called again since: of 64 workers that a burst had
  // called, 74 with each claim, which made it half as long again.
  const findIdle = async () =>
    await db
      .query("sessions")
      .withIndex("state", (q) => q.eq("state", "idle").gte("expiresAt", now - IDLE_LIVE_MS))
      .order("desc")
      .take(RANKED_SESSIONS_MAX + 1);
  const [active, idle] = await Promise.all([finding, isBusy ? [] : findIdle()]);
  return {
    live: [...active.filter(isLive), ...idle],
    expired:
      active.length > RANKED_SESSIONS_MAX
        ? null
        : active.filter(({ expiresAt }) => expiresAt < now),
  };
}

/** Live sessions that serve the queue, but for this one. */
export function servingOthers(
  sessionKey: string,
  queue: string,
  live: readonly Doc<"sessions">[],
): Doc<"sessions">[] {
  return live.filter(
    (session) => session.sessionKey !== sessionKey && session.queues.includes(queue),
  );
}

/**
 * The session's stand, by its rank among the live sessions that serve the queue.
 *
 * A session that is not among them yet cannot see other newcomers, so it expects a fleet: of fifty workers that start
 * at once and each believed itself alone, all but one would retry, several times.
 */
export function assignmentAmong(
  sessionKey: string,
  queue: { name: string; shards: number },
  live: readonly Doc<"sessions">[],
  now: number,
): Assignment {
  const { shards } = queue;
  const self = live.find((one) => one.sessionKey === sessionKey && one.queues.includes(queue.name));
  const others = servingOthers(sessionKey, queue.name, live);
  const sessions = [sessionKey, ...others.map((session) => session.sessionKey)].sort();
  const rank = sessions.indexOf(sessionKey);
  const shardsOf = (one: string) => ownShards(sessions.indexOf(one), sessions.length, shards);
  const awake = others.filter((session) => session.lastSeenAt > now - OWNER_SILENT_MS);
  // An idle session competes with the other idle ones; a session that only has room competes with all.
  const rivals = self?.state === "active" ? others : others.filter(({ state }) => state === "idle");
  return {
    own: shardsOf(sessionKey),
    turn: self !== undefined ? turnOf(rank, sessions.length, shards) : "unknown",
    isAlone: others.length === 0,
    guarded: new Set(awake.flatMap((session) => shardsOf(session.sessionKey))),
    ...thiefAmong(rivals.filter((rival) => isAtWork(rival, now)).length),
  };
}

/**
 * The stand of a claim that takes any job, from the head on: other sessions rely on it, or its queue has asked for strict
 * order by having one shard.
 */
export function assignmentAlone(shards: number): Assignment {
  return {
    own: ownShards(0, 1, shards),
    turn: { index: 0, sharers: 1 },
    isAlone: true,
    guarded: new Set(),
    ...thiefAmong(0),
  };
}

/** The same for several such claims at the same time: each takes its turn first, and then any job. */
export function assignmentInCrowd(
  sessionKey: string,
  queue: { name: string; shards: number },
  live: readonly Doc<"sessions">[],
): Assignment {
  const alone = assignmentAlone(queue.shards);
  const busy = servingOthers(sessionKey, queue.name, live).filter(
    ({ state }) => state === "active",
  );
  const sessions = [sessionKey, ...busy.map((one) => one.sessionKey)].sort();
  return { ...alone, turn: { index: sessions.indexOf(sessionKey), sharers: sessions.length } };
}

/** The same among more sessions than every claim can read. A shard to which no session hashes is served by stealing. */
export function assignmentInFleet(
  sessionKey: string,
  shards: number,
  { rank, size }: Fleet,
  { active, idle }: AtWork,
): Assignment {
  const known = rank ?? stableHash(sessionKey) % size;
  return {
    own: ownShards(known, size, shards),
    turn: rank === null ? "unknown" : turnOf(known, size, shards),
    isAlone: false,
    guarded: new Set(ownShards(0, 1, shards)),
    ...thiefAmong(Math.min(size, active + idle), active),
  };
}

function isAtWork({ lastSeenAt }: Doc<"sessions">, now: number, silentMs = 0): boolean {
  const ms = Math.min(OWNER_SILENT_MS, Math.max(RIVAL_SILENT_MS, RIVAL_CYCLES * silentMs));
  return lastSeenAt > now - ms;
}

interface AtWork {
  active: number;
  idle: number;
}

/**
 * How many of a fleet of that size are at work now, estimated from the few sessions read. The active ones speak for all: so
 * many of them have called. Of the idle ones these are the latest, so one silent among them shows that all later ones are
 * silent as well; where each has called, the whole fleet counts as calling.
 */
export function countAtWork(
  others: readonly Doc<"sessions">[],
  size: number,
  now: number,
  silentMs?: number,
): AtWork {
  const active = others.filter(({ state }) => state === "active");
  const calling = active.filter((session) => isAtWork(session, now, silentMs)).length;
  const idle = others.filter((one) => one.state === "idle" && isAtWork(one, now, silentMs)).length;
  const isPart = active.length >= RANKED_SESSIONS_MAX;
  return {
    active: isPart ? Math.round((calling / active.length) * size) : calling,
    idle: idle > RANKED_SESSIONS_MAX ? size : idle,
  };
}

/** With no rival at work it takes all that it has room for. */
function thiefAmong(rivals: number, busy = 0): Pick<Assignment, "maySteal" | "part" | "busy"> {
  const maySteal = Math.random() * rivals < STEALERS;
  return { maySteal, busy, part: rivals === 0 ? 1 : STEAL_PART };
}

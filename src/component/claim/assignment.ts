/**
 * Where a claimer stands among the live sessions of a queue: which shards it looks at first, which jobs there are its
 * turn, and whether this time it takes what is another's.
 *
 * Looks at `holders` in the claim's snapshot and writes nothing. Whoever is wrong about the others meets one of them at
 * a job, and one of the two runs again.
 */
import {
  IDLE_LIVE_MS,
  ownShards,
  RANKED_HOLDERS_MAX,
  stableHash,
  turnOf,
  type Turn,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { QueryCtx } from "../_generated/server.js";
import type { Fleet } from "./fleet.js";

/**
 * At the end of a backlog everybody steals, and whoever still has a full batch of its own is robbed of one of them in
 * every attempt: with sixteen claimers, until its retries ran out. So about two at a time rob an owner that has called
 * within the last three seconds. From owners that are silent (busy with long jobs, or dead) any worker takes. The thieves are
 * two of those that are at work now: sessions that are silent steal nothing, and may be gone.
 */
const THIEVES = 2;
const OWNER_SILENT_MS = 3_000;
const RIVAL_SILENT_MS = 500;
const STEAL_PART = 4;

export interface Stand {
  /** The shards that it looks at first. */
  own: number[];
  /** Its turn among those who look there with it. */
  turn: Turn | "unknown";
  /** Whether, as far as is known, nobody else serves the queue. */
  isAlone: boolean;
  /** Shards whose owners have called a moment ago and will be back for what lies there. */
  guarded: ReadonlySet<number>;
  /** Whether this claim takes from those as well. */
  robs: boolean;
  /** Of what is another's, a claim takes this part: its owner's next batch is seldom robbed, and soon made up for. */
  part: number;
}

export interface Holders {
  /** Those that share the work: with leases that run, or idle and seen a moment ago. One more than can be ranked. */
  live: Doc<"holders">[];
  /** Those whose leases have run out; `null` where so many are at work that not all of them were looked at. */
  expired: Doc<"holders">[] | null;
}

export async function findHolders(ctx: QueryCtx, now: number): Promise<Holders> {
  const [active, idle] = await Promise.all([
    ctx.db
      .query("holders")
      .withIndex("standing", (q) => q.eq("state", "active"))
      .order("desc")
      .take(RANKED_HOLDERS_MAX + 1),
    // The latest first: before them lie the entries of what has called again since.
    ctx.db
      .query("holders")
      .withIndex("state", (q) => q.eq("state", "idle").gte("expiresAt", now - IDLE_LIVE_MS))
      .order("desc")
      .take(RANKED_HOLDERS_MAX + 1),
  ]);
  return {
    live: [...active.filter(({ expiresAt }) => expiresAt >= now), ...idle],
    expired:
      active.length > RANKED_HOLDERS_MAX ? null : active.filter(({ expiresAt }) => expiresAt < now),
  };
}

/** The live holders of other sessions that serve the queue. */
export function servingOthers(
  session: string,
  queue: string,
  live: readonly Doc<"holders">[],
): Doc<"holders">[] {
  return live.filter((holder) => holder.session !== session && holder.queues.includes(queue));
}

/**
 * The session's stand, by its rank among the live sessions that serve the queue.
 *
 * A session that is not among them yet cannot see who else has just come, so it expects a fleet: of fifty workers
 * that start at once and each believed itself alone, all but one would run again, several times. A queue with one
 * shard has asked for strict order, and everybody takes from its head.
 */
export function standOf(
  session: string,
  queue: { name: string; shards: number },
  live: readonly Doc<"holders">[],
  now: number,
): Stand {
  const { shards } = queue;
  const self = live.find((one) => one.session === session && one.queues.includes(queue.name));
  const others = servingOthers(session, queue.name, live);
  const sessions = [session, ...others.map((holder) => holder.session)].sort();
  const rank = sessions.indexOf(session);
  const shardsOf = (one: string) => ownShards(sessions.indexOf(one), sessions.length, shards);
  const awake = others.filter((holder) => holder.lastSeenAt > now - OWNER_SILENT_MS);
  // Who has nothing to do competes with those who have nothing to do either; who only has room, with everybody.
  const rivals = self?.state === "active" ? others : others.filter(({ state }) => state === "idle");
  return {
    own: shardsOf(session),
    turn: self !== undefined || shards === 1 ? turnOf(rank, sessions.length, shards) : "unknown",
    isAlone: others.length === 0,
    guarded: new Set(awake.flatMap((holder) => shardsOf(holder.session))),
    ...thiefAmong(rivals.filter((rival) => isAtWork(rival, now)).length),
  };
}

/** The stand of one that takes whatever there is, from the head on: others rely on it. */
export function standAlone(shards: number): Stand {
  return {
    own: ownShards(0, 1, shards),
    turn: { index: 0, sharers: 1 },
    isAlone: true,
    guarded: new Set(),
    ...thiefAmong(0),
  };
}

/** The same beside others who do so at the same time: its turn first, and then whatever there is. */
export function standInCrowd(
  session: string,
  queue: { name: string; shards: number },
  live: readonly Doc<"holders">[],
): Stand {
  const alone = standAlone(queue.shards);
  if (queue.shards === 1) return alone;
  const busy = servingOthers(session, queue.name, live).filter(({ state }) => state === "active");
  const sessions = [session, ...busy.map((one) => one.session)].sort();
  return { ...alone, turn: { index: sessions.indexOf(session), sharers: sessions.length } };
}

/** The same among too many to be looked at with every claim. A shard that no hash hits is served by thieves. */
export function standInFleet(
  session: string,
  shards: number,
  { rank, size }: Fleet,
  atWork: number,
): Stand {
  const known = rank ?? stableHash(session) % size;
  return {
    own: ownShards(known, size, shards),
    turn: rank === null && shards > 1 ? "unknown" : turnOf(known, size, shards),
    isAlone: false,
    guarded: new Set(ownShards(0, 1, shards)),
    ...thiefAmong(atWork),
  };
}

function isAtWork({ lastSeenAt }: Doc<"holders">, now: number): boolean {
  return lastSeenAt > now - RIVAL_SILENT_MS;
}

/**
 * How many of a fleet of that size are at work now, by the few that were looked at: of the idle ones these are the latest, so
 * that one silent among them says that the others are as well. Where all of a state call, so does the fleet.
 */
export function countAtWork(others: readonly Doc<"holders">[], size: number, now: number): number {
  const seen = others.filter((holder) => isAtWork(holder, now));
  const areAll = (["active", "idle"] as const).some((state) => {
    const calling = seen.filter((holder) => holder.state === state).length;
    return calling > RANKED_HOLDERS_MAX;
  });
  return areAll ? size : seen.length;
}

/** Beside none that is at work it takes all that it has room for. */
function thiefAmong(rivals: number): Pick<Stand, "robs" | "part"> {
  return { robs: Math.random() * rivals < THIEVES, part: rivals === 0 ? 1 : STEAL_PART };
}

/**
 * Workers outside of Convex for queues that both serve, and the jobs that they may take: a job that no such worker may
 * take is not left to them.
 *
 * A worker counts as present while it keeps its promised calls: an idle one beats once a minute and counts for 90 s;
 * one with leases beats after a third of the shortest, and counts until it has been silent for two thirds. No call of
 * an idle worker says more, since it waits at a subscription, which leaves no trace.
 *
 * Reads `sessions`, and may be wrong by as much as its snapshot is old, or for as long as a session that vanished
 * silently counts as live: a job is then begun too early, or when its queue's `fallbackAfterMs` is over. Reads a
 * bounded number of rows and bytes; where more rows exist, workers that take anything may be among them. Writes
 * nothing.
 */
import { v } from "convex/values";
import { HEARTBEATS_PER_LEASE, IDLE_LIVE_MS } from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Doc } from "../_generated/dataModel.js";
import { internalQuery, type DatabaseReader, type MutationCtx } from "../_generated/server.js";
import { allows, offerOf, type Offer } from "../rows/conditions.js";
import { bytesOf } from "../rows/rowBytes.js";

type Session = Doc<"sessions">;

/**
 * Live sessions of each state that are read, latest call first, until the answer is known. Lanes are among them, of
 * which a queue has eight that wait; rows of less than 1 KB as a rule.
 */
const SESSIONS_READ = 256;
const SESSIONS_BYTES = 256 * 1_024;

/** Beats in a row that a session with leases may miss and still count as there. */
const BEATS_MISSED = 2;

interface Live {
  sessions: Session[];
  /** There may be more. */
  isCut: boolean;
}

/** Sessions of workers that are there, up to one that `isEnough`. `but`: one that is leaving. */
async function liveOutside(
  db: DatabaseReader,
  now: number,
  isEnough: (one: Session) => boolean,
  but?: string,
): Promise<Live> {
  const since = { idle: now - IDLE_LIVE_MS, active: now };
  const live: Live = { sessions: [], isCut: false };
  for (const state of ["idle", "active"] as const) {
    const some = db
      .query("sessions")
      .withIndex("state", (q) => q.eq("state", state).gte("expiresAt", since[state]))
      .order("desc");
    let [rows, bytes] = [0, 0];
    for await (const one of some) {
      if (mayClaim(one) && one.sessionKey !== but && !isSilent(one, now)) {
        live.sessions.push(one);
        if (isEnough(one)) return live;
      }
      rows += 1;
      bytes += bytesOf(one);
      const isCut = rows === SESSIONS_READ || bytes >= SESSIONS_BYTES;
      live.isCut ||= isCut;
      if (isCut) break;
    }
  }
  return live;
}

/** A worker that is neither quiet nor about to stop. */
export function mayClaim({ lane, mode, isQuiet }: Session): boolean {
  return lane === undefined && mode === undefined && isQuiet !== true;
}

/** Whether it has missed beats that its leases ask for: it may have been killed. */
function isSilent({ leases, lastSeenAt }: Session, now: number): boolean {
  const shortest = Math.min(...leases.map(({ leaseMs = Infinity }) => leaseMs));
  return lastSeenAt + (BEATS_MISSED * shortest) / HEARTBEATS_PER_LEASE < now;
}

/** Of these queues, the ones for which a worker outside is present. */
export async function servedOutside(
  db: DatabaseReader,
  queues: readonly string[],
  now: number,
  but?: string,
): Promise<string[]> {
  const served = new Set<string>();
  const areAll = ({ queues: names }: Session) => {
    for (const name of names) served.add(name);
    return queues.every((name) => served.has(name));
  };
  const { isCut } = await liveOutside(db, now, areAll, but);
  return isCut ? [...queues] : queues.filter((name) => served.has(name));
}

/** The offers of the workers that are present for a queue. */
export async function offersOutside(
  db: DatabaseReader,
  queue: string,
  now: number,
): Promise<Offer[]> {
  const takesAll = (one: Session) => one.queues.includes(queue) && takesAnyInside(offerIn(one));
  const { sessions, isCut } = await liveOutside(db, now, takesAll);
  if (isCut) return [ANYTHING];
  const offers = sessions.filter(({ queues }) => queues.includes(queue)).map(offerIn);
  // Jobs that may run inside have no labels: one such offer says all.
  return offers.find(takesAnyInside) === undefined ? offers : [ANYTHING];
}

const ANYTHING: Offer = { labels: [], groups: [], groupPrefix: undefined, maxCost: undefined };

/**
 * The offer of a session's last claim. The budget of a session that holds jobs was its remainder then, and is ignored.
 */
export function offerIn({ name, labels, groups, groupPrefix, maxCost, leases }: Session): Offer {
  const left = leases.length > 0 ? undefined : maxCost;
  return { ...offerOf({ labels, groups, groupPrefix, maxCost: left }), worker: name };
}

/** Whether it leaves no job that Convex may run. */
export function takesAnyInside({ groups, groupPrefix, maxCost }: Offer): boolean {
  return groups.length === 0 && groupPrefix === undefined && maxCost === undefined;
}

/** Whether a job is left to workers outside for a while: one of them may take it. */
export function mayGoOutside(
  offers: readonly Offer[],
  job: Pick<Doc<"jobs">, "labels" | "cost" | "group" | "prefer">,
): boolean {
  return offers.some((offer) => allows(offer, job));
}

const vOffer = v.object({
  labels: v.array(v.string()),
  groups: v.array(v.string()),
  groupPrefix: v.optional(v.string()),
  maxCost: v.optional(v.number()),
});

/** The same in a snapshot. May not be called but with `useStaleSnapshot`. */
export const outsideServed = internalQuery({
  args: { queues: v.array(v.string()), now: v.number(), but: v.optional(v.string()) },
  returns: v.array(v.string()),
  handler: (ctx, { queues, now, but }) => servedOutside(ctx.db, queues, now, but),
});

/** The offers in a snapshot. */
export const outsideOffers = internalQuery({
  args: { queue: v.string(), now: v.number() },
  returns: v.array(vOffer),
  handler: async (ctx, { queue, now }) =>
    (await offersOutside(ctx.db, queue, now)).map(({ labels, groups, groupPrefix, maxCost }) => ({
      ...{ labels: [...labels], groups: [...groups] },
      ...(groupPrefix === undefined ? {} : { groupPrefix }),
      ...(maxCost === undefined ? {} : { maxCost }),
    })),
});

/** For a mutation: the sessions stay out of its read set. */
export async function lookServed(
  ctx: MutationCtx,
  queues: readonly string[],
  but?: string,
): Promise<string[]> {
  const args = { queues: [...queues], now: Date.now(), ...(but === undefined ? {} : { but }) };
  return await ctx.runQuery(internal.index.outsideWorkers.outsideServed, args, {
    useStaleSnapshot: true,
  });
}

export async function lookOffers(ctx: MutationCtx, queue: string): Promise<Offer[]> {
  const args = { queue, now: Date.now() };
  const found = await ctx.runQuery(internal.index.outsideWorkers.outsideOffers, args, {
    useStaleSnapshot: true,
  });
  return found.map(({ labels, groups, groupPrefix, maxCost }) => ({
    ...{ labels, groups, groupPrefix, maxCost },
  }));
}

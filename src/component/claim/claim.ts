/**
 * Claim: a worker's session takes leases of pending jobs.
 *
 * Reads for real: the token, the session's row, the queues' rows, each job before it is taken, a timer of the
 * janitor's. Snapshot reads: candidates, routes, sessions at work, cursors, timers. Writes: the jobs taken, the
 * session's row; inserts a timer where the snapshot shows none. Conflicts with: another claim of the same job (rare:
 * each session has shards of its own), a cancel, pause or another move of it, also where the claim picks or names it
 * and then leaves it; a pause or another change of its queue's row; a sweep with a timer that the claim depends on;
 * at the session's row its own beats, `recordLate`, a sweep that ends its leases, `quietWorker` or `resumeWorker` of
 * it. A repeated claim reads the jobs that it leased: a cancel or another note of one makes it retry. Where jobs are
 * left to workers outside: claims of other jobs of the same commit, and the start of its wake. Of a fleet on call, as
 * `onCall.ts` and `callUps.ts`; of rows, as `tableRows.ts`; where the app answers the groups, its change of them.
 * Never with an enqueue, but one that replaces the job, and as a rule never with another session's completion.
 */
import {
  firstTimeout,
  checkInteger,
  checkLength,
  commitTimeOf,
  conveyorError,
  LEASES_MAX,
  LOOK_RANGES_BESIDE_CALLBACKS,
  LOOK_RANGES_MAX,
  NAMED_WAITED_MS,
  QUEUES_MAX,
  withoutUndefined,
  type ClaimedJob,
} from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Doc } from "../_generated/dataModel.js";
import type { MutationCtx } from "../_generated/server.js";
import { judgeCall } from "./callNumbers.js";
import { describe, isFull, newLeaseBatch, take, takeSeen, type LeaseBatch } from "./leaseBatch.js";
import type { Look } from "./choose.js";
import { decodeCursor, encodeCursor, ofQueues } from "../rows/cursors.js";
import type { Claimed, ClaimReply, ClaimRequest } from "./claimCall.js";
import { countAnew } from "./fleet.js";
import { WATCHING } from "../rows/duties.js";
import { closeCall, room, type Session } from "../rows/sessions.js";
import { keepsOrder, readNamed } from "./named.js";
import { askedDuty } from "./onCall.js";
import { conditionsKey, offerOf } from "../rows/conditions.js";
import { load } from "../rows/payloads.js";
import { declaredQueues, type Queue } from "../rows/queues.js";
import { enterSession } from "../rows/tokenSessions.js";
import { ensureJanitor } from "../loops/timers.js";
import { authorize, within } from "../rows/tokens.js";
import { nextCursor } from "./nextCursor.js";
import { announceAgain, takeRows, type Announced } from "./tableRows.js";

/** The names of the queues that it serves. */
export function namesOf({ queues }: ClaimRequest): string[] {
  return queues.map(({ name }) => name);
}

/** The worker's part of it. It learns from each answer that an operator has it claim nothing. */
export function repliedWith(
  { fleet, places = [], isLate, busyRows = [] }: Partial<Claimed>,
  { isQuiet }: Session,
): Pick<ClaimReply, "fleet" | "places" | "isLate" | "isQuiet" | "busyRows"> {
  return {
    ...(isQuiet === true ? { isQuiet } : {}),
    ...(busyRows.length === 0 ? {} : { busyRows }),
    ...(isLate === true ? { isLate } : {}),
    ...(fleet === undefined ? {} : { fleet }),
    ...(places.length === 0 ? {} : { places }),
  };
}

/** A lane's way to search. */
export interface LaneLook {
  everywhere: boolean;
  /** Several lanes search for the same at the same time. */
  isCrowded?: boolean;
  /** Taken first, if it is still to be had: the job that a wake was scheduled for. */
  first?: Doc<"jobs">;
  /** So many bytes of payloads are to go with the jobs, or none at all. */
  carries?: number;
  /** Jobs that became claimable by a later commit are not for it. */
  upTo?: bigint;
  /** Jobs that became claimable by this commit are no longer left to workers outside. */
  due?: bigint;
  /** No attempt may run longer: the process ends. */
  endsAt?: number;
}

export async function claim(
  ctx: MutationCtx,
  args: ClaimRequest & { token: string; sessionKey: string; callSeq: number; name: string },
): Promise<ClaimReply> {
  const now = Date.now();
  const asked = checkRequest(args);
  const token = await authorize(ctx.db, args.token, asked);
  const request = await within(ctx, token, args);
  const queues = namesOf(request);
  const { about } = args;
  const caller = { token, sessionKey: args.sessionKey, name: args.name, queues, about };
  // Its row may have another name, as of a session that has only beaten.
  const session = { ...(await enterSession(ctx, caller, now)), name: args.name };
  if (judgeCall(session, args.callSeq) === "repeated") {
    const cursor = session.reply.cursor ?? "{}";
    const jobs = await leasedBefore(ctx, session, session.callSeq);
    return { jobs, cursor, session: session._id, ...repliedWith({}, session) };
  }
  const taken = await takeJobs(ctx, session, args.callSeq, request, now);
  const { leases, jobs, cursor, timer } = taken;
  const chosen = await askedDuty(ctx, session, request, taken, now);
  const closed = await closeCall(
    ctx.db,
    session,
    {
      callSeq: args.callSeq,
      claimed: leases,
      answers: [],
      cursor,
      name: args.name,
      queues,
      about,
      offer: offerOf(request),
      duty: chosen?.fields,
    },
    now,
  );
  if (closed.leases.length > 0) await ensureJanitor(ctx, closed.expiresAt, now, timer);
  const duty = chosen === undefined ? {} : { duty: chosen.duty };
  return { jobs, cursor, session: session._id, ...repliedWith(taken, session), ...duty };
}

/** Checks a claim's arguments, and returns the names of its queues. */
export function checkRequest({ queues, max }: ClaimRequest): string[] {
  checkInteger("max", max, 1, LEASES_MAX);
  checkLength("The queues of a claim", queues, 1, QUEUES_MAX);
  const names = queues.map((queue) => queue.name);
  if (new Set(names).size < names.length) {
    throw conveyorError("invalidArgument", "A claim names each queue once; one is named twice.", {
      argument: "queues",
      got: names,
    });
  }
  return names;
}

/**
 * The leases of calls from `callSeq` on, as far as they still stand: the worker did not receive these calls' replies.
 * Read anew: a lease that has run out since is not handed out again.
 */
export async function leasedBefore(
  ctx: MutationCtx,
  { leases }: Session,
  callSeq: number,
): Promise<ClaimedJob[]> {
  const now = Date.now();
  const jobs = await Promise.all(
    leases
      .filter((held) => held.callSeq >= callSeq)
      .map(async (held) => {
        const job = await ctx.db.get("jobs", held.id);
        return job === null ? [] : [describe(job, await load(ctx.db, job.payload), held, now)];
      }),
  );
  return jobs.flat();
}

/**
 * The claim itself: searches, and takes for real. Does not write the session's row.
 *
 * A paused queue is left out. Its row has been read for real, so a pause and a claim conflict, and one of them retries.
 */
export async function takeJobs(
  ctx: MutationCtx,
  session: Session,
  callSeq: number,
  request: ClaimRequest,
  now: number,
  { besideCallbacks = false, announced }: { besideCallbacks?: boolean; announced?: Announced } = {},
): Promise<Claimed> {
  const named = await readNamed(ctx.db, request.named ?? [], request.queues);
  const wanted = new Set([...named.map(({ queue }) => queue), ...lookedIn(request)]);
  const of = request.queues.filter(({ name }) => wanted.has(name));
  const declared = await declaredQueues(ctx.db, of, now);
  const open = new Map(
    declared.filter(({ isPaused }) => !isPaused).map((queue) => [queue.name, queue]),
  );
  const options = { besideCallbacks, named };
  const { batch, ...taken } = await takeFrom(ctx, session, callSeq, open, request, now, options);
  // Rows of the app's tables come after all jobs that wait.
  const rows = batch && request.rows && (await takeRows(ctx, batch, request.rows, announced));
  if (announced !== undefined) await announceAgain(ctx.db, announced, rows?.emptied);
  if (batch === undefined || rows === undefined) return taken;
  const { busyRows, hasLeft } = rows;
  return { ...taken, leases: batch.leases, jobs: batch.jobs, busyRows, hasLeftRows: hasLeft };
}

/** The names of the queues that it searches. */
function lookedIn({ queues, lookIn }: ClaimRequest): string[] {
  const names = queues.map(({ name }) => name);
  return lookIn === undefined ? names : names.filter((name) => lookIn.includes(name));
}

export interface TakeOptions {
  besideCallbacks?: boolean;
  lane?: LaneLook;
  /** Read for real, and claimable then. */
  named?: readonly Doc<"jobs">[];
}

/**
 * The same from queues that are not paused, their rows read for real. A lane first takes the jobs that were left to
 * workers outside. `batch`: after a search, for what its caller takes besides.
 */
export async function takeFrom(
  ctx: MutationCtx,
  session: Session,
  callSeq: number,
  open: ReadonlyMap<string, Queue>,
  request: Omit<ClaimRequest, "queues"> & Partial<Pick<ClaimRequest, "queues">>,
  now: number,
  { besideCallbacks = false, lane, named = [] }: TakeOptions = {},
): Promise<Claimed & { batch?: LeaseBatch }> {
  const {
    cursor = session.lane === undefined ? undefined : session.reply.cursor,
    labels,
    maxCost,
    groups,
    groupPrefix,
  } = request;
  const worker = session.lane === undefined ? session.name : "";
  const offer = { ...offerOf(request), worker };
  // Before anything is taken, so that a string that is no cursor is refused whether or not there is room.
  const names = new Set([...open.keys(), ...(request.queues ?? []).map(({ name }) => name)]);
  const known = ofQueues(decodeCursor(cursor, conditionsKey(offer)), names);
  const max = session.isQuiet === true ? 0 : Math.min(request.max, room(session));
  const carries = lane?.carries ?? Infinity;
  const endsAt = lane?.endsAt ?? Infinity;
  const batch = newLeaseBatch({ session, callSeq, queues: open, offer, max, now, carries, endsAt });
  if (isFull(batch) || open.size === 0) {
    const same = encodeCursor(known);
    return { leases: [], jobs: [], ruled: batch.ruled, cursor: same, timer: undefined };
  }
  if (lane?.first !== undefined) await takeSeen(ctx, batch, lane.first);
  if (isFull(batch)) {
    return {
      leases: batch.leases,
      jobs: batch.jobs,
      cursor: encodeCursor(known),
      timer: undefined,
      ruled: batch.ruled,
      isHeavy: batch.isHeavy,
      isTooLong: batch.isTooLong,
    };
  }
  await takeNamed(ctx, batch, named);
  const most = max - batch.leases.length;
  const hasDuty = request.onCall !== undefined && session.peers !== undefined;
  const seen: Look = await ctx.runQuery(
    internal.claim.choose.chooseJobs,
    {
      sessionKey: session.sessionKey,
      name: session.name,
      queues: [...open.values()].map((queue) => ({
        ...describeQueue(queue, session, lane, now),
        ...(request.lookIn?.includes(queue.name) === false ? { isPassedBy: true } : {}),
      })),
      conditions: withoutUndefined({ labels, maxCost, groups, groupPrefix }),
      // One more than it takes decides whether others are called up.
      max: lane === undefined ? most + (hasDuty ? 1 : 0) : max,
      now,
      ranges: besideCallbacks ? LOOK_RANGES_BESIDE_CALLBACKS : LOOK_RANGES_MAX,
      ...withoutUndefined({
        cursor,
        endsBy: finite(firstTimeout(session.leases)),
        upTo: request.waited === true ? commitTimeOf(now - NAMED_WAITED_MS) : lane?.upTo,
      }),
      ...(lane === undefined ? {} : { isLane: true, everywhere: lane.everywhere }),
      ...(lane?.isCrowded === true ? { isCrowded: true } : {}),
      ...(request.onCall === undefined ? {} : { isFleet: true }),
      ...(session.state === "active" ? { silentMs: now - session.lastSeenAt } : {}),
      // One that stood by has been called up, or watches, and comes in its turn.
      ...(request.woken === true || (session.standbySince ?? 0) >= WATCHING
        ? { isWoken: true }
        : {}),
      ...(request.placed === true
        ? { isPlaced: true }
        : withoutUndefined({ served: request.queues?.map(({ name }) => name) })),
    },
    { useStaleSnapshot: true },
  );
  const picks = hasDuty ? seen.picks.slice(0, most) : seen.picks;
  const rows = await Promise.all(picks.map(({ id }) => ctx.db.get("jobs", id)));
  for (const [i, { id, seq }] of picks.entries()) await take(ctx, batch, id, seq, rows[i]);
  for (const queue of seen.miscounted) await countAnew(ctx, queue, now);
  return {
    batch,
    leases: batch.leases,
    jobs: batch.jobs,
    ruled: batch.ruled,
    isHeavy: batch.isHeavy,
    isTooLong: batch.isTooLong,
    cursor: nextCursor(known, seen.scans, batch),
    timer: seen.timer,
    ...(seen.isLate ? { isLate: true } : {}),
    ...(seen.picks.length > picks.length ? { leftJobs: seen.more + 1 } : {}),
    places: seen.places,
    ...(request.placed === true ? {} : { fleet: seen.fleet }),
    snapshot: hidesMore(seen, batch) ? null : seen.snapshot,
  };
}

/**
 * Takes the named jobs, as far as they are for this claim. In a queue that keeps an order, a search decides which comes
 * first.
 */
async function takeNamed(
  ctx: MutationCtx,
  batch: LeaseBatch,
  named: readonly Doc<"jobs">[],
): Promise<void> {
  for (const job of named) {
    const queue = batch.queues.get(job.queue);
    if (queue === undefined || keepsOrder(queue)) continue;
    await take(ctx, batch, job._id, job.seq as bigint, job);
  }
}

/**
 * Whether the search ended with as much as it may pick, and not all of that was to be had.
 */
function hidesMore({ picks, isFull: looksNoFurther }: Look, { leases }: LeaseBatch): boolean {
  if (!looksNoFurther) return false;
  const leased = new Set(leases.map(({ id }) => id));
  return picks.some(({ id }) => !leased.has(id));
}

function describeQueue(
  { name, shardsEver, epoch, config }: Queue,
  { lane }: Session,
  look: LaneLook | undefined,
  now: number,
) {
  const { leaseMs, fallbackAfterMs, handler } = config;
  const needs = lane !== undefined && handler === undefined ? { needsHandler: true } : {};
  const isStrict = config.shards === 1 ? { isStrict: true } : {};
  const looked = { name, shards: shardsEver, epoch, leaseMs, ...isStrict, ...needs };
  if (lane === undefined || fallbackAfterMs === 0) return looked;
  const waited = commitTimeOf(now - fallbackAfterMs);
  const { due = waited } = look ?? {};
  return { ...looked, upTo: due > waited ? due : waited };
}

function finite(instant: number): number | undefined {
  return Number.isFinite(instant) ? instant : undefined;
}

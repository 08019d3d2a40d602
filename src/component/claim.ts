/**
 * Claim: a worker's session takes leases of pending jobs.
 *
 * Reads for real: the token, the session's row, the queues' rows, each job before it is taken, a timer of the
 * janitor's. Looks: candidates, live holders, an expired holder, cursors, timers. Writes: the jobs taken, the session's
 * row; inserts a timer where the look shows none. Conflicts with: another claim of the same job (rare: each has shards
 * of its own), a cancel of it, a sweep whose timer it depends on. Never with an enqueue or a completion.
 */
import { getConvexSize, type Value } from "convex/values";
import {
  checkInteger,
  checkLength,
  CLAIM_MAX_BYTES,
  conveyorError,
  LEASES_MAX,
  QUEUES_MAX,
  type ClaimedJob,
  type QueueDeclaration,
} from "../shared/index.js";
import { internal } from "./_generated/api.js";
import type { Doc, Id } from "./_generated/dataModel.js";
import type { MutationCtx } from "./_generated/server.js";
import type { Look, Scan } from "./candidates.js";
import {
  boundOf,
  compareKeys,
  decodeCursor,
  encodeCursor,
  justAfter,
  type Bound,
  type Key,
} from "./cursors.js";
import { takeOver } from "./expire.js";
import { closeCall, enterHolder, judgeCall, room, type HeldLease, type Holder } from "./holders.js";
import { load } from "./payloads.js";
import { declareQueue, type Queue } from "./queues.js";
import { ensureJanitor } from "./timers.js";
import { authorize } from "./tokens.js";
import { lease } from "./transitions.js";

export interface ClaimRequest {
  queues: QueueDeclaration[];
  max: number;
  cursor?: string;
}

export interface Claimed {
  leases: HeldLease[];
  jobs: ClaimedJob[];
  cursor: string;
  /** The janitor's timer that the look showed, `null` for none, `undefined` when nobody looked. */
  timer: Id<"timers"> | null | undefined;
}

export async function claim(
  ctx: MutationCtx,
  args: ClaimRequest & { token: string; session: string; n: number; name: string },
): Promise<{ jobs: ClaimedJob[]; cursor: string }> {
  const now = Date.now();
  const queues = checkRequest(args);
  const token = await authorize(ctx.db, args.token, queues);
  const caller = { token, session: args.session, name: args.name, queues };
  const holder = await enterHolder(ctx.db, caller, now);
  if (judgeCall(holder, args.n) === "repeated") {
    return { jobs: await claimedBefore(ctx, holder), cursor: holder.reply.cursor ?? "{}" };
  }
  const { leases, jobs, cursor, timer } = await takeJobs(ctx, holder, args.n, args, now);
  const closed = await closeCall(
    ctx.db,
    holder,
    { n: args.n, claimed: leases, answers: [], cursor, name: args.name, queues },
    now,
  );
  if (closed.leases.length > 0) await ensureJanitor(ctx, closed.expiresAt, now, timer);
  return { jobs, cursor };
}

/** Checks what a claim asks for, and returns the names of its queues. */
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
 * The leases that the repeated call got the first time, as far as they still stand. Read anew: a lease that has run
 * out since is not handed out again.
 */
export async function claimedBefore(ctx: MutationCtx, holder: Holder): Promise<ClaimedJob[]> {
  const jobs: ClaimedJob[] = [];
  for (const held of holder.leases.filter(({ n }) => n === holder.n)) {
    const job = await ctx.db.get("jobs", held.id);
    if (job === null) continue;
    jobs.push(describe(job, await load(ctx.db, job.payload), held.leaseMs));
  }
  return jobs;
}

/** The claim itself: looks, takes for real, takes over what somebody lost. Does not write the holder's row. */
export async function takeJobs(
  ctx: MutationCtx,
  holder: Holder,
  n: number,
  request: ClaimRequest,
  now: number,
): Promise<Claimed> {
  const queues = new Map<string, Queue>();
  for (const declared of request.queues) {
    queues.set(declared.name, await declareQueue(ctx.db, declared, now));
  }
  const { cursor } = request;
  // Before anything is taken, so that a string that is no cursor is refused whether or not there is room.
  decodeCursor(cursor);
  const basket = newBasket(holder, n, queues, Math.min(request.max, room(holder)), now);
  if (isFull(basket)) return { leases: [], jobs: [], cursor: cursor ?? "{}", timer: undefined };
  const seen: Look = await ctx.runQuery(
    internal.candidates.look,
    {
      session: holder.session,
      queues: [...queues.values()].map(describeQueue),
      max: basket.max,
      now,
      ...(cursor === undefined ? {} : { cursor }),
    },
    { useStaleSnapshot: true },
  );
  for (const id of seen.picks) await take(ctx, basket, id);
  if (!isFull(basket) && seen.expired !== null) {
    // Its jobs lie in this transaction's own writes, which no snapshot shows: they are taken by their ids.
    for (const id of await takeOver(ctx, seen.expired, now)) await take(ctx, basket, id);
  }
  return {
    leases: basket.leases,
    jobs: basket.jobs,
    cursor: nextCursor(cursor, seen.scans, basket),
    timer: seen.timer,
  };
}

function describeQueue({ name, shardsEver, epoch, config }: Queue) {
  return { name, shards: shardsEver, epoch, leaseMs: config.leaseMs };
}

// --- Taking -------------------------------------------------------------------------------------

interface Basket {
  holder: Holder;
  n: number;
  queues: ReadonlyMap<string, Queue>;
  max: number;
  now: number;
  leases: HeldLease[];
  jobs: ClaimedJob[];
  bytes: number;
  /** Stopped by bytes: what comes next is for the next claim. */
  full: boolean;
  /** Jobs taken, or found not to be pending: their old keys are dead. */
  dealtWith: Set<Id<"jobs">>;
}

function newBasket(
  holder: Holder,
  n: number,
  queues: Basket["queues"],
  max: number,
  now: number,
): Basket {
  const empty = { leases: [], jobs: [], bytes: 0, full: false, dealtWith: new Set<Id<"jobs">>() };
  return { holder, n, queues, max, now, ...empty };
}

function isFull(basket: Basket): boolean {
  return basket.full || basket.leases.length >= basket.max;
}

/** Takes one job if it is still to be had. The read is real: whoever else takes or cancels it conflicts with us. */
async function take(ctx: MutationCtx, basket: Basket, id: Id<"jobs">): Promise<void> {
  if (isFull(basket)) return;
  const job = await ctx.db.get("jobs", id);
  if (job?.status !== "pending") {
    basket.dealtWith.add(id);
    return;
  }
  const queue = basket.queues.get(job.queue);
  // Only a job taken over may be of another queue. It is pending again, for those who serve it.
  if (queue === undefined) return;
  const payload = await load(ctx.db, job.payload);
  const bytes = getConvexSize(payload);
  // The first is taken whatever its size, or a large job would never be.
  if (basket.jobs.length > 0 && basket.bytes + bytes > CLAIM_MAX_BYTES) {
    basket.full = true;
    return;
  }
  const leased = await lease(ctx.db, job, basket.holder, basket.now);
  const { leaseMs } = queue.config;
  basket.bytes += bytes;
  basket.dealtWith.add(id);
  basket.leases.push({ id, queue: job.queue, attempt: leased.attempt, n: basket.n, leaseMs });
  basket.jobs.push(describe(leased, payload, leaseMs));
}

function describe(job: Doc<"jobs">, payload: Value, leaseMs: number): ClaimedJob {
  const { queue, attempt, failures, resets, enqueuedAt } = job;
  return { id: job._id, queue, payload, attempt, failures, resets, leaseMs, enqueuedAt };
}

// --- The next cursor ----------------------------------------------------------------------------

/** The cursor with which to look next: raised where rows were dealt with, and as it was everywhere else. */
function nextCursor(before: string | undefined, scans: readonly Scan[], basket: Basket): string {
  const next = decodeCursor(before);
  for (const scan of scans) {
    const raised = deadBelow(scan, basket.dealtWith);
    if (raised === null) continue;
    const epoch = basket.queues.get(scan.queue)!.epoch;
    let known = next.get(scan.queue);
    if (known?.epoch !== epoch) {
      known = { epoch, bounds: [] };
      next.set(scan.queue, known);
    }
    const key = higher(boundOf([known], epoch, scan.order, scan.shard), raised);
    const bound: Bound = { order: scan.order, shard: scan.shard, ...key };
    known.bounds = [...known.bounds.filter((b) => !isSamePlace(b, bound)), bound];
  }
  return encodeCursor(next);
}

/** Up to where all rows of a scan are dealt with; it never passes one that was seen and not taken. */
function deadBelow(scan: Scan, dealtWith: ReadonlySet<Id<"jobs">>): Key | null {
  let below: Key | null = null;
  for (const row of scan.rows) {
    if (!dealtWith.has(row.id)) return below;
    below = justAfter(row.key);
  }
  return scan.end ?? below;
}

function higher(a: Key, b: Key): Key {
  return compareKeys(a, b) >= 0 ? a : b;
}

function isSamePlace(a: Bound, b: Bound): boolean {
  return a.order === b.order && a.shard === b.shard;
}

/**
 * Taking: a claim's handling of each job that it has picked. Every job is read for real before it is taken: any other
 * transaction that takes, cancels, pauses or moves it conflicts with this one, and one of the two retries.
 */
import type { Value } from "convex/values";
import {
  CLAIM_MAX_BYTES,
  LANE_WATCH_MS,
  msOfCommit,
  type ClaimedJob,
  withoutUndefined,
} from "../../shared/index.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import type { MutationCtx } from "../_generated/server.js";
import { withinDeadline } from "../edges/deadlines.js";
import { rulesOf, type Rules } from "../rows/jobRules.js";
import type { HeldLease, Session } from "../rows/sessions.js";
import { aboutJob, log } from "../rows/log.js";
import { isClaimable, mayTake } from "../edges/mayTake.js";
import { costOf, type Offer } from "../rows/conditions.js";
import { hasReadMuch, load, sizeOf } from "../rows/payloads.js";
import { timeoutOf } from "../edges/processTime.js";
import type { Queue } from "../rows/queues.js";
import { lease } from "../edges/transitions.js";
import { callOffWake } from "../edges/wakes.js";

type Job = Doc<"jobs">;

interface For {
  session: Session;
  callSeq: number;
  /** From which it may take. */
  queues: ReadonlyMap<string, Queue>;
  offer: Offer;
  max: number;
  now: number;
  /**
   * So many bytes of payloads may go with its jobs; larger payloads are not read, and the lane fetches them with a
   * later step.
   */
  carries: number;
  /** No attempt may end later: the lane's process ends. */
  endsAt: number;
}

export interface LeaseBatch extends For {
  leases: HeldLease[];
  jobs: ClaimedJob[];
  bytes: number;
  cost: number;
  /** Stopped by bytes: the next jobs are for the next claim. */
  full: boolean;
  /** Jobs have been taken with payloads larger than it carries. */
  isHeavy: boolean;
  /** A job has been left that may run for longer than the process does. */
  isTooLong: boolean;
  /** The rows of rules that taken jobs have of their own. */
  ruled: Map<string, Id<"jobRules">>;
  /** Jobs taken, or found to be gone from where they were seen: their old keys are dead. */
  dealtWith: Set<Id<"jobs">>;
}

export function newLeaseBatch(by: For): LeaseBatch {
  const empty = { bytes: 0, cost: 0, full: false, isHeavy: false, isTooLong: false };
  const ruled = new Map<string, Id<"jobRules">>();
  const dealtWith = new Set<Id<"jobs">>();
  return { ...by, ...empty, ruled, leases: [], jobs: [], dealtWith };
}

export function isFull(batch: LeaseBatch): boolean {
  return batch.full || batch.leases.length >= batch.max;
}

/**
 * Takes one job if it is still to be had, and still where it was seen: a newer `seq` shows that it has moved in the
 * meantime, and is behind other jobs now. `row` is the job, if this transaction has read it already: many are read at
 * once in the time that one takes.
 */
export async function take(
  ctx: MutationCtx,
  batch: LeaseBatch,
  id: Id<"jobs">,
  seq: bigint,
  row?: Job | null,
): Promise<void> {
  if (isFull(batch)) return;
  const job = row === undefined ? await ctx.db.get("jobs", id) : row;
  if (job === null || !isClaimable(job) || (job.seq as bigint) !== seq) {
    batch.dealtWith.add(id);
    return;
  }
  await takeSeen(ctx, batch, job);
}

/** The same for a job that has been read for real. */
export async function takeSeen(ctx: MutationCtx, batch: LeaseBatch, job: Job): Promise<void> {
  const { offer, cost, session, endsAt, now } = batch;
  const queue = batch.queues.get(job.queue);
  if (queue === undefined) return;
  const rules = await rulesOf(ctx.db, queue, job);
  const taker = { offer, cost, isLane: session.lane !== undefined, endsAt, now };
  switch (mayTake(taker, queue, job, rules)) {
    case "take":
      return await put(ctx, batch, queue, job, rules);
    case "tooLong":
      batch.isTooLong = true;
      return;
    case "leave":
  }
}

async function put(
  ctx: MutationCtx,
  batch: LeaseBatch,
  queue: Queue,
  job: Job,
  rules: Rules,
): Promise<void> {
  const { now } = batch;
  const bytes = sizeOf(job.payload);
  // The first is taken at any size, or a large job would never run.
  if (batch.jobs.length > 0) {
    const isMuch = !("inline" in job.payload) && (await hasReadMuch(ctx));
    batch.full = isMuch || batch.bytes + bytes > CLAIM_MAX_BYTES;
    if (batch.full) return;
  }
  // A mutation handler reads it by itself.
  const isUnasked = batch.session.lane !== undefined && rules.handler?.kind === "mutation";
  const isLeftOut = batch.bytes + bytes > batch.carries;
  const value = isUnasked || isLeftOut ? null : await load(ctx.db, job.payload);
  const payload = { value, bytes, isLeftOut: isLeftOut && !isUnasked };
  const leased = await lease(ctx.db, job, batch.session, now);
  // Where no job is left to workers outside, the wake is about to start.
  if (batch.session.lane === undefined && queue.config.fallbackAfterMs > 0)
    await callOffWake(ctx, job);
  const { traceparent, seq } = job;
  // Of a job whose wait has a span: the row forgets it with the lease.
  const isTraced = traceparent !== undefined && typeof seq === "bigint";
  const claimableAt = isTraced ? msOfCommit(seq) : undefined;
  hold(batch, queue, leased, rules, payload, claimableAt);
  if (job.rules !== undefined) batch.ruled.set(job._id, job.rules);
}

/** A payload as it goes with its job. */
interface Carried {
  value: Value;
  bytes: number;
  isLeftOut: boolean;
}

/** Adds a job that this transaction has leased, by an edge or with its insert. */
export function hold(
  batch: LeaseBatch,
  queue: Queue,
  leased: Job,
  rules: Rules,
  payload: Carried,
  claimableAt?: number,
): void {
  const { now } = batch;
  const { leaseMs, graceMs, ...bounds } = boundsOf(batch, queue, rules);
  const timeoutMs = withinDeadline(leased, bounds.timeoutMs, now);
  log(queue.config, "debug", "attemptStarted", {
    ...{ ...aboutJob(leased), attempt: leased.attempt, worker: leased.worker },
    waitMs: now - leased.enqueuedAt,
  });
  const held: HeldLease = {
    ...{ id: leased._id, attempt: leased.attempt, callSeq: batch.callSeq },
    ...(leaseMs === undefined ? {} : { queue: leased.queue, leaseMs }),
    ...(graceMs === 0 ? {} : { graceMs }),
    ...(timeoutMs === undefined ? {} : { timeoutAt: now + timeoutMs }),
    ...(claimableAt === undefined || batch.session.lane === undefined ? {} : { claimableAt }),
  };
  batch.bytes += payload.bytes;
  batch.isHeavy ||= payload.isLeftOut;
  batch.cost += costOf(leased);
  batch.dealtWith.add(leased._id);
  batch.leases.push(held);
  const claimed = describe(leased, payload.value, held, now);
  batch.jobs.push(claimableAt === undefined ? claimed : { ...claimed, claimableAt });
}

/** A lane is supervised by its scheduled function, and no attempt outlives that. */
function boundsOf(
  { session }: LeaseBatch,
  queue: Queue,
  { leaseMs, graceMs, timeoutMs }: Rules,
): { leaseMs?: number; graceMs: number; timeoutMs: number | undefined } {
  if (session.lane === undefined) return { leaseMs, graceMs, timeoutMs };
  return { graceMs: 0, timeoutMs: timeoutOf(queue, timeoutMs) };
}

/** The job as the worker receives it. A repeated call receives the remaining time of the attempt. */
export function describe(job: Job, payload: Value, held: HeldLease, now: number): ClaimedJob {
  const { queue, attempt, failures = 0, resets = 0, enqueuedAt } = job;
  const { name, priority, group, tags, labels, cost, rounds, traceparent } = job;
  const { leaseMs = LANE_WATCH_MS, timeoutAt, claimableAt } = held;
  const told = {
    ...{ id: job._id, queue, payload, attempt, failures, resets, leaseMs, enqueuedAt },
    ...{ name, priority, group, tags, labels, cost, rounds, traceparent, claimableAt },
    timeoutMs: timeoutAt === undefined ? undefined : Math.max(0, timeoutAt - now),
  };
  return withoutUndefined(told) as ClaimedJob;
}

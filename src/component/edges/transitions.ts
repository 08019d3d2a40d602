/**
 * The edges of a job's life, one function each: the only writer of `jobs`, but for `jobNotes.ts`, which writes notes
 * that are no edges.
 *
 * An edge changes the job's row and its payload's, and adds its effects: the wake of a job that becomes claimable, the due time
 * of one that is put off, and as `ending.ts` of one that ends. Its caller takes the job out of its session's row, or puts it in.
 *
 * All write `seq: commitTs`. Cursors rest on it: a row that becomes claimable has a greater `seq` than any seen before.
 */
import type { Value } from "convex/values";
import {
  EDGES,
  FAILED_BY_MAX,
  mayMove,
  ORDER_BY_COMMIT,
  ORDER_PAUSED,
  type Edge,
} from "../../shared/index.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import type { DatabaseWriter } from "../_generated/server.js";
import type { EdgeCtx } from "../rows/effects.js";
import { rulesOf } from "../rows/jobRules.js";
import { cutError, discard, store, type Stored } from "../rows/payloads.js";
import { wakesOf, type Queue } from "../rows/queues.js";
import { mayComeBack } from "../rows/routes.js";
import { isResultOwed } from "./callbacks.js";
import { callbacksOf, endJob } from "./ending.js";
import { pendingPlace, placeFor } from "./pendingPlace.js";
import { needsWake } from "./wakes.js";

type Job = Doc<"jobs">;
type LeasedTo = Pick<Doc<"sessions">, "_id" | "name">;
type JobFields = Omit<Job, "_id" | "_creationTime">;
/** The fields that an edge writes besides status, order and `seq`. A field given as `undefined` is removed. */
type Changes = { [F in keyof JobFields]?: JobFields[F] | undefined };

/** The fields of a new job. */
export type NewFields = Pick<Job, "payload" | "enqueuedAt"> &
  Partial<
    Pick<
      Job,
      | "name"
      | "priority"
      | "group"
      | "tags"
      | "labels"
      | "prefer"
      | "cost"
      | "rules"
      | "context"
      | "traceparent"
      | "key"
      | "keyUntil"
      | "expiresAt"
      | "deadline"
      | "paused"
      | "ofWorker"
    >
  >;

/** (new) → `pending`, or `scheduled` where it is due later. Inserts only: two enqueues never conflict. */
export async function insertJob(
  ctx: EdgeCtx,
  queue: Queue,
  fields: NewFields,
  dueAt: number | null,
): Promise<Id<"jobs">> {
  const place =
    dueAt === null
      ? { status: "pending" as const, ...(await placeFor(ctx, queue, fields, "new")) }
      : { status: "scheduled" as const, order: dueAt, shard: 0 };
  const { name } = queue;
  const wake = place.status === "pending" ? await needsWake(ctx, queue, fields, place) : null;
  const id = await ctx.db.insert("jobs", {
    ...fields,
    ...place,
    attempt: 0,
    queue: name,
    seq: ctx.db.vars.commitTs,
  });
  if (wake !== null) wakesOf(ctx.effects, queue).ofJobs.push({ job: id, wake, isNew: true });
  if (dueAt !== null)
    ctx.effects.dueTimes.push({ kind: "dispatcher", queue: name, at: dueAt, isNew: true });
  return id;
}

/** The end of {@link insertJob}, in the same transaction: the job names its wake. */
export async function nameWake(
  db: DatabaseWriter,
  job: Id<"jobs">,
  wake: Id<"_scheduled_functions">,
): Promise<void> {
  await db.patch("jobs", job, { wake, seq: db.vars.commitTs });
}

/** `scheduled` → `pending`: it has fallen due. */
export async function promote(ctx: EdgeCtx, job: Job, queue: Queue): Promise<Job> {
  const came = (await isBack(ctx.db, queue, job)) ? "back" : "new";
  return await move(ctx.db, job, "promote", await pendingPlace(ctx, queue, job, came));
}

/**
 * Whether a job that has waited continues an earlier attempt. An item of a ring does where its attempt is to be made
 * again; one that rests has had its turn, also if that failed.
 */
async function isBack(db: DatabaseWriter, queue: Queue, job: Job): Promise<boolean> {
  if (!queue.config.circular) return job.attempt > 0;
  return (job.failures ?? 0) > 0 && (await rulesOf(db, queue, job)).retry.maxAttempts > 1;
}

/** `scheduled` → `scheduled`, until `dueAt`: it could not be promoted. */
export async function postpone(ctx: EdgeCtx, job: Job, dueAt: number): Promise<Job> {
  return await putOff(ctx, job, "postpone", dueAt);
}

/** `pending` → `pending`, out of the range that claims read. */
export async function pause(db: DatabaseWriter, job: Job): Promise<Job> {
  return await move(db, job, "pause", { order: ORDER_PAUSED, paused: true });
}

/** `pending` → `pending`, to the end of its line. */
export async function resume(ctx: EdgeCtx, job: Job, queue: Queue): Promise<Job> {
  const came = job.attempt > 0 && !queue.config.circular ? "back" : "new";
  const place = await pendingPlace(ctx, queue, { ...byApp(job), paused: false }, came);
  return await move(ctx.db, job, "resume", { ...place, paused: undefined });
}

/** The same of a job that is left to certain workers no longer. It has waited longer than new jobs, and goes before them. */
export async function widen(ctx: EdgeCtx, job: Job, queue: Queue): Promise<Job> {
  const { prefer: _, ...freed } = job;
  const place = await pendingPlace(ctx, queue, freed, "back");
  return await move(ctx.db, job, "resume", { ...place, prefer: undefined });
}

/** `pending` → `running`. The new attempt fences off every earlier one. */
export async function lease(
  db: DatabaseWriter,
  job: Job,
  { _id: session, name: worker }: LeasedTo,
  now: number,
): Promise<Job> {
  const changes = { session, worker, startedAt: now, prefer: undefined };
  return await move(db, job, "claim", { attempt: job.attempt + 1, ...changes });
}

/** (new) → `running`: a job that begins with its lease. It has waited elsewhere, and needs neither a place nor a wake. */
export async function insertLeased(
  db: DatabaseWriter,
  { name: queue }: Queue,
  fields: NewFields,
  { _id: session, name: worker }: LeasedTo,
  now: number,
): Promise<Job> {
  const place = { status: "running" as const, order: ORDER_BY_COMMIT, shard: 0 };
  const taken = { attempt: 1, session, worker, startedAt: now, seq: db.vars.commitTs };
  const id = await db.insert("jobs", { ...fields, queue, ...place, ...taken });
  return (await db.get("jobs", id))!;
}

/** `running` → `succeeded`. The result must have been found storable. One of an earlier round goes, as in {@link comeRound}. */
export async function succeed(ctx: EdgeCtx, job: Job, queue: Queue, result: Value): Promise<Job> {
  if (!(await isResultOwed(ctx.db, job))) await discard(ctx, job.result);
  return await end(ctx, job, queue, "succeed", {
    ...askedNoMore,
    result: await store(ctx.db, result, 1),
  });
}

/** How a round of a circular job went. */
export type Round = { result: Stored } | { error: string };

/**
 * `running` → `pending`, at the end of the ring; or `scheduled`, where the queue lets its items rest. The app is told of every
 * round. A result before this one that is still owed to a callback is deleted with that.
 */
export async function comeRound(ctx: EdgeCtx, job: Job, queue: Queue, round: Round): Promise<Job> {
  const { now } = ctx;
  const { restMs } = queue.config;
  if ("result" in round && !(await isResultOwed(ctx.db, job))) await discard(ctx, job.result);
  const changes: Changes = {
    ...unheld,
    rounds: (job.rounds ?? 0) + 1,
    resets: undefined,
    unacknowledged: undefined,
    finishedAt: now,
    // The job has it from before its queue became a ring. Items of a ring have none.
    deadline: undefined,
    ...("result" in round
      ? { result: round.result, failures: undefined, error: undefined, failedBy: undefined }
      : { ...failedOnce(job, round.error) }),
  };
  const worked = { ...job, rounds: changes.rounds! };
  const moved =
    restMs > 0 || !(await mayComeBack(ctx, queue, job))
      ? await putOff(ctx, job, "rest", now + restMs, changes)
      : await move(ctx.db, job, "comeRound", {
          ...changes,
          ...(await pendingPlace(ctx, queue, worked, "round")),
        });
  // The row no longer names the worker of the round that is over.
  const { worker } = job;
  const ended = { ...moved, ...(worker === undefined ? {} : { worker }) };
  const status = "result" in round ? "succeeded" : "failed";
  ctx.effects.callbacks.push(...(await callbacksOf(ctx, queue, ended, status)));
  return moved;
}

/** `running` → `failed`. */
export async function fail(ctx: EdgeCtx, job: Job, queue: Queue, error: string): Promise<Job> {
  return await end(ctx, job, queue, "fail", { ...askedNoMore, ...failedOnce(job, error) });
}

/** `running` → `scheduled`: it failed, or ran too long, and is tried again at `dueAt`. */
export async function backOff(ctx: EdgeCtx, job: Job, error: string, dueAt: number): Promise<Job> {
  return await putOff(ctx, job, "backOff", dueAt, { ...unheld, ...failedOnce(job, error) });
}

/**
 * `running` → `pending`: its session gave it back, or, `unacknowledged`, never learnt that it had it. `scheduled`, of a
 * worker's job without a place to come back to.
 */
export async function release(
  ctx: EdgeCtx,
  job: Job,
  queue: Queue,
  { unacknowledged }: { unacknowledged: boolean },
): Promise<Job> {
  const changes: Changes = {
    ...unheld,
    releases: (job.releases ?? 0) + 1,
    ...(unacknowledged ? { unacknowledged: (job.unacknowledged ?? 0) + 1 } : {}),
  };
  if (!(await mayComeBack(ctx, queue, job)))
    return await putOff(ctx, job, "releaseLater", ctx.now, changes);
  return await move(ctx.db, job, "release", { ...(await backInLine(ctx, queue, job)), ...changes });
}

/** `running` → `scheduled`: its session gave it back until `dueAt`. */
export async function snooze(ctx: EdgeCtx, job: Job, dueAt: number): Promise<Job> {
  return await putOff(ctx, job, "snooze", dueAt, {
    ...unheld,
    releases: (job.releases ?? 0) + 1,
  });
}

/**
 * `running` → `pending`: its session vanished, and a reset is left; or `scheduled`, of a worker's job without a place to
 * come back to.
 */
export async function reset(ctx: EdgeCtx, job: Job, queue: Queue): Promise<Job> {
  const changes: Changes = { ...unheld, resets: (job.resets ?? 0) + 1 };
  if (!(await mayComeBack(ctx, queue, job)))
    return await putOff(ctx, job, "resetLater", ctx.now, changes);
  return await move(ctx.db, job, "reset", { ...(await backInLine(ctx, queue, job)), ...changes });
}

/**
 * `running` → `timedOut`: its session vanished and no reset is left; or, `failed`, it ran too long once too often. With a code, of
 * any job that has not ended: its deadline has passed.
 */
export async function timeOut(
  ctx: EdgeCtx,
  job: Job,
  queue: Queue,
  error: string,
  { failed = false, code }: { failed?: boolean; code?: "deadlineExceeded" } = {},
): Promise<Job> {
  const changes = {
    ...(failed ? failedOnce(job, error) : { error: cutError(error) }),
    ...(code === undefined ? {} : { code }),
  };
  return await end(ctx, job, queue, "timeOut", { ...askedNoMore, ...changes });
}

/** `running` → `canceled`: its cancel was requested, and its session has stopped, failed or vanished. */
export async function stop(ctx: EdgeCtx, job: Job, queue: Queue): Promise<Job> {
  return await end(ctx, job, queue, "stop", { cancelRequestedAt: undefined, paused: undefined });
}

/** `pending` or `scheduled` → `canceled`. A reason takes the place of the last error: the row has room for one of them. */
export async function cancel(ctx: EdgeCtx, job: Job, queue: Queue, reason?: string): Promise<Job> {
  return await end(ctx, job, queue, "cancel", {
    ...(reason === undefined ? {} : { cancelReason: cutError(reason), error: undefined }),
    paused: undefined,
  });
}

/** `pending` or `scheduled` → `failed`: it was not begun in time. */
export async function expire(ctx: EdgeCtx, job: Job, queue: Queue, error: string): Promise<Job> {
  return await end(ctx, job, queue, "expire", { error, paused: undefined });
}

/**
 * A finished job → `pending`. The displayed counts begin anew; `attempt` does not, or a worker of long ago could report
 * for the attempt of today. `keepResult`: a callback that has still to receive the old result will delete it.
 */
export async function retry(
  ctx: EdgeCtx,
  job: Job,
  queue: Queue,
  { keepResult, deadline }: { keepResult: boolean; deadline?: Job["deadline"] },
): Promise<Job> {
  if (!keepResult) await discard(ctx, job.result);
  return await move(ctx.db, job, "retry", {
    ...(await backInLine(ctx, queue, byApp(job))),
    failures: undefined,
    resets: undefined,
    releases: undefined,
    unacknowledged: undefined,
    finishedAt: undefined,
    result: undefined,
    error: undefined,
    expiresAt: undefined,
    code: undefined,
    ...(deadline === undefined ? {} : { deadline }),
    cancelReason: undefined,
    failedBy: undefined,
    retried: true,
  });
}

// --- Shared by edges ---------------------------------------------------------------------------------

/** The session goes, so that no late call finds its name here. */
const unheld = { session: undefined, worker: undefined, startedAt: undefined } satisfies Changes;

/** The job has ended by itself: a request to cancel or pause it came too late. */
const askedNoMore = {
  cancelRequestedAt: undefined,
  cancelReason: undefined,
  paused: undefined,
} satisfies Changes;

function failedOnce(job: Job, error: string): Changes {
  const { worker, failedBy = [] } = job;
  const others = failedBy.filter((name) => name !== worker);
  return {
    failures: (job.failures ?? 0) + 1,
    error: cutError(error),
    ...(worker === undefined ? {} : { failedBy: [...others, worker].slice(-FAILED_BY_MAX) }),
  };
}

/** The fields that every return to `pending` writes: the band of returned jobs, before new ones. */
async function backInLine(ctx: EdgeCtx, queue: Queue, job: Job): Promise<Changes> {
  return { ...unheld, ...(await pendingPlace(ctx, queue, job, "back")) };
}

/** That the job becomes claimable is the app's wish, also of a worker's job: it gets a place as the app's own do. */
function byApp(job: Job): Job {
  return { ...job, ofWorker: false };
}

/** An edge into `scheduled`: the alarm of its segment must come for the job. */
async function putOff(
  ctx: EdgeCtx,
  job: Job,
  edge: Edge,
  dueAt: number,
  changes: Changes = {},
): Promise<Job> {
  ctx.effects.dueTimes.push({ kind: "dispatcher", queue: job.queue, at: dueAt });
  return await move(ctx.db, job, edge, { ...changes, order: dueAt });
}

/** An edge into a finished status. */
async function end(
  ctx: EdgeCtx,
  job: Job,
  queue: Queue,
  edge: Edge,
  changes: Changes,
): Promise<Job> {
  const changed = { ...changes, prefer: undefined, finishedAt: ctx.now };
  const ended = await move(ctx.db, job, edge, changed);
  await endJob(ctx, queue, job, ended);
  return ended;
}

/**
 * Writes one edge, and returns the row as it now is, put together rather than read again. That the job stands at the edge's
 * beginning is the caller's to check.
 */
async function move(db: DatabaseWriter, job: Job, edge: Edge, changes: Changes): Promise<Job> {
  if (!mayMove(edge, job.status)) {
    throw new Error(
      `A ${job.status} job cannot ${edge}; this is a bug in Conveyor (job ${job._id}).`,
    );
  }
  const fields = {
    order: ORDER_BY_COMMIT,
    shard: 0,
    ...changes,
    ...(job.wake === undefined ? {} : { wake: undefined }),
    status: EDGES[edge].to,
    seq: db.vars.commitTs,
  } as Partial<JobFields>;
  await db.patch("jobs", job._id, fields);
  return { ...job, ...fields };
}

/**
 * The edges of a job's life, one function each: the only writer of `jobs.status`, and of all that goes with it.
 *
 * An edge changes the job's row and what hangs on it. Leases are not its business: whoever calls an edge out of
 * `running` takes the job out of its holder's row in the same transaction, and whoever calls `lease` puts it in.
 *
 * All of them write `seq: commitTs`. Cursors rest on that: a row that becomes claimable has a greater `seq` than any
 * that was there to be seen before.
 */
import type { Value } from "convex/values";
import { EDGES, mayMove, ORDER_BY_COMMIT, pendingOrder, type Edge } from "../shared/index.js";
import type { Doc, Id } from "./_generated/dataModel.js";
import type { DatabaseWriter } from "./_generated/server.js";
import { cutError, discard, store, type Stored } from "./payloads.js";

type Job = Doc<"jobs">;
type JobFields = Omit<Job, "_id" | "_creationTime">;
/** What an edge writes besides status, order and `seq`. A field given as `undefined` is removed. */
type Changes = { [F in keyof JobFields]?: JobFields[F] | undefined };

/** (new) → `pending`. Inserts only: two enqueues never meet. */
export async function insertPending(
  db: DatabaseWriter,
  queue: Doc<"queues">,
  payload: Stored,
  now: number,
): Promise<Id<"jobs">> {
  return await db.insert("jobs", {
    queue: queue.name,
    status: "pending",
    order: pendingOrder(false),
    shard: randomShard(queue),
    seq: db.vars.commitTs,
    payload,
    enqueuedAt: now,
    attempt: 0,
    failures: 0,
    resets: 0,
    releases: 0,
  });
}

/** `pending` → `running`. The new attempt fences off every earlier one. */
export async function lease(
  db: DatabaseWriter,
  job: Job,
  holder: { _id: Id<"holders">; name: string },
  now: number,
): Promise<Job> {
  return await move(db, job, "claim", {
    attempt: job.attempt + 1,
    holder: holder._id,
    worker: holder.name,
    startedAt: now,
  });
}

/** `running` → `succeeded`. The result must have been found storable. */
export async function succeed(
  db: DatabaseWriter,
  job: Job,
  result: Value,
  now: number,
): Promise<Job> {
  return await move(db, job, "succeed", { result: await store(db, result), finishedAt: now });
}

/** `running` → `failed`. */
export async function fail(db: DatabaseWriter, job: Job, error: string, now: number): Promise<Job> {
  return await move(db, job, "fail", {
    failures: job.failures + 1,
    error: cutError(error),
    finishedAt: now,
  });
}

/** `running` → `pending`: its holder gave it back, or, `unacknowledged`, never learnt that it had it. */
export async function release(
  db: DatabaseWriter,
  job: Job,
  queue: Doc<"queues">,
  { unacknowledged }: { unacknowledged: boolean },
): Promise<Job> {
  return await move(db, job, "release", {
    ...backInLine(queue),
    releases: job.releases + 1,
    ...(unacknowledged ? { unacknowledged: (job.unacknowledged ?? 0) + 1 } : {}),
  });
}

/** `running` → `pending`: its holder vanished, and a reset is left. */
export async function reset(db: DatabaseWriter, job: Job, queue: Doc<"queues">): Promise<Job> {
  return await move(db, job, "reset", { ...backInLine(queue), resets: job.resets + 1 });
}

/** `running` → `timedOut`: its holder vanished, and no reset is left. */
export async function timeOut(
  db: DatabaseWriter,
  job: Job,
  error: string,
  now: number,
): Promise<Job> {
  return await move(db, job, "timeOut", { error: cutError(error), finishedAt: now });
}

/** `pending` or `scheduled` → `canceled`. */
export async function cancel(db: DatabaseWriter, job: Job, now: number): Promise<Job> {
  return await move(db, job, "cancel", { finishedAt: now });
}

/**
 * A finished job → `pending`. What people count begins anew; `attempt` does not, or a worker of long ago could report
 * for the attempt of today. `keepResult`: somebody who has still to be told the old result will delete it.
 */
export async function retry(
  db: DatabaseWriter,
  job: Job,
  queue: Doc<"queues">,
  { keepResult }: { keepResult: boolean },
): Promise<Job> {
  if (!keepResult) await discard(db, job.result);
  return await move(db, job, "retry", {
    ...backInLine(queue),
    failures: 0,
    resets: 0,
    releases: 0,
    unacknowledged: undefined,
    finishedAt: undefined,
    result: undefined,
    error: undefined,
  });
}

/**
 * What every return to `pending` writes: the band of returned jobs, before new ones, and a shard at random.
 * The holder goes, so that nobody's late word finds its name here.
 */
function backInLine(queue: Doc<"queues">): Changes {
  return {
    order: pendingOrder(true),
    shard: randomShard(queue),
    holder: undefined,
    worker: undefined,
    startedAt: undefined,
  };
}

function randomShard(queue: Doc<"queues">): number {
  return Math.floor(Math.random() * queue.config.shards);
}

/**
 * Writes one edge, and returns the row as it now is. That the job stands at the edge's beginning is the caller's to
 * check: here it is a bug if it does not. The row is put together rather than read again: one read less at each edge.
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
    status: EDGES[edge].to,
    seq: db.vars.commitTs,
  } as Partial<JobFields>;
  await db.patch("jobs", job._id, fields);
  return { ...job, ...fields };
}

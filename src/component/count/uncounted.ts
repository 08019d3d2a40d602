/**
 * Jobs that go before they were counted: a job that is deleted, or made claimable again, so soon after it came in or
 * ended that no count has passed it. The transaction that does so inserts a small row, which the count takes for the
 * job.
 *
 * Handshake: this reads for real how far the count has come, and the count reads these rows for real. So of a
 * transaction that removes a job, and one that counts, one retries and sees the other: no job is missed, and none is
 * counted twice. A count may read a snapshot in which the job still exists; it leaves out jobs of which it has a row.
 *
 * Reads for real: `counted` and `arrivals`; where a row is needed, the alarm of the count. Writes: inserts into
 * `ended`, `arrived`, and that alarm where there is none. Conflicts with: a count that passes the job at this very
 * moment, which is every few seconds at most.
 */
import { ARRIVALS_RARE_MS, isFinished, msOfCommit } from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { DatabaseReader, MutationCtx } from "../_generated/server.js";
import { ensureArrivals, findArrivals } from "./arrivals.js";
import { compareKeys } from "../rows/cursors.js";
import { findCounted, keyOfStatus, type FinishedKeys } from "./finished.js";
import { isMovedHere } from "../rows/jobs.js";
import { ensureUpkeep } from "./rollUp.js";

/** How far jobs have been counted, read once per transaction. */
export interface CountedUpTo {
  arrivals?: number;
  ends?: Map<string, FinishedKeys>;
}

/** A job is about to be deleted. */
export async function noteDeleted(
  ctx: MutationCtx,
  job: Doc<"jobs">,
  counted: CountedUpTo,
): Promise<void> {
  const now = Date.now();
  // It came in this very transaction, and never existed for any other.
  if (isMovedHere(job) && job.enqueuedAt === now) return;
  await noteEndGone(ctx, job, counted);
  counted.arrivals ??= (await findArrivals(ctx.db))?.upTo ?? 0;
  if (job._creationTime <= counted.arrivals) return;
  const { _id, _creationTime, queue, enqueuedAt } = job;
  await ctx.db.insert("arrived", { job: _id, creationTime: _creationTime, queue, enqueuedAt });
  await ensureArrivals(ctx, now + ARRIVALS_RARE_MS, now);
}

/** A job is about to be deleted or retried: if it has finished, that may not have been counted. */
export async function noteEndGone(
  ctx: MutationCtx,
  job: Doc<"jobs">,
  counted: CountedUpTo = {},
): Promise<void> {
  const { _id, _creationTime, queue, status, enqueuedAt, startedAt, finishedAt } = job;
  if (!isFinished(status)) return;
  const seq = isMovedHere(job) ? undefined : (job.seq as bigint);
  if (seq !== undefined) {
    const upTo = keyOfStatus(await countedOf(ctx.db, queue, counted), status);
    if (compareKeys({ seq, creationTime: _creationTime }, upTo) < 0) return;
  }
  const now = Date.now();
  await ctx.db.insert("ended", {
    ...{ queue, job: _id, creationTime: _creationTime, status, enqueuedAt },
    ...(seq === undefined ? {} : { seq }),
    endedAt: seq === undefined ? now : msOfCommit(seq),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(finishedAt === undefined ? {} : { finishedAt }),
  });
  await ensureUpkeep(ctx, queue, now);
}

async function countedOf(
  db: DatabaseReader,
  queue: string,
  counted: CountedUpTo,
): Promise<FinishedKeys> {
  counted.ends ??= new Map();
  const known = counted.ends.get(queue) ?? (await findCounted(db, queue))?.upTo ?? [];
  counted.ends.set(queue, known);
  return known;
}

/**
 * Position: how many jobs would be claimed before one that waits, and when it will begin.
 *
 * The jobs before it in its queue's list of waiting jobs: jobs of higher priorities, returned jobs, and jobs that came
 * earlier. Some of them may be for other workers than its own (labels), and claims keep to this order as nearly as
 * shards let them: it is a place in line, not a promise.
 *
 * Reads for real: the job, its queue's row, routes and public cursors, the jobs before it up to 100, and one of each
 * place that is not empty; the minutes of the last hour, up to five in which a job ended. Writes nothing. A subscription is invalidated when a job
 * before it moves.
 */
import {
  POSITION_MAX,
  startsAfter,
  STARTS_FROM_MINUTES,
  STARTS_WITHIN_MS,
  type Position,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { DatabaseReader, QueryCtx } from "../_generated/server.js";
import { findJobOf } from "../rows/jobs.js";
import { findQueue, type Queue } from "../rows/queues.js";
import { Sections } from "./concatStreams.js";
import { sectionsOf } from "./statusSections.js";

/** `null` for a job that does not wait to be claimed, or, with `queue`, is of another queue. */
export async function position(
  ctx: QueryCtx,
  id: string,
  ofQueue?: string,
): Promise<Position | null> {
  const job = await findJobOf(ctx.db, id, ofQueue);
  if (job?.status !== "pending" || job.paused === true) return null;
  const queue = await findQueue(ctx.db, job.queue);
  return queue === null ? null : await positionOf(ctx.db, queue, job, Date.now());
}

/** Of a job that waits and is not paused. */
export async function positionOf(
  db: DatabaseReader,
  queue: Queue,
  job: Doc<"jobs">,
  now: number,
): Promise<Position> {
  const before = await jobsBefore(db, queue, job);
  const more = before > POSITION_MAX;
  const ahead = Math.min(before, POSITION_MAX);
  if (more || queue.isPaused) return { ahead, more };
  const afterMs = startsAfter(ahead, await endedByMinute(db, queue.name, now));
  return { ahead, more, ...(afterMs === null ? {} : { startsAt: now + afterMs }) };
}

async function jobsBefore(db: DatabaseReader, queue: Queue, job: Doc<"jobs">): Promise<number> {
  const waiting = new Sections(await sectionsOf(db, queue, "pending", "next"));
  let before = 0;
  for await (const { _id } of waiting) {
    if (_id === job._id || before > POSITION_MAX) break;
    before += 1;
  }
  return before;
}

/** How many jobs ended by themselves in each of the last minutes in which at least one did. */
async function endedByMinute(db: DatabaseReader, queue: string, now: number): Promise<number[]> {
  const minutes = db
    .query("periods")
    .withIndex("queue", (q) =>
      q
        .eq("queue", queue)
        .eq("per", "minute")
        .gte("at", now - STARTS_WITHIN_MS),
    )
    .order("desc");
  const ended: number[] = [];
  // A minute has a row, too, if jobs only came in it, began or were canceled.
  for await (const { succeeded, failed, timedOut } of minutes) {
    const jobs = succeeded + failed + timedOut;
    if (jobs > 0) ended.push(jobs);
    if (ended.length === STARTS_FROM_MINUTES) break;
  }
  return ended;
}

/**
 * The dispatcher: makes jobs claimable when they fall due.
 *
 * A transaction that makes a job `scheduled` arms the alarm of the segment in which it is due, where there is none. The
 * alarm rings at the segment's end and promotes the jobs in it, in batches. It is bounded by its own segment and never
 * by the clock: that of another machine may be ahead or behind.
 *
 * Reads for real: the alarm's row, the queue's row, the jobs of the segment, and before the alarm goes all of the
 * segment; routes of jobs that have one; in a pushed queue, the door where the gate shows a polling lane. Snapshot
 * reads: that gate; after a full batch, waiting jobs. Writes: these jobs, the alarm's row (`timers`); inserts events;
 * schedules a wake where no lane polls. Conflicts with: a cancel, pause, deletion or expiry of a job of the segment;
 * the lane that opens or shuts the door; an enqueue or a retry that is late for it; for wide segments see
 * `segments.ts`.
 */
import { v } from "convex/values";
import {
  commitTimeOf,
  errorText,
  POSTPONE_MS,
  PROMOTE_BEHIND_MS,
  PROMOTE_LOOKS_MAX,
  PROMOTE_MAX,
  PROMOTE_PAUSE_MS,
} from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Doc } from "../_generated/dataModel.js";
import { internalQuery, type DatabaseReader, type MutationCtx } from "../_generated/server.js";
import type { Next } from "../loops/loop.js";
import { boundOf, pendingFrom, publicBounds } from "../rows/cursors.js";
import { recordEvent } from "../rows/events.js";
import { aboutJob, log } from "../rows/log.js";
import { findQueue, getQueue, type Queue } from "../rows/queues.js";
import { placesOf } from "../rows/routes.js";
import { defineSegmentLoop, type SegmentAlarm } from "../loops/segments.js";
import type { EdgeCtx } from "../rows/effects.js";
import { withEffects } from "./applyEffects.js";
import { postpone, promote } from "./transitions.js";

/** Rows asked for where none is expected: dead index entries are walked about as many at a time. */
const EMPTY_ROWS = 64;

export const promoteDue = defineSegmentLoop({ kind: "dispatcher", run: promoteBatch });

// --- Promotion ----------------------------------------------------------------------------------

/** Where the next batch of a segment begins: dead index entries of the jobs before it are not walked over again. */
interface Place {
  order: number;
  seq: bigint;
  creationTime: number;
}

async function promoteBatch(ctx: MutationCtx, alarm: SegmentAlarm, now: number): Promise<Next> {
  const { row } = alarm;
  const queue = await getQueue(ctx.db, alarm.queue);
  queue.routesKept = { rows: null };
  // Halved each time that a ring failed, in a way that no code can catch; at last one job, and then that job is put off.
  const max = PROMOTE_MAX >> (row.failures ?? 0);
  const after: Place | null = row.position?.after ?? null;
  const jobs = await jobsOf(ctx.db, alarm, after, Math.max(1, max));
  const failed = max === 0 ? jobs.map((job) => ({ job, error: "The dispatcher failed." })) : [];
  await withEffects(ctx, { now }, async (ctx) => {
    if (max > 0) failed.push(...(await promoteAll(ctx, queue, jobs)));
    await putOff(ctx, queue, failed);
  });
  const next = await goOn(
    ctx,
    alarm,
    { after, jobs, isFull: jobs.length >= Math.max(1, max) },
    now,
  );
  return max === 0 && next !== "gone" ? { ...next, failures: 0 } : next;
}

interface Failed {
  job: Doc<"jobs">;
  error: string;
}

/** Promotes each, and returns the jobs that failed: an edge that throws has written nothing of its job. */
async function promoteAll(ctx: EdgeCtx, queue: Queue, jobs: Doc<"jobs">[]): Promise<Failed[]> {
  const failed: Failed[] = [];
  for (const job of jobs) {
    try {
      await promote(ctx, job, queue);
      log(queue.config, "debug", "jobPromoted", aboutJob(job));
    } catch (error) {
      failed.push({ job, error: errorText(error) });
    }
  }
  return failed;
}

/** Jobs that cannot be promoted are tried again later. They must stop neither the other jobs nor the alarm. */
async function putOff(ctx: EdgeCtx, queue: Queue, failed: Failed[]): Promise<void> {
  const [first] = failed;
  if (first === undefined) return;
  for (const { job } of failed) await postpone(ctx, job, ctx.now + POSTPONE_MS);
  const message =
    `${failed.length} jobs could not be made claimable, and are tried again in ${POSTPONE_MS / 60_000} minutes; ` +
    `the first of them: ${first.error}`;
  const details = { jobs: failed.slice(0, 16).map(({ job }) => job._id) };
  await recordEvent(ctx, { kind: "jobsPostponed", queue: queue.name, message, details });
}

/** Arms the alarm for the segment's next batch, or lets it go, after a real read that nothing is left. */
async function goOn(
  ctx: MutationCtx,
  alarm: SegmentAlarm,
  batch: { after: Place | null; jobs: Doc<"jobs">[]; isFull: boolean },
  now: number,
): Promise<Next> {
  if (batch.isFull) {
    const behind: boolean = await ctx.runQuery(
      internal.edges.dispatcher.isDispatchBehind,
      { queue: alarm.queue, now },
      { useStaleSnapshot: true },
    );
    const last = batch.jobs.at(-1)!;
    const { order, seq, _creationTime: creationTime } = last;
    const after = { order, seq: seq as bigint, creationTime };
    return { at: now + (behind ? PROMOTE_PAUSE_MS : 0), position: { after } };
  }
  // A job that was late may have come in below the place from which this batch was read.
  const isDone =
    batch.after === null || (await jobsOf(ctx.db, alarm, null, EMPTY_ROWS)).length === 0;
  return isDone ? "gone" : { at: now, position: {} };
}

/** The scheduled jobs of a segment, in the order in which they are due, from a place on. */
async function jobsOf(
  db: DatabaseReader,
  { queue, segment, end }: SegmentAlarm,
  after: Place | null,
  max: number,
): Promise<Doc<"jobs">[]> {
  if (after === null) return await dueIn(db, queue, { gte: segment.start }, end, max);
  // An index range cannot begin at a tuple: the rest of one commit, of one instant, and of the segment.
  const jobs: Doc<"jobs">[] = [];
  for (const range of ["commit", "instant"] as const) {
    if (jobs.length < max) jobs.push(...(await dueAt(db, queue, after, range, max - jobs.length)));
  }
  if (jobs.length === max) return jobs;
  return [...jobs, ...(await dueIn(db, queue, { gt: after.order }, end, max - jobs.length))];
}

async function dueAt(
  db: DatabaseReader,
  queue: string,
  { order, seq, creationTime }: Place,
  range: "commit" | "instant",
  max: number,
): Promise<Doc<"jobs">[]> {
  return await db
    .query("jobs")
    .withIndex("status", (q) => {
      const at = q.eq("queue", queue).eq("status", "scheduled").eq("order", order).eq("shard", 0);
      return range === "commit"
        ? at.eq("seq", seq).gt("_creationTime", creationTime)
        : at.gt("seq", seq);
    })
    .take(max);
}

async function dueIn(
  db: DatabaseReader,
  queue: string,
  from: { gte: number } | { gt: number },
  end: number,
  max: number,
): Promise<Doc<"jobs">[]> {
  return await db
    .query("jobs")
    .withIndex("status", (q) => {
      const scheduled = q.eq("queue", queue).eq("status", "scheduled");
      const above =
        "gte" in from ? scheduled.gte("order", from.gte) : scheduled.gt("order", from.gt);
      return above.lt("order", end);
    })
    .take(max);
}

/**
 * Whether claims are so far behind that the other due jobs may as well wait where they are: a full batch has been
 * claimable for seconds. A few jobs that no worker can take, for want of one with their labels, do not count as a
 * backlog. To be called with `useStaleSnapshot`.
 */
export const isDispatchBehind = internalQuery({
  args: { queue: v.string(), now: v.number() },
  returns: v.boolean(),
  handler: async (ctx, args): Promise<boolean> => {
    const queue = await findQueue(ctx.db, args.queue);
    if (queue === null) return false;
    const upTo = commitTimeOf(args.now - PROMOTE_BEHIND_MS);
    const bounds = [await publicBounds(ctx.db, queue.name)];
    let left = PROMOTE_MAX;
    for (const { order, shard } of (await placesOf(ctx.db, queue)).slice(0, PROMOTE_LOOKS_MAX)) {
      const from = boundOf(bounds, queue.epoch, order, shard);
      const place = { queue: queue.name, order, shard };
      left -= (await pendingFrom(ctx.db, place, from, left, upTo)).length;
      if (left <= 0) return true;
    }
    return false;
  },
});

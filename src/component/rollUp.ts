/**
 * The roll-up: counts finished jobs into `minutes`, some seconds behind, so that no job's own life costs a write more.
 *
 * It follows each finished status by the whole key, from one snapshot at a time: what that snapshot does not show has a
 * greater `seq`, so that every job that is found finished is counted exactly once. A job that somebody retries or
 * deletes before it was counted is not; one that is retried later and finishes again is counted again. A round of a
 * circular queue finishes nothing and is not counted here: the item says how often it came round.
 *
 * Handshake: a worker that finishes jobs need not know of the roll-up. The janitor's sweeps, of which one comes after the
 * last lease has ended, make sure of it where they see that something has finished; what finishes jobs without a lease, or
 * without a call of whoever holds it, does so itself (`ensureUpkeep`, `ensureCounted`), and so does a lane that calls off
 * the sweep. A run that finds little reads everything above its keys for real before its alarm goes, so of it and a job that
 * finishes meanwhile one comes later and sees the other.
 *
 * Looks: finished jobs above its keys. Reads for real: its alarm, its `counted` row, the minutes it adds to; before it
 * goes, finished jobs above its keys. Writes: those rows but jobs. Conflicts with: `ensureUpkeep`; when it goes, with whatever
 * finishes a job of the queue.
 */
import { v, type Infer } from "convex/values";
import {
  addHistograms,
  bucketOf,
  emptyHistogram,
  FINISHED_STATUSES,
  isFinished,
  minuteOf,
  RANGE_ROWS,
  ROLL_UP_EVERY_MS,
  ROLL_UP_JOBS,
  ROLL_UP_STAYS_JOBS,
  vFinishedStatus,
  type FinishedStatus,
} from "../shared/index.js";
import { internal } from "./_generated/api.js";
import type { Doc, Id } from "./_generated/dataModel.js";
import { internalQuery, type DatabaseReader, type MutationCtx } from "./_generated/server.js";
import { ensureAlarm, rearm, ringOf } from "./alarms.js";
import { justAfter } from "./cursors.js";
import { finishedFrom, keyOfStatus, tiedWithLast } from "./finished.js";
import { ensurePurge } from "./purge.js";
import { minuteFields } from "./tables/upkeep.js";

/**
 * Makes sure that what has finished in a queue is counted soon, and deleted when its time comes: the roll-up, which finds
 * every finished job, makes sure of the purge. One point read when all is well.
 */
export async function ensureUpkeep(
  ctx: MutationCtx,
  queue: string,
  now: number,
  withinMs: number = ROLL_UP_EVERY_MS,
): Promise<void> {
  const key = { kind: "rollUp" as const, queue };
  await ensureAlarm(ctx, key, internal.rollUp.ring, now + withinMs, now);
}

/**
 * The same for the queues of those among these jobs that this transaction has finished. For who does not speak as their
 * holder: a sweep looks at the queues of holders that have called a moment ago, and that one may be silent or gone.
 */
export async function ensureCounted(
  ctx: MutationCtx,
  ids: readonly Id<"jobs">[],
  now: number,
): Promise<void> {
  const jobs = await Promise.all(ids.map((id) => ctx.db.get("jobs", id)));
  const finished = jobs.filter((job) => job !== null && isFinished(job.status));
  for (const queue of new Set(finished.map((job) => job!.queue)))
    await ensureUpkeep(ctx, queue, now);
}

export const ring = ringOf(async (ctx, alarm): Promise<void> => {
  const queue = alarm.queue!;
  const now = Date.now();
  const row = await findCounted(ctx.db, queue);
  const upTo = row?.upTo ?? [];
  const found: Found = await ctx.runQuery(
    internal.rollUp.look,
    { queue, upTo },
    { useStaleSnapshot: true },
  );
  if (found.count === 0) {
    if (await hasMore(ctx.db, queue, upTo)) await rearm(ctx, alarm, internal.rollUp.ring, now);
    else await ctx.db.delete("timers", alarm._id);
    return;
  }
  for (const minute of found.minutes) await add(ctx, queue, minute);
  if (row === null) await ctx.db.insert("counted", { queue, upTo: found.upTo });
  else await ctx.db.patch("counted", row._id, { upTo: found.upTo });
  const ended = FINISHED_STATUSES.filter((status) => found.minutes.some((m) => m[status] > 0));
  await ensurePurge(ctx, queue, ended, now);
  if (found.count < ROLL_UP_STAYS_JOBS && !(await hasMore(ctx.db, queue, found.upTo))) {
    await ctx.db.delete("timers", alarm._id);
    return;
  }
  // Where nothing can be armed, the row is left as it is: soon overdue, and replaced by whoever meets it.
  await rearm(ctx, alarm, internal.rollUp.ring, found.isFull ? now : now + ROLL_UP_EVERY_MS);
});

/** How far a queue's finished jobs have been counted, or `null` if none ever was. */
export async function findCounted(
  db: DatabaseReader,
  queue: string,
): Promise<Doc<"counted"> | null> {
  return await db
    .query("counted")
    .withIndex("queue", (q) => q.eq("queue", queue))
    .unique();
}

// --- Looking ------------------------------------------------------------------------------------

const vKeys = v.array(
  v.object({ status: vFinishedStatus, seq: v.int64(), creationTime: v.number() }),
);

const vMinute = v.object(minuteFields);
type Minute = Infer<typeof vMinute>;

const vFound = v.object({
  count: v.number(),
  /** Whether there is more than one run counts. */
  isFull: v.boolean(),
  minutes: v.array(vMinute),
  upTo: vKeys,
});
type Found = Infer<typeof vFound>;

/** Counts what has finished above these keys, as one snapshot shows it. May not be called but with `useStaleSnapshot`. */
export const look = internalQuery({
  args: { queue: v.string(), upTo: vKeys },
  returns: vFound,
  handler: async (ctx, { queue, upTo }): Promise<Found> => {
    const minutes = new Map<number, Minute>();
    const keys: Infer<typeof vKeys> = [];
    let found = 0;
    let room = ROLL_UP_JOBS;
    for (const status of FINISHED_STATUSES) {
      const from = keyOfStatus(upTo, status);
      const jobs = room === 0 ? [] : await finishedFrom(ctx.db, queue, status, from, room);
      // None of its key may be left behind: the next run begins after it.
      if (room > 0 && jobs.length === room)
        jobs.push(...(await tiedWithLast(ctx.db, queue, status, jobs)));
      for (const job of jobs) count(minutes, status, job);
      found += jobs.length;
      room = Math.max(0, room - jobs.length);
      const last = jobs.at(-1);
      const key =
        last === undefined
          ? from
          : justAfter({ seq: last.seq as bigint, creationTime: last._creationTime });
      keys.push({ status, ...key });
    }
    return {
      count: found,
      isFull: room === 0,
      minutes: [...minutes.values()],
      upTo: keys,
    };
  },
});

function count(minutes: Map<number, Minute>, status: FinishedStatus, job: Doc<"jobs">): void {
  const minute = minuteOf(job.seq as bigint);
  const counts = minutes.get(minute) ?? emptyMinute(minute);
  minutes.set(minute, counts);
  counts[status] += 1;
  // A job that nobody ever began neither waited for its start nor ran.
  if (job.startedAt === undefined || job.finishedAt === undefined) return;
  counts.waitMs[bucketOf(job.startedAt - job.enqueuedAt)]! += 1;
  counts.runMs[bucketOf(job.finishedAt - job.startedAt)]! += 1;
}

function emptyMinute(minute: number): Minute {
  const counts = { succeeded: 0, failed: 0, canceled: 0, timedOut: 0 };
  return { minute, ...counts, waitMs: emptyHistogram(), runMs: emptyHistogram() };
}

// --- Acting -------------------------------------------------------------------------------------

async function add(ctx: MutationCtx, queue: string, counts: Minute): Promise<void> {
  const row = await ctx.db
    .query("minutes")
    .withIndex("queue", (q) => q.eq("queue", queue).eq("minute", counts.minute))
    .unique();
  if (row === null) {
    await ctx.db.insert("minutes", { queue, ...counts });
    return;
  }
  const sum = (status: FinishedStatus) => row[status] + counts[status];
  await ctx.db.patch("minutes", row._id, {
    succeeded: sum("succeeded"),
    failed: sum("failed"),
    canceled: sum("canceled"),
    timedOut: sum("timedOut"),
    waitMs: addHistograms(row.waitMs, counts.waitMs),
    runMs: addHistograms(row.runMs, counts.runMs),
  });
}

/** Those of these queues in which something has finished that was not counted. For looks: it depends on what finishes. */
export async function findUncounted(
  db: DatabaseReader,
  queues: readonly string[],
): Promise<string[]> {
  const found = await Promise.all(
    queues.map(async (queue) => {
      const upTo = (await findCounted(db, queue))?.upTo ?? [];
      return (await hasMore(db, queue, upTo)) ? [queue] : [];
    }),
  );
  return found.flat();
}

/** Whether anything has finished above these keys. For real: whatever finishes now conflicts with whoever asks. */
async function hasMore(
  db: DatabaseReader,
  queue: string,
  upTo: Infer<typeof vKeys>,
): Promise<boolean> {
  for (const status of FINISHED_STATUSES) {
    const from = keyOfStatus(upTo, status);
    if ((await finishedFrom(db, queue, status, from, RANGE_ROWS)).length > 0) return true;
  }
  return false;
}

/** The tables of upkeep and statistics. Each comment is the table's concurrency document. */
import { defineTable } from "convex/server";
import { v } from "convex/values";
import { EVER, vCounts, vFinishedStatus, vQueueFlow, vSample } from "../../../shared/index.js";
import { vBound, vKey, vTimerKind } from "../stored.js";

/** Counts of a minute, an hour or a day. */
const countFields = {
  /** Jobs that came in. */
  enqueued: v.number(),
  /** Jobs with a last attempt that began then, counted when they ended. */
  started: v.number(),
  succeeded: v.number(),
  failed: v.number(),
  canceled: v.number(),
  timedOut: v.number(),
  /**
   * Of jobs that ended then, milliseconds from enqueue to start and from start to finish: jobs in each bucket of
   * `shared/buckets.ts`. Empty where none of the ended jobs had been begun.
   */
  waitMs: v.array(v.number()),
  runMs: v.array(v.number()),
  /** The same durations, added up. */
  waitSumMs: v.number(),
  runSumMs: v.number(),
};

export const upkeepTables = {
  /**
   * Every scheduled function that must exist. A row is the promise of one call: `dueAt` is its time, `scheduledId` its
   * scheduled function. A transaction that finds one overdue by 5 s takes it for dead and replaces it.
   *
   * The janitor's (one row as a rule, of no queue): inserted by a claim with a snapshot that shows none, blindly; read
   * for real, by id, by a claim with a snapshot that shows one; patched by the sweep that schedules its next, deleted
   * by the sweep that goes. The other timers are found by queue, kind and segment; each file that has such timers names
   * its reads.
   */
  timers: defineTable({
    kind: vTimerKind,
    /** Absent for the janitor. */
    queue: v.optional(v.string()),
    /** The slice of time that a dispatcher's or expiry's timer is for: its beginning and its length, milliseconds. */
    start: v.optional(v.number()),
    width: v.optional(v.number()),
    /**
     * Several callers that find a segment without an alarm at the same time arm one each, so that they do not conflict.
     * Absent is 0.
     */
    slot: v.optional(v.number()),
    /** Overdue by 5 s, it is taken for dead. */
    dueAt: v.number(),
    /** Absent within the transaction that inserts the row, and where that could arm nothing. */
    scheduledId: v.optional(v.id("_scheduled_functions")),
    /** One more each time it is armed: a call scheduled with an older one does nothing. Absent is 0. */
    generation: v.optional(v.number()),
    /** How often it was found to have failed: it takes half as much the next time. Absent is 0. */
    failures: v.optional(v.number()),
    /** How far the work has come, as far as it keeps that: it is that file's own. */
    position: v.optional(v.any()),
  })
    .index("kind", ["kind", "queue", "start", "width", "slot"])
    .index("dueAt", ["dueAt"]),

  /**
   * How far sweeps have checked all queues, by name, for lost work where nothing runs. One row, in deployments of more
   * queues than one sweep checks. Written by sweeps that stay or are the last; read in a snapshot by sweeps and by
   * lanes that leave.
   */
  patrols: defineTable({ after: v.string() }),

  /**
   * Public cursors: below them nothing is claimable by anyone. One row per queue, written by the janitor only, from one
   * snapshot, every few seconds while anything is leased. Read by `hasWork` and, in a snapshot, by claims. Apart from
   * `queues` because it moves.
   */
  cursors: defineTable({
    queue: v.string(),
    epoch: v.number(),
    publishedAt: v.number(),
    /** Of the places with waiting jobs, and of places that were not read. */
    bounds: v.array(vBound),
    /** Of all other places, which were empty. Absent until all places have been read at once. */
    floor: v.optional(vKey),
  }).index("queue", ["queue"]),

  /**
   * Per queue and minute, hour and day: counts, and histograms with fixed buckets; and, in one row that is never
   * deleted, of all time, so that a reader sees counts that only grow. Written some seconds behind, by the roll-up,
   * which follows finished jobs by cursor, and by the count of new jobs, which follows jobs by the time of their
   * creation: counting costs no job a write. Minutes are kept for 62 days, hours for a year, days for five.
   */
  periods: defineTable({
    queue: v.string(),
    per: v.union(v.literal("minute"), v.literal("hour"), v.literal("day"), v.literal(EVER)),
    /** Its beginning; 0 of all time. */
    at: v.number(),
    ...countFields,
  }).index("queue", ["queue", "per", "at"]),

  /**
   * How far the finished jobs of a queue have been counted: in each status all up to this key. One row per queue,
   * written only by the roll-up in the transaction that counts; read by the purge, which deletes nothing beyond it, and
   * by every transaction that deletes or retries a finished job. Apart from the roll-up's timer, which goes when there
   * is nothing to count.
   */
  counted: defineTable({
    queue: v.string(),
    upTo: v.array(v.object({ status: vFinishedStatus, seq: v.int64(), creationTime: v.number() })),
  }).index("queue", ["queue"]),

  /**
   * Ends that the roll-up will not find, since the job was deleted or made claimable again before it came by. Inserted in that
   * transaction; read for real and deleted by the roll-up, which counts them.
   */
  ended: defineTable({
    queue: v.string(),
    /** The commit that ended it. Absent: it was the same that took the end away. */
    seq: v.optional(v.int64()),
    job: v.id("jobs"),
    creationTime: v.number(),
    status: vFinishedStatus,
    endedAt: v.number(),
    enqueuedAt: v.number(),
    startedAt: v.optional(v.number()),
    finishedAt: v.optional(v.number()),
  }).index("queue", ["queue", "seq"]),

  /**
   * How far new jobs have been counted: all of all queues that were created up to then. One row. Written by each count
   * of new jobs (`arrivals.ts`), at most every few seconds; read for real by every transaction that deletes a job.
   */
  arrivals: defineTable({
    upTo: v.number(),
    at: v.number(),
  }),

  /**
   * New jobs that the count will not find, since they were deleted before it came by. Inserted in that transaction; read for
   * real and deleted by the count.
   */
  arrived: defineTable({
    job: v.id("jobs"),
    creationTime: v.number(),
    queue: v.string(),
    enqueuedAt: v.number(),
  }).index("creationTime", ["creationTime"]),

  /**
   * The state of a queue, for pages. One row per queue, rewritten by its roll-up every ten seconds while the queue is
   * busy; read by every page that shows the queue, and then by nothing else: data that changes at the rate of jobs is
   * read once, for any number of pages.
   */
  gauges: defineTable({
    queue: v.string(),
    at: v.number(),
    /** Whether it will be written again soon. Otherwise the queue is quiet, and its jobs themselves are read. */
    isKept: v.boolean(),
    counts: vCounts,
    /** When each status was last counted as far as it ever is. */
    countedAt: v.record(v.string(), v.number()),
    oldestPendingAt: v.optional(v.number()),
    perMinute: v.object({ enqueued: v.number(), finished: v.number(), failed: v.number() }),
    flow: vQueueFlow,
    /** How the last jobs ended, newest first. */
    samples: v.array(vSample),
  }).index("queue", ["queue"]),

  /** Restarts, lost leases, quarantines, refusals: for people. Inserted only; purges and the counts of a new day delete old ones. */
  events: defineTable({
    kind: v.string(),
    queue: v.optional(v.string()),
    at: v.number(),
    message: v.string(),
    details: v.optional(v.any()),
  })
    .index("queue", ["queue", "at"])
    .index("at", ["at"]),
};

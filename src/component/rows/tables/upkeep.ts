/**
 * The tables of what keeps queues going and tells how they go. Each comment is the table's concurrency document.
 */
import { defineTable } from "convex/server";
import { v } from "convex/values";
import { EVER, vCounts, vFinishedStatus, vMovement, vSample } from "../../../shared/index.js";
import { vBound, vKey, vTimerKind } from "../stored.js";

/** What happened within a minute, an hour or a day. */
const countFields = {
  /** Jobs that came in. Absent in rows of older versions, as is `started`: not counted. */
  enqueued: v.optional(v.number()),
  /** Jobs whose last attempt began then, counted when they ended. */
  started: v.optional(v.number()),
  succeeded: v.number(),
  failed: v.number(),
  canceled: v.number(),
  timedOut: v.number(),
  /**
   * Of what ended then, milliseconds from enqueue to start and from start to finish: jobs in each bucket of
   * `shared/buckets.ts`. Empty where nothing ended that had been begun.
   */
  waitMs: v.array(v.number()),
  runMs: v.array(v.number()),
  /** The same durations, added up. Absent in rows of older versions. */
  waitSumMs: v.optional(v.number()),
  runSumMs: v.optional(v.number()),
};

export const upkeepTables = {
  /**
   * Every scheduled function that must exist. A row is the promise that it does: `dueAt` says when, `scheduledId` by what.
   * Whoever meets one that is overdue by 5 s takes it for dead and replaces it.
   *
   * The janitor's (one row as a rule, of no queue): inserted by a claim whose snapshot shows none, blindly; read for
   * real, by id, by a claim whose snapshot shows one; patched by the sweep that schedules its next, deleted by the sweep
   * that goes. The others are found by queue, kind and segment; each file that has such timers says who reads what.
   */
  timers: defineTable({
    kind: vTimerKind,
    /** Absent for the janitor. */
    queue: v.optional(v.string()),
    /** The slice of time that a dispatcher's or expiry's timer is for: its beginning and its length, milliseconds. */
    start: v.optional(v.number()),
    width: v.optional(v.number()),
    /** Several who find a segment without an alarm at the same time arm one each, so that they do not meet. Absent is 0. */
    slot: v.optional(v.number()),
    /** Overdue by 5 s, it is taken for dead. */
    dueAt: v.number(),
    /** Absent only within the transaction that inserts the row. */
    scheduledId: v.optional(v.id("_scheduled_functions")),
    /** One more each time it is armed: what was scheduled with an older one does nothing. Absent is 0. */
    generation: v.optional(v.number()),
    /** How often it was found to have failed: it takes half as much the next time. Absent is 0. */
    failures: v.optional(v.number()),
    /** How far the work has come, as far as it keeps that: it is that file's own. */
    position: v.optional(v.any()),
  })
    .index("kind", ["kind", "queue", "start", "width", "slot"])
    .index("dueAt", ["dueAt"]),

  /**
   * How far sweeps have looked through all queues, by name, for what was lost where nothing runs. One row, in deployments of more
   * queues than one sweep looks at. Written by sweeps that stay or are the last; looked at by sweeps and by lanes that leave.
   */
  patrols: defineTable({ after: v.string() }),

  /**
   * Public cursors: below them nothing is claimable by anyone. One row a queue, written by the janitor only, from one
   * snapshot, every few seconds while anything is leased. Read by `hasWork` and, in a snapshot, by claims. Apart from
   * `queues` because it moves.
   */
  cursors: defineTable({
    queue: v.string(),
    epoch: v.number(),
    publishedAt: v.number(),
    /** Of the places where something waits, or that were not looked at. */
    bounds: v.array(vBound),
    /** Of all others, which were empty. Absent in rows of older versions: those name every place. */
    floor: v.optional(vKey),
  }).index("queue", ["queue"]),

  /**
   * Per queue and minute: counts, and histograms with fixed buckets. Written some seconds behind, by the roll-up, which
   * follows finished jobs by cursor, and by the count of new jobs, which follows those by the time of their creation: counting
   * costs no job a write. Kept for 62 days.
   */
  minutes: defineTable({
    queue: v.string(),
    /** Its beginning. */
    minute: v.number(),
    ...countFields,
  }).index("queue", ["queue", "minute"]),

  /**
   * The same by hours, which are kept for a year, and by days, which are kept for five; and, in one row that is never deleted,
   * of all time, so that whoever reads it sees counts that only grow. In the same transactions.
   */
  periods: defineTable({
    queue: v.string(),
    per: v.union(v.literal("hour"), v.literal("day"), v.literal(EVER)),
    /** Its beginning; 0 of all time. */
    at: v.number(),
    ...countFields,
  }).index("queue", ["queue", "per", "at"]),

  /**
   * How far the finished jobs of a queue have been counted: in each status all up to this key. One row a queue, written
   * only by the roll-up in the transaction that counts; read by the purge, which deletes nothing beyond it, and by whoever
   * deletes or retries a finished job. Apart from the roll-up's timer, which goes when there is nothing to count.
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
   * How far new jobs have been counted: all of all queues that were created up to then. One row. Written by whoever counts
   * them (`arrivals.ts`), at most every few seconds; read for real by whoever deletes a job.
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
   * How a queue stands, for those who look. One row a queue, rewritten by its roll-up every ten seconds while the queue is
   * busy; read by every page that shows the queue, and then by nobody else: what changes at the rate of jobs is looked at
   * once, however many look.
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
    movement: vMovement,
    /** How the last jobs ended, newest first. */
    samples: v.array(vSample),
  }).index("queue", ["queue"]),

  /** What was restarted, taken away, quarantined, refused: for people. Inserted only; the purge deletes old ones. */
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

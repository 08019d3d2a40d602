/**
 * The tables of what keeps queues going and tells how they go. Each comment is the table's concurrency document.
 */
import { defineTable } from "convex/server";
import { v } from "convex/values";
import { vFinishedStatus } from "../../shared/index.js";
import { vBound, vKey, vTimerKind } from "../stored.js";

/** What has finished within a minute. */
export const minuteFields = {
  /** Its beginning. */
  minute: v.number(),
  succeeded: v.number(),
  failed: v.number(),
  canceled: v.number(),
  timedOut: v.number(),
  /** Milliseconds from enqueue to start and from start to finish: jobs in each bucket of `shared/buckets.ts`. */
  waitMs: v.array(v.number()),
  runMs: v.array(v.number()),
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
   * Per queue and minute of finishing: counts and histograms with fixed buckets. Written only by the roll-up, which
   * follows finished jobs by cursor, some seconds behind: counting costs no job a write.
   */
  minutes: defineTable({
    queue: v.string(),
    ...minuteFields,
  }).index("queue", ["queue", "minute"]),

  /**
   * How far the finished jobs of a queue have been counted: in each status all up to this key. One row a queue, written
   * only by the roll-up in the transaction that counts; read by the purge, which deletes nothing beyond it. Apart from
   * the roll-up's timer, which goes when there is nothing to count.
   */
  counted: defineTable({
    queue: v.string(),
    upTo: v.array(v.object({ status: vFinishedStatus, seq: v.int64(), creationTime: v.number() })),
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

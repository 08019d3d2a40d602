/** The status of a job, and the counts of jobs by status, as pages, workers and operators read them. */
import { v, type Infer } from "convex/values";
import { vTimedOutCode } from "./protocol.js";

const common = {
  id: v.string(),
  queue: v.string(),
  enqueuedAt: v.number(),
  attempt: v.number(),
  failures: v.number(),
  resets: v.number(),
  releases: v.optional(v.number()),
  name: v.optional(v.string()),
  priority: v.optional(v.number()),
  key: v.optional(v.string()),
  group: v.optional(v.string()),
  tags: v.optional(v.array(v.string())),
  labels: v.optional(v.array(v.string())),
  cost: v.optional(v.number()),
  /** In a circular queue: how often it has come round, and when last. */
  rounds: v.optional(v.number()),
  lastWorkedAt: v.optional(v.number()),
  /** No claim takes it until it is resumed. */
  paused: v.optional(v.boolean()),
  /** When it was last asked to be canceled, and it still runs. */
  cancelRequestedAt: v.optional(v.number()),
  expiresAt: v.optional(v.number()),
  /** When it ends as timed out, if it has not ended before. */
  deadlineAt: v.optional(v.number()),
  /** Of the last attempt that failed, while attempts are left. */
  lastError: v.optional(v.string()),
};

/** A job as a page sees it. */
export const vJobStatus = v.union(
  v.object({ ...common, status: v.literal("pending") }),
  v.object({ ...common, status: v.literal("scheduled"), dueAt: v.number() }),
  v.object({
    ...common,
    status: v.literal("running"),
    worker: v.string(),
    startedAt: v.number(),
    progress: v.optional(v.any()),
  }),
  v.object({
    ...common,
    status: v.literal("succeeded"),
    worker: v.string(),
    startedAt: v.number(),
    finishedAt: v.number(),
    /** `null` when the handler returned nothing. */
    result: v.any(),
  }),
  v.object({
    ...common,
    status: v.literal("failed"),
    error: v.string(),
    worker: v.optional(v.string()),
    startedAt: v.optional(v.number()),
    finishedAt: v.number(),
  }),
  v.object({
    ...common,
    status: v.literal("canceled"),
    /** Of the cancel, if it gave one. */
    reason: v.optional(v.string()),
    /** Of the attempt that was asked to end; absent where it waited. */
    worker: v.optional(v.string()),
    startedAt: v.optional(v.number()),
    finishedAt: v.number(),
  }),
  v.object({
    ...common,
    status: v.literal("timedOut"),
    error: v.string(),
    /** All of its time was over, and not that of an attempt, or its workers were lost. */
    code: v.optional(vTimedOutCode),
    /** Both are absent where it waited at its deadline. */
    worker: v.optional(v.string()),
    startedAt: v.optional(v.number()),
    finishedAt: v.number(),
  }),
);
export type JobStatus = Infer<typeof vJobStatus>;

/** A bounded count: `more` when there are more rows than were read. */
export const vCount = v.object({ count: v.number(), more: v.boolean() });
export type Count = Infer<typeof vCount>;

export const vCounts = v.object({
  /** `retrying`: so many of the counted ones wait for another attempt after a failure. Absent is 0. */
  scheduled: v.object({ ...vCount.fields, retrying: v.optional(v.number()) }),
  pending: vCount,
  running: vCount,
  succeeded: vCount,
  failed: vCount,
  canceled: vCount,
  timedOut: vCount,
});
export type Counts = Infer<typeof vCounts>;

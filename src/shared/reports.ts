/**
 * The reports of workers about running jobs, and the reads of pages: validators and the types inferred from them. Pure.
 *
 * A worker counts in each attempt from 0: its log entries, its parts of output, and the revisions of its progress. By these
 * numbers the component recognises a repeated or late call.
 */
import { v, type Infer } from "convex/values";
import { vLogLevel } from "./logLevels.js";
import { vAnswer } from "./protocol.js";

// --- Reports of a worker -------------------------------------------------------------------------

const lease = { id: v.string(), attempt: v.number() };

/** How far a job has come: the latest value wins. */
export const vProgressUpdate = v.object({
  ...lease,
  value: v.any(),
  /** One more with each value of the attempt: an older one that arrives late is not shown. Absent, it always is. */
  revision: v.optional(v.number()),
});
export type ProgressUpdate = Infer<typeof vProgressUpdate>;

/** A log entry, new or changed. */
export const vLogUpdate = v.object({
  ...lease,
  /** Counted up from 0 in each attempt; said again, it changes the entry that is there. */
  entry: v.number(),
  level: vLogLevel,
  message: v.string(),
  data: v.optional(v.any()),
  /** From 0, one more with each change of the entry: an older one that arrives late changes nothing. Absent, it does. */
  revision: v.optional(v.number()),
});
export type LogUpdate = Infer<typeof vLogUpdate>;

/** A part of a job's output. */
export const vOutputUpdate = v.object({
  ...lease,
  /** Counted up from 0 in each attempt, without gaps; said again, it is recorded once. */
  index: v.number(),
  text: v.string(),
});
export type OutputUpdate = Infer<typeof vOutputUpdate>;

/** The component's answer about one reported lease. An absent field needs no action. */
export const vReportAnswer = v.object({
  ...vAnswer.fields,
  /** Where output was sent: the next index wanted. Less than one after the last sent, the parts from it on are missing. */
  nextIndex: v.optional(v.number()),
  /** The job has written all that it may: no further part is taken. */
  outputFull: v.optional(v.literal(true)),
  /** So many new log entries were not taken: the job has as many as it may, or they came out of their order. */
  logsDropped: v.optional(v.number()),
});
export type ReportAnswer = Infer<typeof vReportAnswer>;

// --- Reads of a page -----------------------------------------------------------------------------

const attemptFields = {
  attempt: v.number(),
  worker: v.optional(v.string()),
  startedAt: v.optional(v.number()),
};

const endedWith = <Outcome extends string>(outcome: Outcome) =>
  v.object({
    ...attemptFields,
    outcome: v.literal(outcome),
    endedAt: v.number(),
    /** Why, where there is something to say. */
    error: v.optional(v.string()),
    /** The thrown error's class and stack, and those of its causes. For operators. */
    trace: v.optional(v.string()),
  });

/** One attempt of a job: a union on `outcome`. */
export const vAttempt = v.union(
  v.object({ ...attemptFields, outcome: v.literal("running") }),
  v.object({ ...attemptFields, outcome: v.literal("succeeded"), endedAt: v.number() }),
  endedWith("failed"),
  /** It ran longer than its `timeoutMs`. */
  endedWith("timedOut"),
  /** Its worker vanished. */
  endedWith("lost"),
  endedWith("released"),
  endedWith("snoozed"),
  endedWith("canceled"),
);
export type AttemptStatus = Infer<typeof vAttempt>;

export const vLogEntry = v.object({
  attempt: v.number(),
  entry: v.number(),
  level: vLogLevel,
  message: v.string(),
  data: v.optional(v.any()),
  at: v.number(),
  /** When it was last changed, if ever. */
  updatedAt: v.optional(v.number()),
});
export type LogEntry = Infer<typeof vLogEntry>;

/** Part of a job's log, in the order in which it was written. */
export const vLogPage = v.object({
  /** The job's. */
  queue: v.string(),
  entries: v.array(vLogEntry),
  /** Where the next page begins; the same place for ever, also while it is empty. */
  cursor: v.string(),
  /** Nothing lies behind this page, as yet. */
  isDone: v.boolean(),
});
export type LogPage = Infer<typeof vLogPage>;

/** Part of the output of one attempt. */
export const vOutputPage = v.object({
  /** The job's. */
  queue: v.string(),
  /** The attempt that wrote this output. */
  attempt: v.number(),
  /** The job's last attempt: greater than `attempt`, the job was begun anew since. */
  lastAttempt: v.number(),
  parts: v.array(v.object({ index: v.number(), text: v.string() })),
  cursor: v.string(),
  /** This is the end: the attempt is over, and nothing lies behind this page. */
  isDone: v.boolean(),
});
export type OutputPage = Infer<typeof vOutputPage>;

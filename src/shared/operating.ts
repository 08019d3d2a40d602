/**
 * The operations on queues and workers by people, between an app and the component: validators and the types inferred from
 * them. Pure.
 */
import { v, type Infer } from "convex/values";
import { vQueueConfig, vQueueOverrides } from "./protocol.js";
import { vStatus } from "./status.js";
import { vTokenScope } from "./tokenScope.js";
import { vQuietBy, vWorkerOrigin, vWorkerState } from "./workerFacts.js";

/** The source of a field of a configuration: an override, the code, or the default. */
export const vConfigSource = v.union(
  v.literal("override"),
  v.literal("code"),
  v.literal("default"),
);
export type ConfigSource = Infer<typeof vConfigSource>;

/** A queue as its operators see it. */
export const vQueueState = v.object({
  name: v.string(),
  /** As code last declared it, and when that was written. */
  declared: vQueueConfig,
  declaredAt: v.number(),
  /** The overrides made at run time. */
  overrides: vQueueOverrides,
  /** The configuration in effect: overrides before the declaration, defaults where neither has the field. */
  inForce: vQueueConfig,
  /** Where each field of `inForce` comes from. */
  sources: v.record(v.string(), vConfigSource),
  /** Since when no job may be claimed. */
  pausedAt: v.optional(v.number()),
  /** Since when no job may be enqueued. */
  drainingAt: v.optional(v.number()),
  /** While it is draining: whether nothing is scheduled, pending or running any more. */
  drained: v.optional(v.boolean()),
});
export type QueueState = Infer<typeof vQueueState>;

/** Which jobs of a queue are meant. All that is given must hold; an empty filter means all in its statuses. */
export const vJobFilter = v.object({
  statuses: v.optional(v.array(vStatus)),
  priority: v.optional(v.number()),
  /** Has at least one of them. */
  tags: v.optional(v.array(v.string())),
  group: v.optional(v.string()),
  name: v.optional(v.string()),
  /** Has all of them. */
  labels: v.optional(v.array(v.string())),
  enqueuedBefore: v.optional(v.number()),
  finishedBefore: v.optional(v.number()),
});
export type JobFilter = Infer<typeof vJobFilter>;

export const vBulkAction = v.union(v.literal("cancel"), v.literal("retry"), v.literal("delete"));
export type BulkAction = Infer<typeof vBulkAction>;

/** The outcome of one step over many jobs. */
export const vBulkReply = v.object({
  /** Jobs that were changed in this transaction. */
  changed: v.number(),
  /** Whether no job is left to look at. */
  isDone: v.boolean(),
  /** With which to ask for the next step, where the caller does the paging. */
  cursor: v.optional(v.string()),
  /** Names the rest of the work, which goes on in the background. */
  task: v.optional(v.string()),
});
export type BulkReply = Infer<typeof vBulkReply>;

/** How far a change of many jobs has come that goes on by itself. */
export const vBulkState = v.object({
  queue: v.string(),
  action: vBulkAction,
  state: v.union(v.literal("running"), v.literal("done"), v.literal("stopped")),
  /** Jobs changed, with the jobs of the caller's own transaction. */
  changed: v.number(),
  /** Jobs that could not be changed, and why they could not is in the queue's events. */
  failed: v.number(),
  startedAt: v.number(),
});
export type BulkState = Infer<typeof vBulkState>;

export const vQueueEvent = v.object({
  kind: v.string(),
  queue: v.optional(v.string()),
  at: v.number(),
  message: v.string(),
  details: v.optional(v.any()),
});
export type QueueEvent = Infer<typeof vQueueEvent>;

// --- Workers and their tokens --------------------------------------------------------------------

export const vSessionState = v.union(
  /** Has leases. */
  v.literal("active"),
  /** Has none. */
  v.literal("idle"),
  /** Let its leases run out. A later call of the same session brings it back. */
  v.literal("gone"),
);
export type SessionState = Infer<typeof vSessionState>;

export const vWorkerStatus = v.object({
  /** Names it for `quietWorker` and `resumeWorker`. */
  id: v.string(),
  /** The same for as long as its session lives, and no credential: a hash of the session's id. */
  session: v.string(),
  name: v.string(),
  /** Whether it is a lane: Convex itself at work. Its name is its queue's and a number. */
  isLane: v.boolean(),
  /** `stopped` is also the state of one that let its leases run out. */
  state: vWorkerState,
  /** Since when it has that state, as far as its calls tell. */
  since: v.optional(v.number()),
  /** It claims nothing for now. */
  quietBy: v.optional(vQuietBy),
  lastSeenAt: v.number(),
  /** From which it last claimed. */
  queues: v.array(v.string()),
  /** The labels that it offered with that claim. */
  labels: v.optional(v.array(v.string())),
  /** Jobs that it holds, and jobs that it runs at once. */
  slots: v.optional(v.object({ used: v.number(), had: v.number() })),
  /** The recorded outcomes of its attempts. Absent for a lane. */
  done: v.optional(v.number()),
  /** As far as the worker tells. */
  origin: v.optional(vWorkerOrigin),
  holding: v.array(
    v.object({
      id: v.string(),
      queue: v.string(),
      attempt: v.number(),
      /** The job's name, and since when this attempt runs: of the first 256 jobs of all workers together. */
      name: v.optional(v.string()),
      startedAt: v.optional(v.number()),
    }),
  ),
});
export type WorkerStatus = Infer<typeof vWorkerStatus>;

export const vTokenStatus = v.object({
  ...vTokenScope.fields,
  createdAt: v.number(),
  /** When its secret was last replaced. */
  rotatedAt: v.optional(v.number()),
  /** Until when the secret before it is still taken. */
  previousUntil: v.optional(v.number()),
  revokedAt: v.optional(v.number()),
  /** Until when its workers may write no log entries, output and jobs to follow: they have written too much. */
  overQuotaUntil: v.optional(v.number()),
});
export type TokenStatus = Infer<typeof vTokenStatus>;

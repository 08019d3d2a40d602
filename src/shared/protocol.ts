/**
 * What crosses between an app, its workers and the component: validators and the types inferred from them. Pure.
 *
 * Ids cross as strings. Durations end in `Ms`, instants in `At`; both are milliseconds.
 */
import { v, type Infer } from "convex/values";

// --- Queues -------------------------------------------------------------------------------------

export const vQueueConfig = v.object({
  /** How long a holder may be silent before its jobs are taken away. */
  leaseMs: v.number(),
  /** How often a job may lose its holder before it is `timedOut`. */
  maxResets: v.number(),
  /** Into how many parts new jobs are spread; 1 is strict commit order. */
  shards: v.number(),
  /** The handle of the app's mutation that is told every outcome. */
  onComplete: v.optional(v.string()),
});
export type QueueConfig = Infer<typeof vQueueConfig>;

/** A queue as code declares it: every enqueue and claim carries it, and the component keeps the last. */
export const vQueueDeclaration = v.object({ name: v.string(), config: vQueueConfig });
export type QueueDeclaration = Infer<typeof vQueueDeclaration>;

// --- Jobs ---------------------------------------------------------------------------------------

/** What a worker gets for a lease. */
export const vClaimedJob = v.object({
  id: v.string(),
  queue: v.string(),
  payload: v.any(),
  /** Numbered from 1, one more at every claim, never reset: every word about this lease must carry it. */
  attempt: v.number(),
  failures: v.number(),
  resets: v.number(),
  /** A duration and not an instant: the worker measures it on its own monotonic clock. */
  leaseMs: v.number(),
  enqueuedAt: v.number(),
});
export type ClaimedJob = Infer<typeof vClaimedJob>;

/** How an attempt ended, as its worker reports it. */
export const vOutcome = v.union(
  v.object({ kind: v.literal("succeeded"), result: v.optional(v.any()) }),
  v.object({ kind: v.literal("failed"), error: v.string() }),
  /** The worker gives the job back unfinished, as in a graceful stop. */
  v.object({ kind: v.literal("released") }),
);
export type Outcome = Infer<typeof vOutcome>;

export const vLease = v.object({ id: v.string(), attempt: v.number() });
export type Lease = Infer<typeof vLease>;

export const vFinished = v.object({ id: v.string(), attempt: v.number(), outcome: vOutcome });
export type Finished = Infer<typeof vFinished>;

export const vProgressUpdate = v.object({ id: v.string(), attempt: v.number(), value: v.any() });
export type ProgressUpdate = Infer<typeof vProgressUpdate>;

/** What the component says of one lease. */
export const vAnswer = v.object({
  id: v.string(),
  attempt: v.number(),
  answer: v.union(
    /** The lease stands, and what was said of it is recorded. */
    v.literal("ok"),
    /** This attempt of this holder had already finished the job. */
    v.literal("recorded"),
    /** The job is no longer the caller's; nothing was changed. */
    v.literal("leaseLost"),
    /** The same, since somebody canceled the job. */
    v.literal("canceled"),
  ),
});
export type Answer = Infer<typeof vAnswer>;

// --- Status -------------------------------------------------------------------------------------

const common = {
  id: v.string(),
  queue: v.string(),
  enqueuedAt: v.number(),
  attempt: v.number(),
  failures: v.number(),
  resets: v.number(),
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
  v.object({ ...common, status: v.literal("canceled"), finishedAt: v.number() }),
  v.object({
    ...common,
    status: v.literal("timedOut"),
    error: v.string(),
    worker: v.string(),
    startedAt: v.number(),
    finishedAt: v.number(),
  }),
);
export type JobStatus = Infer<typeof vJobStatus>;

/** A bounded count: `more` when there are more rows than were read. */
export const vCount = v.object({ count: v.number(), more: v.boolean() });
export type Count = Infer<typeof vCount>;

export const vCounts = v.object({
  scheduled: vCount,
  pending: vCount,
  running: vCount,
  succeeded: vCount,
  failed: vCount,
  canceled: vCount,
  timedOut: vCount,
});
export type Counts = Infer<typeof vCounts>;

// --- Workers ------------------------------------------------------------------------------------

export const vHolderState = v.union(
  /** Has leases. */
  v.literal("active"),
  /** Has none. */
  v.literal("idle"),
  /** Let its leases run out. A later call of the same session brings it back. */
  v.literal("gone"),
);
export type HolderState = Infer<typeof vHolderState>;

export const vWorkerStatus = v.object({
  session: v.string(),
  name: v.string(),
  state: vHolderState,
  lastSeenAt: v.number(),
  holding: v.array(v.object({ id: v.string(), queue: v.string(), attempt: v.number() })),
});
export type WorkerStatus = Infer<typeof vWorkerStatus>;

export const vTokenStatus = v.object({
  id: v.string(),
  name: v.string(),
  /** `null`: every queue. */
  queues: v.union(v.array(v.string()), v.null()),
  createdAt: v.number(),
  revokedAt: v.optional(v.number()),
});
export type TokenStatus = Infer<typeof vTokenStatus>;

// --- onComplete ---------------------------------------------------------------------------------

/** How a job ended, as `onComplete` is told. */
export const vFinalOutcome = v.union(
  v.object({ status: v.literal("succeeded"), result: v.any() }),
  v.object({ status: v.literal("failed"), error: v.string() }),
  v.object({ status: v.literal("timedOut"), error: v.string() }),
  v.object({ status: v.literal("canceled"), error: v.string() }),
);
export type FinalOutcome = Infer<typeof vFinalOutcome>;

/** The arguments of the app's `onComplete` mutation. */
export const vOnCompleteArgs = v.object({
  id: v.string(),
  queue: v.string(),
  payload: v.any(),
  outcome: vFinalOutcome,
  attempt: v.number(),
  /** Absent when no worker ever had the job. */
  worker: v.optional(v.string()),
});
export type OnCompleteArgs = Infer<typeof vOnCompleteArgs>;

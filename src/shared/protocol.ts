/**
 * The messages between an app, its workers and the component: validators and the types inferred from them. Pure.
 *
 * Ids cross as strings. Durations end in `Ms`, instants in `At`; both are milliseconds.
 */
import { v, type Infer } from "convex/values";
import { vHandler } from "./handlers.js";
import { vLogLevel } from "./logLevels.js";

/** How much of a backoff is random: all of it, its second half, or nothing. */
export const vJitter = v.union(v.literal("full"), v.literal("equal"), v.literal("none"));
export type Jitter = Infer<typeof vJitter>;

/** How failed attempts are tried again: after `initialBackoffMs * base^(failures-1)`, at most `maxBackoffMs`, with jitter. */
export const vRetry = v.object({
  /** Attempts that may fail, the first included: 1 is no retry. */
  maxAttempts: v.number(),
  initialBackoffMs: v.number(),
  base: v.number(),
  maxBackoffMs: v.number(),
  /** Absent is "full". */
  jitter: v.optional(vJitter),
});
export type Retry = Infer<typeof vRetry>;

export const vFinishedStatus = v.union(
  v.literal("succeeded"),
  v.literal("failed"),
  v.literal("canceled"),
  v.literal("timedOut"),
);

/** Why a job has timed out, where it is not for want of attempts. */
export const vTimedOutCode = v.literal("deadlineExceeded");

/** The rules that a job may have of its own, in place of its queue's configuration. Interned by the component. */
export const vJobRules = v.object({
  retry: v.optional(vRetry),
  maxResets: v.optional(v.number()),
  leaseMs: v.optional(v.number()),
  /** How long one attempt may run, however alive its session is. */
  timeoutMs: v.optional(v.number()),
  /** The handle of the app's mutation that is told how the job ended. */
  onComplete: v.optional(v.string()),
  /** Outcomes that it is not told. */
  onCompleteExclude: v.optional(v.array(vFinishedStatus)),
  /** Its handler, in a queue that runs inside Convex. */
  handler: v.optional(vHandler),
});
export type JobRules = Infer<typeof vJobRules>;

/** How long finished jobs are kept. */
export const vRetention = v.object({
  succeededMs: v.number(),
  failedMs: v.number(),
  canceledMs: v.number(),
  timedOutMs: v.number(),
});
export type Retention = Infer<typeof vRetention>;

/** The fields that jobs may be listed by. */
export const vListBy = v.union(v.literal("tag"), v.literal("group"));
export type ListBy = Infer<typeof vListBy>;

const queueConfigFields = {
  /** How long a session may be silent before its jobs are taken away. */
  leaseMs: v.number(),
  /** How much longer the component waits than the session does: room for clocks and slow calls. */
  graceMs: v.optional(v.number()),
  /** How often a job may lose its session before it is `timedOut`. */
  maxResets: v.number(),
  /** Into how many parts new jobs are spread; 1 is strict commit order. */
  shards: v.number(),
  retry: v.optional(vRetry),
  timeoutMs: v.optional(v.number()),
  expiresAfterMs: v.optional(v.number()),
  deadlineMs: v.optional(v.number()),
  /** Whether a finished job goes back to the end of the ring. */
  circular: v.optional(v.boolean()),
  /** In a circular queue: how long an item rests between two rounds. */
  restMs: v.optional(v.number()),
  retention: v.optional(vRetention),
  /** The handle of the app's mutation that is told every outcome. */
  onComplete: v.optional(v.string()),
  onCompleteExclude: v.optional(v.array(vFinishedStatus)),
  logLevel: v.optional(vLogLevel),
  /** Whether Convex itself works it off. */
  push: v.optional(v.boolean()),
  /** For jobs that do not bring their own. */
  handler: v.optional(vHandler),
  /** How many of its jobs may run inside Convex at once; 0 is a pause. */
  maxParallelism: v.optional(v.number()),
  /** How long jobs are left to workers outside. */
  fallbackAfterMs: v.optional(v.number()),
  /** How long a job whose handler cannot start is put off before it fails. */
  handlerMissingAfterMs: v.optional(v.number()),
  /** How much of the class's scheduler its mount takes, all of its queues together. */
  schedulerShare: v.optional(v.number()),
  /** The validator of its handlers' results, as `writtenValidator.ts` writes it. */
  result: v.optional(v.string()),
  /** The fields that its jobs may be listed by beside their status: a row more for each tag, and for the group. */
  listBy: v.optional(v.array(vListBy)),
};

/** A queue's configuration as code declares it. An absent field has its default. */
export const vQueueConfig = v.object(queueConfigFields);
export type QueueConfig = Infer<typeof vQueueConfig>;

/** The overrides made at run time: they take precedence over the code's declaration until they are reset. */
export const vQueueOverrides = v.object({
  leaseMs: v.optional(v.number()),
  graceMs: v.optional(v.number()),
  maxResets: v.optional(v.number()),
  shards: v.optional(v.number()),
  retry: v.optional(vRetry),
  timeoutMs: v.optional(v.number()),
  expiresAfterMs: v.optional(v.number()),
  deadlineMs: v.optional(v.number()),
  restMs: v.optional(v.number()),
  retention: v.optional(vRetention),
  logLevel: v.optional(vLogLevel),
  maxParallelism: v.optional(v.number()),
  fallbackAfterMs: v.optional(v.number()),
  handlerMissingAfterMs: v.optional(v.number()),
});
export type QueueOverrides = Infer<typeof vQueueOverrides>;

/** A queue as code declares it: every enqueue and claim carries it, and the component keeps the last. */
export const vQueueDeclaration = v.object({ name: v.string(), config: vQueueConfig });
export type QueueDeclaration = Infer<typeof vQueueDeclaration>;

// --- New jobs -----------------------------------------------------------------------------------

/** The rule for a key that an active job already has. */
export const vOnConflict = v.union(
  /** The id of the job that is there is returned, and nothing is enqueued. */
  v.literal("existing"),
  /** The other job is canceled if it has not started; a running one is returned as it is. */
  v.literal("replace"),
  /** `duplicateKey` is thrown. */
  v.literal("refuse"),
);
export type OnConflict = Infer<typeof vOnConflict>;

/** Uniqueness within a queue: while the job is active, or with `windowMs` for so long from its enqueue on. */
export const vKey = v.object({
  value: v.string(),
  windowMs: v.optional(v.number()),
  onConflict: v.optional(vOnConflict),
});
export type UniqueKey = Infer<typeof vKey>;

/** For so long from when the job falls due only workers that have all of this take it; then any that may. */
export const vPrefer = v.object({
  labels: v.optional(v.array(v.string())),
  worker: v.optional(v.string()),
  forMs: v.number(),
});
export type Prefer = Infer<typeof vPrefer>;

export const vJobOptions = v.object({
  /** For people: shown wherever the job is. */
  name: v.optional(v.string()),
  /** -10 to 10, higher first. */
  priority: v.optional(v.number()),
  /** When it falls due. At most one of the two. */
  runAt: v.optional(v.number()),
  runAfter: v.optional(v.number()),
  key: v.optional(vKey),
  group: v.optional(v.string()),
  tags: v.optional(v.array(v.string())),
  /** The labels that a worker must offer to claim it. */
  labels: v.optional(v.array(v.string())),
  prefer: v.optional(vPrefer),
  /** Its cost in a worker's budget: 1 by default. */
  cost: v.optional(v.number()),
  /** Not begun by then, it fails as expired. */
  expiresAfterMs: v.optional(v.number()),
  /** Not ended by then, it has timed out. */
  deadlineMs: v.optional(v.number()),
  /** Handed to `onComplete`. */
  context: v.optional(v.any()),
  /** The span that its spans are children of, in the form of the header of that name. */
  traceparent: v.optional(v.string()),
  rules: v.optional(vJobRules),
});
export type JobOptions = Infer<typeof vJobOptions>;

export const vNewJob = v.object({ payload: v.any(), options: v.optional(vJobOptions) });
export type NewJob = Infer<typeof vNewJob>;

/** The outcome for one new job. */
export const vEnqueued = v.object({
  id: v.string(),
  /** `false`: a job with this key was there, and this is its id. The payload of the call is in no job. */
  isNew: v.boolean(),
  /** That job was to be replaced, and could not: it runs, or has ended within its window. Absent otherwise. */
  tooLate: v.optional(v.boolean()),
});
export type Enqueued = Infer<typeof vEnqueued>;

// --- Jobs ---------------------------------------------------------------------------------------

/** The answer for one lease, with the job. */
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
  /** How long this attempt may run. */
  timeoutMs: v.optional(v.number()),
  enqueuedAt: v.number(),
  name: v.optional(v.string()),
  priority: v.optional(v.number()),
  group: v.optional(v.string()),
  tags: v.optional(v.array(v.string())),
  labels: v.optional(v.array(v.string())),
  cost: v.optional(v.number()),
  /** In a circular queue: how often it has come round before. */
  rounds: v.optional(v.number()),
  /** As given to `enqueue`. */
  traceparent: v.optional(v.string()),
  /** When it last became claimable, of a job with a `traceparent`; absent in the answer to a worker's repeated call. */
  claimableAt: v.optional(v.number()),
  /** The answer of the queue's `related` query, in the claim's transaction. */
  related: v.optional(v.any()),
});
export type ClaimedJob = Infer<typeof vClaimedJob>;

/** The conditions of a claimer, by which claims filter. */
export const vConditions = v.object({
  /** Its labels: it gets jobs with labels among these only. */
  labels: v.optional(v.array(v.string())),
  /** The rest of its budget: the costs of one claim add up to this at most. Absent: any. */
  maxCost: v.optional(v.number()),
  /** It gets jobs of these groups only. Absent: of any group, and of none. */
  groups: v.optional(v.array(v.string())),
});
export type Conditions = Infer<typeof vConditions>;

/** A job that a worker could claim now. */
export const vPeekedJob = v.object({
  id: v.string(),
  queue: v.string(),
  priority: v.number(),
  enqueuedAt: v.number(),
  /** Attempts so far. */
  attempt: v.number(),
  /** The payload, if it is so small that it lies in the job's row. */
  payload: v.optional(v.any()),
  name: v.optional(v.string()),
  group: v.optional(v.string()),
  tags: v.optional(v.array(v.string())),
  labels: v.optional(v.array(v.string())),
  cost: v.number(),
});
export type PeekedJob = Infer<typeof vPeekedJob>;

/** Why a handler was not begun: the deployment does not have it, or has had no room for it. */
export const vBlocked = v.union(v.literal("handlerMissing"), v.literal("noPermit"));
export type Blocked = Infer<typeof vBlocked>;
/** Troubles with handlers that an event and a queue's light name: besides, a handler of another queue or another kind. */
export const vHandlerTrouble = v.union(vBlocked, v.literal("handlerMismatch"));
export type HandlerTrouble = Infer<typeof vHandlerTrouble>;

/** How an attempt ended, as its worker reports it. */
export const vOutcome = v.union(
  v.object({ kind: v.literal("succeeded"), result: v.optional(v.any()) }),
  v.object({
    kind: v.literal("failed"),
    error: v.string(),
    /** The error's class and stack, and those of its causes: see `thrownTrace`. */
    trace: v.optional(v.string()),
    /** `false`: another attempt would fail as well. */
    retryable: v.optional(v.boolean()),
    /** When to try again, in place of the backoff. */
    retryAfterMs: v.optional(v.number()),
    /** The attempt ran longer than its `timeoutMs`: with the last attempt the job has timed out. */
    timedOut: v.optional(v.boolean()),
  }),
  /** The worker gives the job back unfinished, as in a graceful stop. */
  v.object({ kind: v.literal("released") }),
  /** The worker gives it back until later, in milliseconds from now. */
  v.object({
    kind: v.literal("snoozed"),
    runAfter: v.number(),
    /** Its handler could not be begun, and the platform's words for that. From lanes only: from a worker both are dropped. */
    blocked: v.optional(vBlocked),
    error: v.optional(v.string()),
  }),
  /** The worker stopped because the job was canceled. */
  v.object({ kind: v.literal("canceled") }),
);
export type Outcome = Infer<typeof vOutcome>;

export const vLease = v.object({ id: v.string(), attempt: v.number() });
export type Lease = Infer<typeof vLease>;

export const vFinished = v.object({
  ...{ id: v.string(), attempt: v.number(), outcome: vOutcome },
  /** Queues with validators that accept its result: a job of any other queue fails. */
  fits: v.optional(v.array(v.string())),
  /** New jobs that are enqueued in the same transaction if the outcome is recorded, and only then. */
  continued: v.optional(v.array(v.object({ queue: vQueueDeclaration, jobs: v.array(vNewJob) }))),
});
export type Finished = Infer<typeof vFinished>;

/** Rows of the app's own table that a claim may take as jobs of this queue, in the app's order; `all` that there are. */
export const vOfferedRows = v.object({
  queue: v.string(),
  ids: v.array(v.string()),
  all: v.optional(v.boolean()),
});
export type OfferedRows = Infer<typeof vOfferedRows>;

/** The component's answer about one lease. */
export const vAnswer = v.object({
  id: v.string(),
  attempt: v.number(),
  answer: v.union(
    /** The lease is valid, and the report about it is recorded. */
    v.literal("ok"),
    /** This attempt of this session had already finished the job. */
    v.literal("recorded"),
    /** The job is no longer the caller's; nothing was changed. */
    v.literal("leaseLost"),
    /**
     * The job was canceled: the caller has lost it; or, in the answer to a heartbeat, the caller still has it and must end it.
     */
    v.literal("canceled"),
  ),
});
export type Answer = Infer<typeof vAnswer>;

// --- Fleets on call -----------------------------------------------------------------------------

/** A worker of a large fleet asks for its duty. */
export const vOnCallRequest = v.object({
  /** The same for all workers of the token with the same queues, labels and groups, and for no others. One with a budget has none. */
  peers: v.string(),
  /** Waiting jobs that its subscriptions name besides the ones that it claims; of a beat, that it has seen none take. */
  more: v.optional(v.number()),
  /** Of a beat: for how many more jobs it has room. */
  room: v.optional(v.number()),
  /** Of a beat on call: names of other workers that waiting jobs prefer. The ones that stand by are called up. */
  prefers: v.optional(v.array(v.string())),
  /** How often it says that it lives while it stands by. */
  presenceMs: v.optional(v.number()),
});
export type OnCallRequest = Infer<typeof vOnCallRequest>;

/** The duty of a worker while it has room. */
export const vDuty = v.object({
  kind: v.union(
    /** It subscribes to the waiting jobs. */
    v.literal("onCall"),
    /** It subscribes to `standby` with `since`. */
    v.literal("standby"),
    /** The same, and it claims every `nextMs`. */
    v.literal("watch"),
    /** Neither: it claims when it has room. */
    v.literal("off"),
  ),
  since: v.optional(v.number()),
  /** Its place among the workers on call. */
  size: v.optional(v.number()),
  rank: v.optional(v.number()),
  /** When it is to be heard of again. Absent: as any idle worker. */
  nextMs: v.optional(v.number()),
});
export type Duty = Infer<typeof vDuty>;

// --- Status -------------------------------------------------------------------------------------

/** How a queue is defined: its options, and the configuration that they come to. */
import {
  v,
  type GenericValidator,
  type ObjectType,
  type PropertyValidators,
  type VAny,
  type VObject,
} from "convex/values";
import {
  checkQueueConfig,
  conveyorError,
  LEASE_DEFAULT_MS,
  listIfGiven,
  MAX_RESETS_DEFAULT,
  RETENTION_DEFAULT,
  retryRule,
  SHARDS_DEFAULT,
  type Batching,
  type FinishedStatus,
  type ListBy,
  type LogLevel,
  type QueueConfig,
  type Retention,
  type RetryOption,
  withoutUndefined,
  WORKPOOL_QUEUE,
} from "../shared/index.js";
import { resetsFor, type Kind } from "./handlerOptions.js";
import { checkOptions, type Known } from "./newJobs.js";
import type { ValueValidator } from "./types.js";

/**
 * A function that returns a function reference, as in `() => internal.emails.send`. It has no signature of its own, so that
 * TypeScript can infer a queue and its handler from one module: a reference of the wrong kind, or of another queue's
 * handler, is found at the first attempt, as `handlerMismatch`. A reference itself has a `_type`, and fails on it with these
 * words.
 */
// eslint-disable-next-line @typescript-eslint/no-unsafe-function-type
export type Named = { readonly _type?: "Write `() =>` before the reference." } & Function;

/** The forms of a payload's declaration. */
export type Shape = PropertyValidators | ValueValidator;
// eslint-disable-next-line @typescript-eslint/no-empty-object-type
export type EmptyShape = {};

/** The validator of a declaration as fields, or as a validator. */
export type ValidatorOf<Payload extends Shape> = Payload extends ValueValidator
  ? Payload
  : Payload extends PropertyValidators
    ? VObject<ObjectType<Payload>, Payload>
    : never;

export function validatorOf<Payload extends Shape>(
  payload: Payload | undefined,
): ValidatorOf<Payload> {
  const given = payload ?? {};
  const isValidator = "isConvexValidator" in given && given.isConvexValidator === true;
  return (isValidator ? given : v.object(given)) as ValidatorOf<Payload>;
}

/**
 * How a queue behaves. All of it may be changed by deploying a new definition. Durations are whole milliseconds; a number
 * out of bounds is refused with `invalidArgument` when the module is loaded.
 */
export interface QueueOptions<
  Payload extends Shape = EmptyShape,
  VResult extends GenericValidator = VAny,
  VContext extends GenericValidator = VAny,
  VProgress extends GenericValidator = VAny,
> {
  /**
   * The shape of a payload: fields, as a function's `args`, or a validator. Checked by `enqueue`, and the type of
   * `job.payload` in every handler.
   * @default {}: no payload
   * @example
   * payload: { to: v.string(), body: v.string() }
   */
  payload?: Payload;
  /**
   * The shape of a handler's result. Checked when a worker reports, and when a handler inside Convex has returned: a
   * result that does not fit fails that job, and a mutation's writes are undone. (A validator of thousands of
   * characters is checked for inline handlers and workers outside only.)
   * @default v.any()
   */
  result?: VResult;
  /**
   * The shape of a handler's `job.progress`. The type of `progress` of a running job on pages.
   * @default v.any()
   * @example
   * progress: v.object({ percent: v.number() })
   */
  progress?: VProgress;
  /**
   * The shape of a job's `context`, which is handed to `onComplete` and never to a worker. Checked by `enqueue`.
   * @default v.any()
   */
  context?: VContext;
  /**
   * The queue's handler: an action made by {@link Queue.action}, in any module. A function that returns the reference, so
   * that the queue and its handler may stand in one module. An action may do anything, and is run at most once an attempt.
   *
   * A queue has one of `action`, `mutation`, `query` and `inline`, or none: then workers outside do its jobs, or a function
   * that {@link Queue.handledBy} names. When a deploy gives the queue another handler, each job that is begun from then on
   * has that; only inline handlers go on for up to 30 s in the processes that run in them.
   *
   * An attempt that runs longer than its `timeoutMs` (10 minutes by default, 25 at most, 9 inline) has failed; an action
   * that goes on then changes nothing.
   * @example
   * export const emails = conveyor.queue("emails", { payload: { to: v.string() }, action: () => internal.emails.send });
   * export const send = emails.action(async (ctx, job) => { … });
   */
  action?: Named;
  /** A mutation made by {@link Queue.mutation}: its writes and its job's end are one transaction, exactly once. */
  mutation?: Named;
  /** A query made by {@link Queue.query}: it returns a result, and may run more than once. */
  query?: Named;
  /**
   * An action made by {@link Queue.inline}: jobs run in the lane's own process, without a function call each. A job of such
   * a queue that brings a handler of its own runs in that.
   */
  inline?: Named;
  /**
   * Gathers jobs for an inline handler that takes several at once: see `Queue.inline`. The jobs of all its lanes in one
   * process come together. A batch has at most `maxParallelism` jobs, and as many as the process has places, 48 on S16. Other
   * kinds of handlers are called job by job: a mutation's lane runs up to 16 in one transaction by itself. A worker outside has
   * `batch` beside its handler.
   * @default none: the handler takes one job
   * @example
   * batch: { size: 10, waitMs: 200 }
   */
  batch?: Batching;
  /**
   * Whether each job brings its handler, with enqueue's `handler`.
   * @default false
   */
  perJob?: boolean;
  /**
   * How long a worker may be silent before its jobs go to other workers, in milliseconds, 1,000 to 86,400,000. Workers
   * beat three times in a lease, so a shorter lease notices a dead worker sooner and costs more calls. It must be
   * longer than the longest time for which a handler blocks its thread: a worker that computes cannot beat.
   * @default 60_000
   */
  leaseMs?: number;
  /**
   * How much longer than `leaseMs` the component waits, in milliseconds, 0 to 3,600,000. A worker stops by itself when its
   * lease is over; the grace is for clocks that differ and for a last word that is on its way.
   * @default 0
   */
  graceMs?: number;
  /**
   * How often a job may lose its worker before it ends as `timedOut`, 0 to 100.
   * @default 3; 0 of a queue with `action`, `inline` or `perJob`: an attempt that may have run is not repeated
   */
  maxResets?: number;
  /**
   * Whether an attempt that fails, or takes longer than `timeoutMs`, is followed by another. `true`: up to 5 attempts, the
   * n-th failure followed by a random wait of up to 1,000 ms × 2^(n−1), at most an hour. Or some of these:
   * `maxAttempts` 1 to 1,000, the first included; `initialBackoffMs` and `maxBackoffMs` 0 to 31,622,400,000 (366 days);
   * `base` 1 to 10; `jitter`, how much of the wait is random: `"full"` all of it, `"equal"` its second half, `"none"` nothing.
   * A handler may have side effects, so nothing is retried unless it is asked for.
   * @default false
   * @example
   * retry: { maxAttempts: 10, maxBackoffMs: 60_000 }
   * @example
   * retry: { maxAttempts: 4, initialBackoffMs: 30_000, base: 1, jitter: "none" } // always 30 s apart
   */
  retry?: RetryOption;
  /**
   * How long one attempt may run, however alive its worker is, in milliseconds, 1,000 to 604,800,000 (a week). It then
   * counts as failed, and with the last attempt the job ends as `timedOut`.
   * @default no bound
   */
  timeoutMs?: number;
  /**
   * How long a job may wait for its first attempt from when it falls due, in milliseconds, 1,000 to 126,489,600,000 (four
   * years). After that it ends as `failed`, and its error says that it expired.
   * @default no bound
   */
  expiresAfterMs?: number;
  /**
   * How long a job may take in all, from its enqueue on, waits and retries included, in milliseconds, 1,000 to 126,489,600,000
   * (four years). At that time a job that has not ended becomes `timedOut` with the code `deadlineExceeded`, and an attempt
   * that runs is ended as by `timeoutMs`; one that fails shortly before, so that the next attempt would begin too late, is the
   * last. A job that falls due later than that is refused. A retry by hand begins the time anew. Not in a circular queue.
   * @default no bound
   */
  deadlineMs?: number;
  /**
   * Into how many parts waiting jobs are spread, so that workers seldom conflict at one job, 1 to 64. With 1, jobs are
   * claimed strictly in the order in which they were enqueued.
   * @default 8; 1 in a circular queue
   */
  shards?: number;
  /**
   * Whether a job that was worked on goes back to the end of the line instead of ending: jobs are items that are worked
   * on over and over, new items first, then the least recently worked on. Cancel or delete an item to take it out.
   * @default false
   * @example
   * export const feeds = conveyor.queue("feeds", { circular: true, restMs: 15 * 60_000 });
   */
  circular?: boolean;
  /**
   * In a circular queue, how long an item rests before it is in line again, in milliseconds, 0 to 31,622,400,000.
   * @default 0
   */
  restMs?: number;
  /**
   * How long finished jobs are kept, by how they ended, in milliseconds, each 0 to 31,622,400,000 (366 days).
   * @default a day for `succeededMs` and `canceledMs`, seven for `failedMs` and `timedOutMs`
   * @example
   * retention: { succeededMs: 60 * 60_000 }
   */
  retention?: Partial<Retention>;
  /**
   * The mutation that receives each job's end, in the transaction that ends it: made by {@link Queue.completed}, or any
   * that takes {@link Queue.onCompleteArgs}. A function that returns the reference, or a handle of another component's.
   *
   * It runs with a tenth of a transaction's limits. If it throws, the job's outcome stands, and the mutation retries
   * alone: after 1 s, 2 s, 4 s …, up to ten times. It receives canceled jobs too.
   * @default none
   * @example
   * onComplete: () => internal.emails.sent
   */
  onComplete?: Named;
  /**
   * Ends for which `onComplete` does not run.
   * @default none: it receives every end
   * @example
   * onCompleteExclude: ["canceled"]
   */
  onCompleteExclude?: readonly FinishedStatus[];
  /**
   * How many jobs may run inside Convex at once, 0 to 2,000; 0 is a pause. May be changed while jobs run. Jobs that are no
   * mutations also need a place of the mount, of which all its queues have 48 on class S16, 192 on S256, 768 on D1024 and
   * 1,536 on D2048: see `schedulerShare`.
   * @default 10
   */
  maxParallelism?: number;
  /**
   * How long jobs are left to workers outside before Convex takes them, in milliseconds, 0 to 86,400,000. While none is
   * there that may take a job, Convex takes it at once.
   * @default 0
   */
  fallbackAfterMs?: number;
  /**
   * How long a job with a handler that cannot be begun is tried again, before it has failed, in milliseconds, 0 to
   * 31,622,400,000: the deployment does not have the function, or has had no room for it. Meanwhile `why`, the queue's
   * health and its events say so. With 0 it fails at once.
   * @default 86,400,000, a day
   */
  handlerMissingAfterMs?: number;
  /**
   * Indexes by which jobs are found besides their status: by each of their tags, by their group, or both. It costs a
   * row more for each tag of a job and for its group (some 130 bytes with its index entries), written at its enqueue
   * and deleted with it; nothing when the job moves. Lists by tag and group are then read from there, the newest first.
   * A job that was enqueued before is not in them. Without this a list by tag or group passes by all the jobs of its
   * status.
   * @default none
   * @example
   * export const reports = conveyor.queue("reports", { listBy: ["tag", "group"] });
   */
  listBy?: readonly ListBy[];
  /**
   * The component's lines in the deployment's log about this queue's jobs, one line of JSON each.
   * @default "warn"
   */
  logLevel?: LogLevel;
}

/** All options of a queue. */
export const KNOWN: Known<QueueOptions<any, any, any, any>> = {
  payload: true,
  result: true,
  progress: true,
  context: true,
  action: true,
  mutation: true,
  query: true,
  inline: true,
  batch: true,
  perJob: true,
  leaseMs: true,
  graceMs: true,
  maxResets: true,
  retry: true,
  timeoutMs: true,
  expiresAfterMs: true,
  deadlineMs: true,
  shards: true,
  circular: true,
  restMs: true,
  retention: true,
  onComplete: true,
  onCompleteExclude: true,
  maxParallelism: true,
  fallbackAfterMs: true,
  handlerMissingAfterMs: true,
  listBy: true,
  logLevel: true,
};

/** The configuration that every call carries. A field that was left out has the component's default. */
export function configOf(
  name: string,
  options: QueueOptions<any, any, any, any>,
  { kind, schedulerShare }: { kind?: Kind | undefined; schedulerShare?: number | undefined } = {},
): Omit<QueueConfig, "onComplete" | "handler"> {
  if (name === WORKPOOL_QUEUE) throw nameOfPools();
  const { circular = false, retry, retention, onCompleteExclude } = options;
  if (retention !== undefined) checkOptions("retention", retention, RETENTION_DEFAULT);
  const config: Omit<QueueConfig, "onComplete" | "handler"> = {
    leaseMs: options.leaseMs ?? LEASE_DEFAULT_MS,
    maxResets: options.maxResets ?? resetsOf(options, kind) ?? MAX_RESETS_DEFAULT,
    shards: options.shards ?? (circular ? 1 : SHARDS_DEFAULT),
    ...said("graceMs", options.graceMs),
    ...said("timeoutMs", options.timeoutMs),
    ...said("expiresAfterMs", options.expiresAfterMs),
    ...said("deadlineMs", options.deadlineMs),
    ...said("restMs", options.restMs),
    ...said("logLevel", options.logLevel),
    ...said("push", kind !== undefined || options.perJob === true || undefined),
    ...said("maxParallelism", options.maxParallelism),
    ...said("schedulerShare", schedulerShare),
    ...said("fallbackAfterMs", options.fallbackAfterMs),
    ...said("handlerMissingAfterMs", options.handlerMissingAfterMs),
    ...said("circular", circular || undefined),
    ...said("listBy", listIfGiven("listBy", options.listBy)),
    ...said("retry", retry === undefined ? undefined : retryRule(retry)),
    ...said("retention", retention && { ...RETENTION_DEFAULT, ...withoutUndefined(retention) }),
    ...said("onCompleteExclude", listIfGiven("onCompleteExclude", onCompleteExclude)),
  };
  checkQueueConfig(name, config);
  return config;
}

/** Its declaration and a pool's would replace each other, and its `onComplete` would receive a pool's arguments. */
function nameOfPools(): Error {
  return conveyorError(
    "invalidArgument",
    `No queue may be called "${WORKPOOL_QUEUE}": jobs of a queue with this name are work of a \`Workpool\`. Give it another name.`,
    { argument: "name", got: WORKPOOL_QUEUE },
  );
}

function resetsOf(
  { perJob }: QueueOptions<any, any, any, any>,
  kind: Kind | undefined,
): number | undefined {
  return perJob === true ? 0 : kind && resetsFor(kind);
}

function said<Field extends string, T>(field: Field, value: T | undefined): { [F in Field]?: T } {
  return (value === undefined ? {} : { [field]: value }) as { [F in Field]?: T };
}

/**
 * Refuses options that only a handler inside Convex heeds, where there is none. Asked at each call and not at the definition,
 * below which the handler may be named.
 */
export function checkHandled(name: string, config: Omit<QueueConfig, "onComplete">): void {
  if (config.push === true) return;
  const unheeded = HANDLED_ONLY.find((option) => config[option] !== undefined);
  if (unheeded === undefined) return;
  throw conveyorError(
    "invalidArgument",
    `${unheeded} of the queue "${name}" is for jobs that Convex runs, and the queue has no handler: its jobs would wait for ` +
      `workers outside. Name a handler in the definition or with \`handledBy\`, or leave ${unheeded} out.`,
    { argument: unheeded, queue: name },
  );
}

const HANDLED_ONLY = ["maxParallelism", "fallbackAfterMs", "handlerMissingAfterMs"] as const;

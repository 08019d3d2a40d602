/** The types for a handler's author: its job, its result. Nothing here runs. */
import type { FunctionReference, FunctionReturnType } from "convex/server";
import type { Batching, ContinueOptions, JobId, QueueTypes } from "../shared/index.js";

/** The module of the app that exports the functions of `conveyor.workerApi`, as in `api.worker`. */
export interface WorkerApi {
  claim: FunctionReference<"mutation", "public", any, any>;
  complete: FunctionReference<"mutation", "public", any, any>;
  heartbeat: FunctionReference<"mutation", "public", any, any>;
  report: FunctionReference<"mutation", "public", any, any>;
  watch: FunctionReference<"query", "public", any, any>;
}

/** The payloads and results of the queues that a worker API serves. */
export type QueuesOf<Api extends WorkerApi> =
  FunctionReturnType<Api["claim"]> extends { readonly __queues?: infer Queues }
    ? Extract<Queues, QueueTypes>
    : QueueTypes;

/** The payloads of the queues that handlers may continue with. */
export type ContinuesOf<Api extends WorkerApi> =
  FunctionReturnType<Api["complete"]> extends { readonly __continues?: infer Continues }
    ? Extract<Continues, QueueTypes>
    : QueueTypes;

/** The facts of one attempt of one job. */
export interface JobFacts<Queue extends string = string, Payload = any, Related = any> {
  id: JobId<Queue>;
  queue: Queue;
  payload: Payload;
  /** 1 for the first time, one more at every claim, by any worker. */
  attempt: number;
  /** How often a handler failed before. */
  failures: number;
  /** How often a worker was lost with it before. */
  resets: number;
  /** In milliseconds since 1970, by the deployment's clock. */
  enqueuedAt: number;
  /**
   * The same for all attempts of the job: give it to services that do a thing once for each key. It is the job's id; in a
   * circular queue it is another with each round.
   */
  idempotencyKey: string;
  /** How long this attempt may run, in milliseconds. Then its signal aborts, and it counts as failed. */
  timeoutMs?: number;
  /** As given to `enqueue`, for people. */
  name?: string;
  /** -10 to 10, higher first. */
  priority: number;
  group?: string;
  tags: string[];
  /** Labels that a worker must have to get this job. */
  labels: string[];
  /** Its share of the worker's `maxCost`. */
  cost: number;
  /** In a circular queue: how often the item was worked on before. */
  rounds: number;
  /**
   * The trace of which this attempt is a part, in the form of the W3C header `traceparent`: of the attempt's own span where
   * the worker has a `tracer`, else as given to `enqueue`. Pass it on to services that are called.
   */
  traceparent?: string;
  /** When it last became claimable, by the deployment's clock, of a job with a `traceparent`. */
  claimableAt?: number;
  /** The result of the queue's `related` query, read in the transaction that claimed the job; undefined without one. */
  related: Related;
}

/** How much a log entry matters. */
export type LogLevel = "debug" | "info" | "warn" | "error";

export interface LogOptions {
  /** @default "info" */
  level?: LogLevel;
  /** Any Convex value up to 8 KiB, kept with the message. */
  data?: unknown;
}

/** The fields of a log entry to change; the rest stays. */
export interface LogChange extends LogOptions {
  message?: string;
}

/** An entry in a job's log. */
export interface LogEntry {
  /**
   * Replaces the entry's message and data, in its place: for "3 of 10" that becomes "10 of 10".
   *
   * @throws `payloadTooLarge` for data over 8 KiB.
   */
  readonly update: (change: LogChange) => void;
}

/** The options of `retryLocally`. */
export interface RetryLocallyOptions {
  /**
   * How often at most, 1 to 100.
   * @default 3
   */
  attempts?: number;
  /**
   * The wait after the first failure, in milliseconds, times a random half to whole.
   * @default 500
   */
  minMs?: number;
  /**
   * The longest wait, in milliseconds, up to an hour.
   * @default 10_000
   */
  maxMs?: number;
  /** False where another try would fail as well. */
  shouldRetry?: (error: unknown, attempt: number) => boolean;
}

/** The functions of a job for its handler. Each is a function of its own: it works when it is taken out of the job. */
export interface JobActions<Continues extends QueueTypes = QueueTypes, Progress = any> {
  /**
   * Aborts when the handler is to stop. Give it to `fetch`, and check `signal.aborted` in loops. `signal.reason` is a
   * {@link JobAborted} with a `reason`: see {@link AbortReason}. Where the lease still stands (`canceled`, `timedOut`),
   * a result that is returned all the same is reported.
   */
  readonly signal: AbortSignal;
  /**
   * Shows on every page how far the job is: any Convex value up to 8 KiB. The latest one wins; it is sent at most every
   * 250 ms, for all jobs of the worker in one call, and it may be lost. Call it as often as you like.
   *
   * @throws `payloadTooLarge`, or `invalidPayload` for a value that is not a Convex value.
   */
  readonly progress: (value: Progress) => void;
  /**
   * Adds an entry to the job's log, which readers of the job see while it runs and after: up to 1,000 entries per job,
   * of earlier attempts the oldest go first. It also goes to `onEvent`, or to the console where there is none. It is
   * sent within 250 ms, repeated until it has arrived, and recorded before the job's outcome is.
   *
   * @param message For people. Over 4 KiB it is cut, and says so.
   * @returns The entry, to be updated.
   * @throws `payloadTooLarge` for data over 8 KiB, `invalidPayload` for data that is not a Convex value.
   * @example
   * const entry = job.log("Downloading", { data: { done: 0 } });
   * for await (const done of download(url)) entry.update({ data: { done } });
   */
  readonly log: (message: string, options?: LogOptions) => LogEntry;
  /**
   * Writes to the job's output: text that pages show from the beginning and see grow. Write as little at a time as you
   * like: it is sent when a clause or a line ends, with more than 100 characters, or after a second (see `output` of
   * the worker's options), repeated until it has arrived, and all of it is recorded before the job's outcome is. A
   * retry begins a new output.
   *
   * @throws `payloadTooLarge` when the attempt has written 16 MiB. This is also the limit of a job's stored output: of
   * earlier attempts the oldest goes first.
   * @example
   * for await (const { token } of model.stream(job.payload.prompt, { signal: job.signal })) job.write(token);
   */
  readonly write: (text: string) => void;
  /**
   * Gives the job back until later, without a failure and without using up one of `retry.maxAttempts`. It throws, to end
   * the handler: do not catch its error.
   *
   * @param ms In how many milliseconds the job falls due again, a whole number from 0 to four years.
   * @throws Always.
   * @example
   * if (!(await isReady(job.payload.file))) job.snooze(60_000);
   */
  readonly snooze: (ms: number) => never;
  /**
   * Enqueues another job when this one's result is recorded, in the same transaction: exactly once, however often calls
   * are repeated. If this attempt does not succeed, nothing is enqueued.
   *
   * @param queue One that the app lets its workers continue with: `workerApi({ queues, continueWith: [thumbnails] })`.
   * @param payload Fits that queue's validator; one that does not fails this job.
   * @param options As with `enqueue`.
   * @throws `invalidPayload` for a payload that is not a Convex value, or too large; `invalidArgument` for an option
   * that there is not, and for more than 64 jobs; `payloadTooLarge` for more than 4 MiB of them.
   * @example
   * job.continueWith("thumbnails", { file }, { priority: 5 });
   */
  readonly continueWith: <Queue extends keyof Continues & string>(
    queue: Queue,
    payload: Continues[Queue]["payload"],
    options?: ContinueOptions,
  ) => void;
  /**
   * Runs a part of the handler again when it throws, after waits that double from `minMs` to `maxMs`, with jitter. Nothing
   * is reported, and no attempt of the job is used up: for a service that fails now and then. It ends with the signal.
   * Errors that ask for an outcome (`NonRetryableError`, `RetryAfterError`, a snooze) are not tried again. Jobs of
   * `continueWith` stay when a try fails: call that after it.
   *
   * @param run Gets the number of the try, 1 for the first.
   * @returns The result of `run`.
   * @throws The last error of `run`; the signal's reason, should that abort during a wait.
   * @example
   * const page = await job.retryLocally(() => fetchPage(job.payload.url, job.signal), { attempts: 5 });
   */
  readonly retryLocally: <Result>(
    run: (attempt: number) => Result | Promise<Result>,
    options?: RetryLocallyOptions,
  ) => Promise<Result>;
  /**
   * Whether the handler is to stop: its job was canceled, is another's, or has run for too long. Inside Convex it asks the
   * deployment, and aborts the signal if so; in a worker, which is notified at once, it answers as `signal.aborted`
   * does. A canceled job ends as `canceled`, unless its handler returns a result all the same.
   *
   * @example
   * for (const page of job.payload.pages) {
   *   if (await job.isCanceled()) return null;
   *   await convert(page);
   * }
   */
  readonly isCanceled: () => Promise<boolean>;
}

/**
 * One attempt of one job: the argument of its handler. It may be taken apart, as in `async ({ payload, signal }) => …`.
 *
 * A function that takes a job's part names its queue and payload, as in `(job: Job<"tiles", Tile>) => …`.
 */
export interface Job<
  Queue extends string = string,
  Payload = any,
  Continues extends QueueTypes = any,
  Related = any,
  Progress = any,
>
  extends JobFacts<Queue, Payload, Related>, JobActions<Continues, Progress> {}

/** A handler that returns nothing has the result `null`. */
type HandlerResult<Result> = null extends Result ? Result | void | undefined : Result;

/**
 * Does one job. Its return value is the result, up to about 1 MiB; an error fails the attempt with its message, and the
 * queue's `retry` says whether there is another: `NonRetryableError` and `RetryAfterError` say otherwise. It may be run
 * more than once for a job, when a worker is lost or an attempt fails: make outside effects idempotent by
 * `job.idempotencyKey`; `job.attempt` tells the runs apart.
 */
export type Handler<
  Queue extends string = string,
  Payload = any,
  Result = any,
  Continues extends QueueTypes = QueueTypes,
  Related = any,
  Progress = any,
> = (
  job: Job<Queue, Payload, Continues, Related, Progress>,
) => HandlerResult<Result> | Promise<HandlerResult<Result>>;

/** How a handler of batches answers one of its jobs, each at most once. A job without an answer has the batch's end. */
export interface JobAnswers<Result = any> {
  /**
   * The job has succeeded, with this result. It is recorded within a quarter of a second, whatever the batch comes to.
   *
   * @throws `invalidArgument` for a job that has an answer.
   */
  readonly succeed: (...result: null extends Result ? [result?: Result] : [result: Result]) => void;
  /**
   * The job has failed with this error, as if its own handler had thrown it: `NonRetryableError` and `RetryAfterError` say
   * more.
   *
   * @throws `invalidArgument` for a job that has an answer.
   */
  readonly fail: (error: unknown) => void;
  /**
   * Gives this job back until later, without a failure. It returns: the batch goes on.
   *
   * @param ms As with `snooze` of a job that comes alone.
   * @throws `invalidArgument` for a job that has an answer, and for a time out of bounds.
   */
  readonly snooze: (ms: number) => void;
}

/** One job of a batch. Its signal, progress, log and output are its own. */
export interface BatchJob<
  Queue extends string = string,
  Payload = any,
  Result = any,
  Continues extends QueueTypes = any,
  Related = any,
  Progress = any,
>
  extends
    JobFacts<Queue, Payload, Related>,
    Omit<JobActions<Continues, Progress>, "snooze">,
    JobAnswers<Result> {}

/** What concerns a whole batch. */
export interface BatchContext {
  /** Aborts when none of the batch's jobs is wanted any more. Each job has a signal of its own, too. */
  readonly signal: AbortSignal;
}

/** The results of a batch in the order of its jobs, or nothing. A promise that rejects fails its job alone. */
export type BatchResults<Result> =
  readonly (HandlerResult<Result> | Promise<HandlerResult<Result>>)[] | void | undefined | null;

/**
 * A handler of batches, and how they are gathered. It returns one result for each job, in order; or nothing, after it has
 * answered jobs by `job.succeed`, `job.fail` and `job.snooze`: the rest has succeeded with the result `null`. An error
 * fails all jobs without an answer, each by its own `retry`. Leases, cancels, timeouts and retries are each job's own.
 */
export interface BatchHandler<
  Queue extends string = string,
  Payload = any,
  Result = any,
  Continues extends QueueTypes = QueueTypes,
  Related = any,
  Progress = any,
> {
  batch: Batching;
  handler: (
    jobs: BatchJob<Queue, Payload, Result, Continues, Related, Progress>[],
    batch: BatchContext,
  ) => BatchResults<Result> | Promise<BatchResults<Result>>;
}

/** The arguments of {@link Handler} and {@link BatchHandler} for a queue. */
type HandlerFor<
  Queue extends string,
  Types extends QueueTypes[string],
  Continues extends QueueTypes,
  Related,
  Progress,
> =
  | Handler<Queue, Types["payload"], Types["result"], Continues, Related, Progress>
  | BatchHandler<Queue, Types["payload"], Types["result"], Continues, Related, Progress>;

/** A handler for each queue that the worker serves: a function, or `{ batch, handler }`. */
export type Handlers<Queues extends QueueTypes, Continues extends QueueTypes = QueueTypes> = {
  [Queue in keyof Queues & string]?: HandlerFor<
    Queue,
    Queues[Queue],
    Continues,
    Queues[Queue] extends { related: infer Related } ? Related : undefined,
    Queues[Queue] extends { progress: infer Progress } ? Progress : any
  >;
};

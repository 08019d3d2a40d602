/** The options of an enqueue, and its answers. Nothing here runs. */
import type { FinishedStatus, JobId, OnConflict, RetryOption, Status } from "../shared/index.js";
import type { HandlerOption } from "./handlerOptions.js";
import type { Fits } from "./jobTypes.js";
import type { OnCompleteReference } from "./types.js";

/** A key, with how long it is taken and the rule for a second job. */
export interface KeyOption {
  /** 1 to 256 characters. */
  value: string;
  /**
   * How long the key is taken from the job's enqueue on, even after the job's end, in milliseconds, 1 to
   * 31,622,400,000. A job that takes longer than that no longer blocks its key.
   * @default for as long as the job is active: until it has succeeded, failed, timed out or been canceled
   */
  windowMs?: number | undefined;
  /**
   * The rule when another job has the key. `"existing"`: its id is returned and nothing is enqueued. `"replace"`: it is
   * canceled if no worker has it, and the new job takes its place; a job that runs, or has ended within its window,
   * stays, and the new payload is dropped: {@link Queue.enqueueUnique} answers `tooLate`. `"refuse"`: `duplicateKey` is
   * thrown, with the other's `id`.
   * @default "existing"
   */
  onConflict?: OnConflict | undefined;
}

/** The workers that a job prefers, and for how long. A worker fits that has all labels named here, and the name. */
export interface PreferOption {
  /**
   * As `labels` of a job, and 1 of them at least. `vramGb>=24` prefers a worker with so much. Labels and worker have up to
   * 512 bytes together.
   */
  labels?: readonly string[] | undefined;
  /** The name of a worker, as its options have it: 1 to 64 characters. */
  worker?: string | undefined;
  /**
   * For how long, in milliseconds, from when the job falls due: 1,000 to 3,600,000. It ends to a second, or with the job's
   * first attempt: a retry has no preference.
   */
  forMs: number;
}

/**
 * The options of one job. Durations are whole milliseconds. A field that is left out follows the queue's definition,
 * also when that changes while the job waits. Anything out of bounds is refused with `invalidArgument`.
 */
export interface EnqueueOptions<
  Payload = any,
  Result = any,
  Context = any,
  Handled = HandlerOption,
> {
  /** For people, in logs and on pages: 1 to 128 characters. */
  name?: string | undefined;
  /**
   * Whole, from -10 to 10: a higher one is claimed first, however long lower ones wait.
   * @default 0
   */
  priority?: number | undefined;
  /**
   * When the job falls due, in milliseconds since 1970, at most a year ago and four ahead. At a time that has passed it is
   * claimable at once.
   * @default now
   */
  runAt?: number | undefined;
  /** In how many milliseconds the job falls due, 0 or more. In place of `runAt`. */
  runAfter?: number | undefined;
  /**
   * Makes the job the only one of its queue with this key, for as long as it is active. A string is short for
   * `{ value: string }`. Keys of all an app's users lie side by side: put the user's or tenant's id into the key.
   *
   * @example
   * await reports.enqueue(ctx, { user }, { key: `report:${user}` });
   * @example
   * // At most one per hour, and the latest wins as long as none has begun:
   * key: { value: user, windowMs: 60 * 60_000, onConflict: "replace" }
   */
  key?: string | KeyOption | undefined;
  /** The owner of the job: a tenant, a user, a document. Claims may ask for one group. 1 to 128 characters. */
  group?: string | undefined;
  /** For finding jobs again: up to 16, of 1 to 64 characters. */
  tags?: readonly string[] | undefined;
  /**
   * The labels that a worker must have for the job: up to 16, each of 1 to 64 letters, digits, `_`, `-`, `.` or `:`.
   * `vramGb>=24` needs a worker with the label `vramGb=24` or more: digits, with decimals or without. A route is of one set:
   * name a few steps, as 8, 24 and 80, not each job's own number.
   * The waiting jobs of one queue may have up to 63 different sets of labels and classes of cost.
   * @default none: any worker
   */
  labels?: readonly string[] | undefined;
  /**
   * Workers that are preferred for a time: until it is over no other worker takes the job, nor does Convex itself.
   * @default none
   *
   * @example
   * // The worker that has the model in memory first; after ten seconds any worker.
   * await images.enqueue(ctx, prompt, { prefer: { labels: ["model:flux"], forMs: 10_000 } });
   */
  prefer?: PreferOption | undefined;
  /**
   * The job's share of a worker's budget (its `maxCost`), whole, 1 to 1,000,000,000.
   * @default 1
   */
  cost?: number | undefined;
  /** As the queue's {@link QueueOptions.expiresAfterMs}, counted from when the job falls due. */
  expiresAfterMs?: number | undefined;
  /** As the queue's {@link QueueOptions.deadlineMs}. */
  deadlineMs?: number | undefined;
  /** As the queue's {@link QueueOptions.timeoutMs}. */
  timeoutMs?: number | undefined;
  /** As the queue's {@link QueueOptions.leaseMs}. */
  leaseMs?: number | undefined;
  /** As the queue's {@link QueueOptions.maxResets}. */
  maxResets?: number | undefined;
  /**
   * As the queue's {@link QueueOptions.retry}. Numbers that are left out are the defaults', and not the queue's.
   *
   * @example
   * await emails.enqueue(ctx, mail, { retry: { maxAttempts: 3 } });
   */
  retry?: RetryOption | undefined;
  /**
   * A mutation that receives this job's end, in place of the queue's. A function reference, or a handle from
   * `createFunctionHandle`, which may be of another component's function.
   */
  onComplete?: OnCompleteReference<Payload, Result, Context> | `function://${string}` | undefined;
  /** As the queue's {@link QueueOptions.onCompleteExclude}. */
  onCompleteExclude?: readonly FinishedStatus[] | undefined;
  /**
   * The handler of this job inside Convex, in place of the queue's handler. Of a queue that has one, or is `perJob`. A
   * handler with arguments that do not take the queue's payload, or with a return value that is no result of the queue,
   * is a compile error.
   */
  handler?: Handled | undefined;
  /**
   * Handed to `onComplete` as it is; no worker sees it. Fits the queue's `context` validator. Up to 1,044,480 bytes.
   *
   * @example
   * await tiles.enqueue(ctx, tile, { onComplete: internal.tiles.shown, context: { viewer } });
   */
  context?: Context | undefined;
  /**
   * The span that the job's spans are children of, as the W3C header `traceparent` has it: `00-<trace>-<span>-<flags>`, in
   * lower-case hex. Handlers are given it as `job.traceparent`, jobs of `continueWith` inherit it.
   * @default the span of this enqueue where the `Conveyor` has a `tracer`, else none
   * @example
   * await emails.enqueue(ctx, mail, { traceparent: job.traceparent }); // in a handler: one trace for both jobs
   */
  traceparent?: string | undefined;
}

/** The same for every job of a batch, or asked for each, with its payload and its place in the batch. */
export type BatchOptions<Payload = any, Result = any, Context = any, Handled = HandlerOption> =
  | EnqueueOptions<Payload, Result, Context, Handled>
  | ((
      payload: Payload,
      index: number,
    ) => EnqueueOptions<Payload, Result, Context, Handled> | undefined);

/** Options with a key, for {@link Queue.enqueueUnique}. */
export type UniqueOptions<
  Payload = any,
  Result = any,
  Context = any,
  Handled = HandlerOption,
> = EnqueueOptions<Payload, Result, Context, Handled> & { key: string | KeyOption };

/** A handler that fits the jobs of a queue with this name and these payloads and results; else nothing fits. */
export type Fitting<Handled, Name extends string, Payload, Result> = Handled &
  Fits<Handled, Payload, Result, Name>;

/** The answer of {@link Queue.enqueueUnique}. */
export interface UniqueReply<Name extends string> {
  /** Of the new job, or of the one that has the key. */
  id: JobId<Name>;
  /** Whether this call enqueued it. If not, its payload was dropped. */
  isNew: boolean;
  /**
   * The job that has the key was to be replaced, and could not be: it runs, or has ended within its window. The newer payload
   * is in no job; enqueue it again once that job has ended, or the window is over. Absent otherwise.
   */
  tooLate?: true;
}

/** The answer of {@link Queue.replace}. */
export interface ReplaceReply<Name extends string> {
  /** Whether the job was canceled, and the new one enqueued. */
  replaced: boolean;
  /** Of the new job; of the one that stays, if it was not replaced. */
  id: JobId<Name>;
  /** The state of the job that was to go: `canceled`, or the status that kept it from being replaced. */
  status: Status;
}

/** The payload may be left out where the queue takes none. One signature, since a union of queues would have none of several. */
export type EnqueueArgs<Payload, Options> =
  Record<never, never> extends Payload
    ? [payload?: Payload, options?: Options]
    : [payload: Payload, options?: Options];

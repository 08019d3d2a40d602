/** The types of handlers inside Convex: their jobs, and whether a function fits its queue. Nothing here runs. */
import type { FunctionReference } from "convex/server";
import type { ContinueOptions, JobFacts, JobId } from "../shared/index.js";
import type { BatchResults, JobActions, JobAnswers } from "../worker/types.js";
import type { AnyQueue, RunsMutations, RunsQueries } from "./types.js";

/** The context of an action. */
export interface RunsActions extends RunsMutations, RunsQueries {
  runAction: unknown;
}

/** The facts of a job that every handler gets with the payload. */
export type HandledJob<Name extends string = string> = Omit<JobFacts, "id" | "queue"> & {
  id: JobId<Name>;
  queue: Name;
};

/** Records log entries. */
type Logs = Pick<JobActions, "log">;

/** Ends an attempt without a failure. */
type Snoozes = Pick<JobActions, "snooze">;

interface Continues {
  /**
   * Enqueues another job when this one's result is recorded, in the same transaction: exactly once. If this attempt does
   * not succeed, nothing is enqueued.
   *
   * @param queue A queue of the app, as it is defined.
   * @param payload Fits that queue's validator; one that does not fails this job.
   * @param options As with `enqueue`, but no `onComplete`, no `handler`, and no key that replaces another job.
   * @throws `invalidPayload` for a value that Convex cannot store; `invalidArgument` for an unknown option, and for more than
   * 64 jobs; `payloadTooLarge` for more than 4 MiB of them.
   * @example
   * job.continueWith(thumbnails, { file }, { priority: 5 });
   */
  readonly continueWith: <Next extends AnyQueue>(
    queue: Next,
    payload: Next["types"]["payload"],
    options?: ContinueOptions,
  ) => void;
}

/** A job in a query: it can be read and put off. */
export type QueryJob<Name extends string = string, Payload = any> = HandledJob<Name> & {
  payload: Payload;
} & Snoozes;

/** A job in a mutation. Log entries are written with the mutation's own rows, and undone with them. */
export type MutationJob<Name extends string = string, Payload = any> = QueryJob<Name, Payload> &
  Logs &
  Continues;

/**
 * A job in an action, with a function of its own or inline. Log entries, progress and output are sent while it runs, and
 * the last of them before its end is recorded.
 */
export type ActionJob<Name extends string = string, Payload = any, Progress = any> = MutationJob<
  Name,
  Payload
> &
  Pick<JobActions, "signal" | "write" | "isCanceled"> & {
    /**
     * Shows how far the job is, in the form of the queue's `progress` validator, up to 8 KiB. The latest one wins; it is sent
     * at most every 250 ms, and it may be lost.
     *
     * @throws `payloadTooLarge`, or `invalidPayload` for a value that Convex cannot store or that does not fit.
     */
    readonly progress: (value: Progress) => void;
  };

/** One job of a batch, in an inline handler. Its signal, progress, log and output are its own. */
export type BatchedJob<
  Name extends string = string,
  Payload = any,
  Result = any,
  Progress = any,
> = Omit<ActionJob<Name, Payload, Progress>, "snooze"> & JobAnswers<Result>;

/** An inline handler: of one job, or of several where the queue's definition has `batch`. */
export type InlineHandler<Ctx, Name extends string, Payload, Result, Progress, Batch> = [
  Batch,
] extends [undefined]
  ? (
      ctx: Ctx,
      job: ActionJob<Name, Payload, Progress>,
    ) => Returned<Result> | Promise<Returned<Result>>
  : (
      ctx: Ctx,
      jobs: BatchedJob<Name, Payload, Result, Progress>[],
    ) => BatchResults<Result> | Promise<BatchResults<Result>>;

/** The job of a function that is declared by hand and takes `handlerArgs`: see `Queue.job`. */
export type ToldJob<Name extends string = string, Progress = any> = Omit<
  ActionJob<Name, unknown, Progress>,
  "payload" | "continueWith"
> & {
  /**
   * Resolves when every log entry, the progress and the output are recorded. A function that returns earlier may lose its last
   * words: await this at its end.
   */
  readonly flush: () => Promise<void>;
};

/** A handler that returns nothing has the result `null`. */
export type Returned<Result> = null extends Result ? Result | void | undefined : Result;

// --- Whether a handler fits its queue -----------------------------------------------------------

interface Misfit<Why extends string> {
  readonly __doesNotFit: Why;
}

type FitsArgs<Given, Args, Then> = [Given] extends [Args]
  ? Then
  : Args extends { payload: unknown; job: unknown }
    ? Misfit<"It takes its job: write `{ action: …, job: true }`, or name it in the queue's definition.">
    : Misfit<"The queue's payload does not fit the arguments of this handler: declare the queue's `payload` as its `args`.">;

type FitsResult<Got, Result> = [
  Exclude<Got, void | undefined> | ([Got] extends [NonNullable<Got>] ? never : null),
] extends [Result]
  ? unknown
  : Misfit<"The return value of this handler does not fit the queue's result: return that, or declare the queue's `result` so.">;

type FitsReference<Reference, Given, Result> = [Reference] extends [never]
  ? unknown
  : Reference extends FunctionReference<any, any, infer Args, infer Got>
    ? FitsArgs<Given, Args, FitsResult<Awaited<Got>, Result>>
    : unknown;

/**
 * `unknown` where the handler fits payloads and results of these types; else a type with which the option's
 * intersection is nothing.
 */
export type Fits<Option, Payload, Result, Name extends string> =
  Option extends FunctionReference<any, any, any, any>
    ? FitsReference<Option, Payload, Result>
    : Option extends { [Kind in "action" | "mutation" | "query"]?: infer Reference }
      ? FitsReference<
          Reference,
          Option extends { job: true } ? { payload: Payload; job: HandledJob<Name> } : Payload,
          Result
        >
      : unknown;

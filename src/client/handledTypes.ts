/** The types of handlers inside Convex: what they are called with, and whether they fit their queue. Nothing here runs. */
import type { FunctionReference, GenericActionCtx, GenericDataModel } from "convex/server";
import type { JobId, ProcessStart, QueueTypes } from "../shared/index.js";
import type { Job, JobActions } from "../worker/types.js";
import type { AnyQueue, RunsMutations, RunsQueries } from "./types.js";

/** The context of an action. */
export interface RunsActions extends RunsMutations, RunsQueries {
  runAction: unknown;
}

/** What a handler that takes its job is told of it. */
export interface HandledJob<Name extends string = string> {
  id: JobId<Name>;
  queue: Name;
  /** 1 for the first time, one more at every attempt. */
  attempt: number;
  /** How often it failed before. */
  failures: number;
}

/** What a handler may say of its job. As in a worker: see `JobActions` there. */
export type JobContext<Name extends string = string> = HandledJob<Name> &
  Omit<JobActions, "continueWith"> & {
    /**
     * Resolves when all that the handler has said is recorded. A function that returns earlier may leave its last words
     * unsaid: await this at its end.
     */
    readonly flush: () => Promise<void>;
  };

/** A job of an inline handler, with what the handler may say of it. */
export type InlineJob<
  Name extends string = string,
  Payload = any,
  Continues extends QueueTypes = Record<never, never>,
> = Omit<Job<Name, Payload, Continues>, "related">;

/** A handler that returns nothing has the result `null`. */
type Returned<Result> = null extends Result ? Result | void | undefined : Result;

/** What {@link Queue.worker} takes. */
export interface InlineOptions<
  Name extends string,
  Payload,
  Result,
  Continues extends QueueTypes,
  DataModel extends GenericDataModel,
> {
  handler: (
    ctx: GenericActionCtx<DataModel>,
    job: InlineJob<Name, Payload, Continues>,
  ) => Returned<Result> | Promise<Returned<Result>>;
}

/** One queue's inline handler, for an action that serves several: see `Conveyor.worker`. */
export interface InlinePart<Name extends string = string> {
  readonly queue: AnyQueue;
  readonly handler: (ctx: GenericActionCtx<any>, job: InlineJob<any, any, any>) => unknown;
  readonly continues: readonly AnyQueue[];
  readonly __name?: Name;
}

// --- Whether a handler fits its queue -----------------------------------------------------------

interface Misfit<Why extends string> {
  readonly __doesNotFit: Why;
}

type FitsArgs<Given, Args, Then> = [Given] extends [Args]
  ? Then
  : Misfit<"The queue's payload does not fit the arguments of this handler.">;

type FitsResult<Got, Result> = [
  Exclude<Got, void | undefined> | ([Got] extends [NonNullable<Got>] ? never : null),
] extends [Result]
  ? unknown
  : Misfit<"What this handler returns does not fit the queue's result.">;

type FitsReference<Reference, Given, Result> = [Reference] extends [never]
  ? unknown
  : Reference extends FunctionReference<any, any, infer Args, infer Got>
    ? FitsArgs<Given, Args, FitsResult<Awaited<Got>, Result>>
    : unknown;

/** What the lane of a queue hands to the action in which it runs: that of another queue is none for this one. */
export type StartOf<Name extends string> = ProcessStart & { readonly __queue?: Name };

type FitsLane<Reference, Name extends string> =
  Reference extends FunctionReference<any, any, infer Args, any>
    ? [{ start: StartOf<Name> }] extends [Args]
      ? unknown
      : Misfit<"This action was not made by the `worker` method of this queue.">
    : unknown;

/** `unknown` where the handler fits payloads and results of these types; else what it is, intersected with it, is nothing. */
export type Fits<Option, Payload, Result, Name extends string> =
  Option extends FunctionReference<any, any, any, any>
    ? FitsReference<Option, Payload, Result>
    : Option extends { inline: infer Reference }
      ? FitsLane<Reference, Name>
      : Option extends { [Kind in "action" | "mutation" | "query"]?: infer Reference }
        ? FitsReference<
            Reference,
            Option extends { job: true } ? { payload: Payload; job: HandledJob<Name> } : Payload,
            Result
          >
        : unknown;

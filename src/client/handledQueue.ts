/**
 * The handlers that a queue makes, with their types: the part of {@link Queue} that runs where a job does. The functions
 * themselves are built in `madeHandlers.ts` and `inline.ts`.
 *
 * None of these methods has a type parameter: TypeScript then knows their return types without inferring types from the
 * code that they are given, so that a handler may name functions of its own module.
 */
import type {
  GenericActionCtx,
  GenericDataModel,
  GenericMutationCtx,
  GenericQueryCtx,
  RegisteredAction,
  RegisteredMutation,
  RegisteredQuery,
} from "convex/server";
import type { VAny } from "convex/values";
import type { Tracer, TypedOnCompleteArgs } from "../shared/index.js";
import { vHandlerArgs, type VHandlerArgs } from "./handlerOptions.js";
import { inlineAction, type InlineAction } from "./inline.js";
import { toldJob, withProgress } from "./jobContext.js";
import type {
  ActionJob,
  HandledJob,
  InlineHandler,
  MutationJob,
  QueryJob,
  Returned,
  RunsActions,
  ToldJob,
} from "./jobTypes.js";
import {
  madeAction,
  madeCompleted,
  madeMutation,
  madeQuery,
  type Handled,
  type Builders,
  type Making,
} from "./madeHandlers.js";
import { ObservedQueue } from "./observed.js";
import type { AnyQueue, ValueValidator } from "./types.js";

type Given<Result> = Returned<Result> | Promise<Returned<Result>>;

/** A queue with jobs that Convex itself may run. */
export abstract class HandledQueue<
  Name extends string,
  VPayload extends ValueValidator = VAny,
  VResult extends ValueValidator = VAny,
  DataModel extends GenericDataModel = GenericDataModel,
  VContext extends ValueValidator = VAny,
  VProgress extends ValueValidator = VAny,
  Batch = undefined,
> extends ObservedQueue<Name, VResult, VProgress> {
  abstract readonly payload: VPayload;
  abstract readonly progress: VProgress;
  abstract readonly onCompleteArgs: unknown;
  /** @internal */
  protected abstract readonly builders: Builders;
  /** @internal */
  abstract readonly tracer: Tracer | undefined;

  /**
   * Makes the action that works on this queue's jobs, to be exported by a module of the app and named by the queue's
   * `action`. An action may do anything, and is run at most once per attempt: make its outside effects idempotent by
   * `job.idempotencyKey`, or allow no retry.
   *
   * @param handler Called with the action's context and the job. The value that it returns is the result, up to about 1 MiB,
   * checked by the queue's validator; an error that it throws fails the attempt with that message: `NonRetryableError` and
   * `RetryAfterError` say more.
   * @throws Nothing itself. A job of another queue fails with `handlerMismatch`.
   * @example
   * export const send = emails.action(async (ctx, job) => {
   *   job.log(`to ${job.payload.to}`);
   *   await mail(job.payload, { signal: job.signal, key: job.idempotencyKey });
   * });
   */
  action(
    handler: (
      ctx: GenericActionCtx<DataModel>,
      job: ActionJob<Name, VPayload["type"], VProgress["type"]>,
    ) => Given<VResult["type"]>,
  ): RegisteredAction<"internal", Handled<Name, VPayload["type"]>, Promise<VResult["type"]>> {
    return madeAction(this.making(), handler);
  }

  /**
   * Makes the mutation that works on this queue's jobs, to be exported by a module of the app and named by the queue's
   * `mutation`. Its writes, its log entries and its job's end are one transaction: they take effect exactly once.
   *
   * @param handler Called with the mutation's context and the job. If it throws, nothing of it stays, its log entries
   * included.
   * @throws Nothing itself. A job of another queue fails with `handlerMismatch`.
   * @example
   * export const book = bookings.mutation(async (ctx, { payload }) => {
   *   await ctx.db.insert("bookings", payload);
   * });
   */
  mutation(
    handler: (
      ctx: GenericMutationCtx<DataModel>,
      job: MutationJob<Name, VPayload["type"]>,
    ) => Given<VResult["type"]>,
  ): RegisteredMutation<"internal", Handled<Name, VPayload["type"]>, Promise<VResult["type"]>> {
    return madeMutation(this.making(), handler);
  }

  /**
   * Makes the query that works on this queue's jobs, to be exported by a module of the app and named by the queue's `query`.
   * It may run more than once.
   *
   * @param handler Called with the query's context and the job.
   * @throws Nothing itself. A job of another queue fails with `handlerMismatch`.
   * @example
   * export const sum = sums.query(async (ctx, { payload }) => await total(ctx.db, payload.account));
   */
  query(
    handler: (
      ctx: GenericQueryCtx<DataModel>,
      job: QueryJob<Name, VPayload["type"]>,
    ) => Given<VResult["type"]>,
  ): RegisteredQuery<"internal", Handled<Name, VPayload["type"]>, Promise<VResult["type"]>> {
    return madeQuery(this.making(), handler);
  }

  /**
   * Makes the action in which the queue's lanes run, and every job in it, without a function call of its own. That is
   * cheaper, and the jobs of a lane share one process: an end of the process (a crash, all its memory, a loop without
   * an `await`) ends the attempts of up to 48 of them, and these attempts are not repeated unless `maxResets` says so.
   * Use it for handlers that wait for I/O; a handler that may do harm is an {@link action}.
   *
   * An attempt runs for 9 minutes at most. Its `signal` aborts when its time is over, and within a second of a cancel; a
   * handler that goes on for 5 s after that is waited for no longer.
   *
   * @param handler Called with the action's context and the job, as of {@link action}. In a queue with `batch`, with several
   * jobs: it returns a result for each, in order, or answers each by `job.succeed`, `job.fail` and `job.snooze`.
   * @throws Nothing itself. A job of another queue fails with `handlerMismatch`.
   * @example
   * export const pings = conveyor.queue("pings", { payload: { url: v.string() }, inline: () => internal.pings.ping });
   * export const ping = pings.inline(async (ctx, { payload, signal }) => {
   *   await fetch(payload.url, { signal });
   * });
   */
  inline(
    handler: InlineHandler<
      GenericActionCtx<DataModel>,
      Name,
      VPayload["type"],
      VResult["type"],
      VProgress["type"],
      Batch
    >,
  ): InlineAction {
    return inlineAction(this.making(), [{ queue: this as unknown as AnyQueue, handler }]);
  }

  /**
   * Makes the mutation that receives the end of each job of this queue, to be exported by a module of the app and named
   * by the queue's `onComplete`.
   *
   * @param handler Called with the mutation's context, and the job's id, payload, outcome, last attempt, worker, name and
   * context, in the transaction that ends the job.
   * @throws Nothing itself.
   * @example
   * export const sent = emails.completed(async (ctx, { payload, outcome }) => {
   *   if (outcome.status === "failed") await ctx.db.insert("bounces", { to: payload.to });
   * });
   */
  completed(
    handler: (
      ctx: GenericMutationCtx<DataModel>,
      told: TypedOnCompleteArgs<VPayload["type"], VResult["type"], VContext["type"]>,
    ) => unknown,
  ): RegisteredMutation<
    "internal",
    TypedOnCompleteArgs<VPayload["type"], VResult["type"], VContext["type"]>,
    Promise<null>
  > {
    return madeCompleted({ builders: this.builders }, this.onCompleteArgs, handler);
  }

  /**
   * The arguments of a function that is declared by hand and takes its job: `{ payload, job }`.
   *
   * @example
   * export const send = internalAction({
   *   args: emails.handlerArgs,
   *   handler: async (ctx, { payload, job }) => { … },
   * });
   * emails.handledBy({ action: internal.emails.send, job: true });
   */
  get handlerArgs(): VHandlerArgs<VPayload, Name> {
    return vHandlerArgs(this.payload, this.name);
  }

  /**
   * Log, progress and output of an action that is declared by hand: see {@link action}, which does this by itself.
   * Await `flush` before the action returns.
   *
   * @param ctx Of the action.
   * @param job As the function was given it: see {@link handlerArgs}.
   * @example
   * handler: async (ctx, { payload, job: told }) => {
   *   const job = emails.job(ctx, told);
   *   job.log(`To ${payload.to}`);
   *   await job.flush();
   * }
   */
  job(ctx: RunsActions, job: HandledJob<Name>): ToldJob<Name, VProgress["type"]> {
    return withProgress(this, toldJob(this.component, ctx, job));
  }

  private making(): Making {
    const { name, component, builders, handlerArgs: args, progress, tracer } = this;
    return { name, component, builders, args, progress, tracer };
  }
}

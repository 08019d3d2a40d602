/**
 * What handlers inside Convex take from their queue: their arguments, what they may say of their job, and the action in
 * which inline handlers run. The part of {@link Queue} that runs where a job does.
 */
import type { GenericDataModel, RegisteredAction } from "convex/server";
import type { VAny } from "convex/values";
import type {
  HandledJob,
  InlineOptions,
  InlinePart,
  JobContext,
  RunsActions,
  StartOf,
} from "./handledTypes.js";
import { vHandlerArgs, type VHandlerArgs } from "./handlerOptions.js";
import { inlineAction, jobContext } from "./inline.js";
import { ObservedQueue } from "./observed.js";
import type { AnyQueue, TypesOf, ValueValidator } from "./types.js";

/** A queue whose jobs Convex itself may run. */
export abstract class HandledQueue<
  Name extends string,
  VPayload extends ValueValidator = VAny,
  VResult extends ValueValidator = VAny,
  DataModel extends GenericDataModel = GenericDataModel,
> extends ObservedQueue<Name, VResult> {
  abstract readonly payload: VPayload;

  /**
   * The arguments of a handler with `job: true`: `{ payload, job }`.
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
   * What an action that works on a job of this queue may say of it: how far it is, log entries, output, all as in a worker
   * outside; and ask whether somebody wants the job to end. Its `signal` aborts when it learns so. What it says is sent
   * within 250 ms, in one call at a time; await `flush` before the action returns.
   *
   * @param ctx Of the action. A mutation handler has nothing to say that its own end does not.
   * @param job As the handler was given it: see {@link handlerArgs}.
   * @example
   * export const send = internalAction({
   *   args: emails.handlerArgs,
   *   handler: async (ctx, { payload, job: told }) => {
   *     const job = emails.job(ctx, told);
   *     job.log(`To ${payload.to}`);
   *     const messageId = await post(payload, { signal: job.signal });
   *     await job.flush();
   *     return { messageId };
   *   },
   * });
   */
  job(ctx: RunsActions, job: HandledJob<Name>): JobContext<Name> {
    return jobContext(this.component, ctx, job);
  }

  /**
   * An inline handler: an internal action, to be exported by a module of the app, in which the queue's lanes run, and every
   * job in it, without a function call of its own. That is cheaper, and the jobs of a lane share one process: what ends the
   * process (a crash, all its memory, a loop without an `await`) ends the attempts of up to 48 of them, and those are not run
   * again unless `maxResets` says so. Use it for handlers that wait for others; what may do harm gets an action of its own.
   *
   * An attempt runs for 9 minutes at most. Its `signal` aborts when its time is over, or, within 5 s, when somebody
   * cancels it; a handler that goes on for 5 s after that is waited for no longer.
   *
   * @param options.handler Called with the action's context, and the job with its payload and all that a handler may say
   * of it. What it returns is the result, checked by the queue's validator; what it throws fails the attempt.
   * @param options.continueWith The queues into which `job.continueWith` may put jobs.
   * @example
   * // "use node" modules will do as well.
   * export const work = pages.worker({
   *   handler: async (ctx, job) => {
   *     const response = await fetch(job.payload.url, { signal: job.signal });
   *     return { status: response.status };
   *   },
   * });
   * pages.handledBy({ inline: internal.pages.work });
   */
  worker<const Continues extends readonly AnyQueue[] = []>({
    handler,
    continueWith = [] as unknown as Continues,
  }: InlineOptions<Name, VPayload["type"], VResult["type"], TypesOf<Continues>, DataModel> & {
    continueWith?: Continues;
  }): RegisteredAction<"internal", { start: StartOf<Name> }, Promise<null>> {
    return inlineAction(this.component, [this.inline({ handler, continueWith })]);
  }

  /**
   * An inline handler of this queue for an action that serves several queues, so that they share processes: see
   * `Conveyor.worker`. Options as of {@link worker}.
   *
   * @example
   * export const work = conveyor.worker([pages.inline({ handler: load }), feeds.inline({ handler: read })]);
   */
  inline<const Continues extends readonly AnyQueue[] = []>({
    handler,
    continueWith = [] as unknown as Continues,
  }: InlineOptions<Name, VPayload["type"], VResult["type"], TypesOf<Continues>, DataModel> & {
    continueWith?: Continues;
  }): InlinePart<Name> {
    return { queue: this as unknown as AnyQueue, handler, continues: continueWith };
  }
}

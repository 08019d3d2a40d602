/** The class that stands in for `Workpool` of `@convex-dev/workpool`. It keeps no state. */
import {
  internalMutationGeneric,
  type DefaultFunctionArgs,
  type FunctionReference,
  type FunctionVisibility,
  type GenericDataModel,
  type GenericMutationCtx,
  type RegisteredMutation,
} from "convex/server";
import type { Infer, Validator, VAny } from "convex/values";
import { WORK_STATUS_MAX, type WorkStatus } from "../shared/index.js";
import {
  callComponent,
  checkComponent,
  type ComponentApi,
  type RunsMutations,
  type RunsQueries,
} from "../client/parts.js";
import { enqueue, enqueueBatch } from "./enqueue.js";
import type { EnqueueOptions, RetryOption, WorkOptions, WorkpoolOptions } from "./options.js";
import {
  DEFAULT_RETRY_BEHAVIOR,
  vOnCompleteArgs,
  type OnCompleteArgs,
  type RunResult,
  type WorkId,
} from "./validators.js";

/** The component that a pool is mounted as. */
export type WorkpoolComponent = ComponentApi;

/**
 * A pool of work that Convex runs, at most so much of it at once. Each pool is a mount of the component of its own
 * (`app.use(conveyor, { name: "emailWorkpool" })`): two classes for one mount share its work and its parallelism.
 *
 * A function is given as a reference, or as a handle, also of another component's function.
 *
 * @example
 * const emails = new Workpool(components.emailWorkpool, { maxParallelism: 10 });
 * await emails.enqueueAction(ctx, internal.emails.send, { to }, { onComplete: internal.emails.sent, retry: true });
 */
export class Workpool {
  /**
   * @param component As mounted, like `components.emailWorkpool`.
   * @throws `componentNotMounted` for `undefined`.
   */
  constructor(
    public component: WorkpoolComponent,
    public options: WorkpoolOptions = {},
  ) {
    checkComponent(component);
  }

  /**
   * Runs an action, at most once unless `retry` says otherwise.
   *
   * @param ctx The context of a mutation, which then includes the work in its transaction, or of an action.
   * @returns The id by which to ask for its status, and to cancel it.
   * @throws `payloadTooLarge`, `invalidArgument` for a retry rule out of bounds, `queueDraining`, `componentNotMounted`.
   * @example
   * const id = await pool.enqueueAction(ctx, internal.weather.scrape, { city }, { runAfter: 60_000 });
   */
  async enqueueAction<Args extends DefaultFunctionArgs, Context, ReturnType>(
    ctx: RunsMutations,
    fn: FunctionReference<"action", FunctionVisibility, Args, NoInfer<ReturnType>>,
    fnArgs: Args,
    options?: RetryOption & EnqueueOptions<Context, ReturnType>,
  ): Promise<WorkId> {
    return await enqueue(this.component, ctx, "action", fn, fnArgs, this.action(options));
  }

  /**
   * Runs an action for each of these arguments. Much cheaper than as many single calls.
   *
   * @throws As {@link enqueueAction}; in a mutation also for over 8 MiB or 8,000 rows (one or two a piece of work, and one for
   * each context over 512 bytes). From an action any number; `batchInterrupted` if a part of them failed.
   * @example
   * await pool.enqueueActionBatch(ctx, internal.weather.scrape, cities.map((city) => ({ city })));
   */
  async enqueueActionBatch<Args extends DefaultFunctionArgs, Context, ReturnType>(
    ctx: RunsMutations,
    fn: FunctionReference<"action", FunctionVisibility, Args, NoInfer<ReturnType>>,
    argsArray: Args[],
    options?: RetryOption & EnqueueOptions<Context, ReturnType>,
  ): Promise<WorkId[]> {
    return await enqueueBatch(this.component, ctx, "action", fn, argsArray, this.action(options));
  }

  /**
   * Runs a mutation, exactly once, in the transaction that records its end and tells `onComplete`. It is not tried again
   * when it throws: Convex itself does that for conflicts.
   *
   * @throws As {@link enqueueAction}.
   * @example
   * await counters.enqueueMutation(ctx, internal.counter.increment, {});
   */
  async enqueueMutation<Args extends DefaultFunctionArgs, Context, ReturnType>(
    ctx: RunsMutations,
    fn: FunctionReference<"mutation", FunctionVisibility, Args, NoInfer<ReturnType>>,
    fnArgs: Args,
    options?: EnqueueOptions<Context, ReturnType>,
  ): Promise<WorkId> {
    return await enqueue(this.component, ctx, "mutation", fn, fnArgs, this.said(options));
  }

  /** {@link enqueueMutation} for each of these arguments, each by itself. */
  async enqueueMutationBatch<Args extends DefaultFunctionArgs, Context, ReturnType>(
    ctx: RunsMutations,
    fn: FunctionReference<"mutation", FunctionVisibility, Args, NoInfer<ReturnType>>,
    argsArray: Args[],
    options?: EnqueueOptions<Context, ReturnType>,
  ): Promise<WorkId[]> {
    return await enqueueBatch(this.component, ctx, "mutation", fn, argsArray, this.said(options));
  }

  /**
   * Runs a query, with its result passed to `onComplete`.
   *
   * @throws As {@link enqueueAction}.
   * @example
   * await pool.enqueueQuery(ctx, internal.reports.sum, { month }, { onComplete: internal.reports.summed });
   */
  async enqueueQuery<Args extends DefaultFunctionArgs, Context, ReturnType>(
    ctx: RunsMutations,
    fn: FunctionReference<"query", FunctionVisibility, Args, NoInfer<ReturnType>>,
    fnArgs: Args,
    options?: EnqueueOptions<Context, ReturnType>,
  ): Promise<WorkId> {
    return await enqueue(this.component, ctx, "query", fn, fnArgs, this.said(options));
  }

  /** {@link enqueueQuery} for each of these arguments, each by itself. */
  async enqueueQueryBatch<Args extends DefaultFunctionArgs, Context, ReturnType>(
    ctx: RunsMutations,
    fn: FunctionReference<"query", FunctionVisibility, Args, NoInfer<ReturnType>>,
    argsArray: Args[],
    options?: EnqueueOptions<Context, ReturnType>,
  ): Promise<WorkId[]> {
    return await enqueueBatch(this.component, ctx, "query", fn, argsArray, this.said(options));
  }

  /**
   * Ends work that has not begun, at once, and passes `canceled` to its `onComplete` in this transaction. Running work
   * goes on and is not tried again: a success stands, the last failure is `failed`, and any other end is `canceled`.
   * Work that has ended is left.
   *
   * @throws `componentNotMounted`.
   * @example
   * await pool.cancel(ctx, id);
   */
  async cancel(ctx: RunsMutations, id: WorkId): Promise<void> {
    await callComponent(() => ctx.runMutation(this.component.workpool.cancel, { id }));
  }

  /**
   * {@link cancel} of all work that is there, the newest first. Each `onComplete` runs in a transaction of its own.
   *
   * @param options.limit How many in this transaction, at most 100; the rest goes on by itself.
   * @default limit 64
   * @throws `invalidArgument` for a `limit` that is no whole number of 1 or more, `componentNotMounted`.
   * @example
   * await pool.cancelAll(ctx);
   */
  async cancelAll(ctx: RunsMutations, options: { limit?: number } = {}): Promise<void> {
    await callComponent(() => ctx.runMutation(this.component.workpool.cancelAll, options));
  }

  /**
   * How a piece of work stands: `{ state: "pending", previousAttempts }` until it is begun and between two attempts,
   * `{ state: "running", previousAttempts }`, or `{ state: "finished" }`, which an id that names no work is too. In a query of the
   * app it is live.
   *
   * @throws `componentNotMounted`.
   * @example
   * const { state } = await pool.status(ctx, id);
   */
  async status(ctx: RunsQueries, id: WorkId): Promise<WorkStatus> {
    return (await this.statusBatch(ctx, [id]))[0]!;
  }

  /** {@link status} of many, in their order. */
  async statusBatch(ctx: RunsQueries, ids: WorkId[]): Promise<WorkStatus[]> {
    const { statusBatch } = this.component.workpool;
    const all: WorkStatus[] = [];
    for (let at = 0; at < ids.length; at += WORK_STATUS_MAX) {
      const some = ids.slice(at, at + WORK_STATUS_MAX);
      all.push(...(await callComponent(() => ctx.runQuery(statusBatch, { ids: some }))));
    }
    return all;
  }

  /**
   * Defines an internal mutation for `onComplete`, with its arguments typed.
   *
   * @param of.context The validator of the context; without it, any, or none.
   * @param of.returnValue The validator of the function's return value; without it, anything.
   * @example
   * export const sent = pool.defineOnComplete<DataModel>({
   *   context: v.object({ user: v.id("users") }),
   *   handler: async (ctx, { context, result }) => {
   *     if (result.kind === "success") await ctx.db.patch(context.user, { welcomed: true });
   *   },
   * });
   */
  defineOnComplete<
    DataModel extends GenericDataModel,
    VContext extends Validator<any, any, any> = VAny<any, "optional">,
    VReturnValue extends Validator<any, any, any> = VAny<any, "optional">,
  >({
    context,
    handler,
    returnValue,
  }: {
    context?: VContext;
    handler: (
      ctx: GenericMutationCtx<DataModel>,
      args: {
        workId: WorkId;
        context: Infer<VContext>;
        result: RunResult<Infer<VReturnValue>>;
      },
    ) => Promise<void>;
    returnValue?: VReturnValue;
  }): RegisteredMutation<
    "internal",
    OnCompleteArgs<Infer<VContext>, Infer<VReturnValue>>,
    Promise<void>
  > {
    return internalMutationGeneric({
      args: vOnCompleteArgs(context, returnValue),
      handler: handler as never,
    });
  }

  private action<Context, ReturnType>(
    options: RetryOption & EnqueueOptions<Context, ReturnType> = {},
  ): WorkOptions<Context, ReturnType> {
    const { retry, ...said } = options;
    const { defaultRetryBehavior = DEFAULT_RETRY_BEHAVIOR, retryActionsByDefault } = this.options;
    const wanted = retry ?? retryActionsByDefault ?? false;
    const retryBehavior = wanted === true ? defaultRetryBehavior : wanted || undefined;
    return { ...this.said(said), retryBehavior };
  }

  private said<Context, ReturnType>(
    options?: EnqueueOptions<Context, ReturnType>,
  ): WorkOptions<Context, ReturnType> {
    const { maxParallelism, logLevel } = this.options;
    return { ...(options as EnqueueOptions<Context, ReturnType>), maxParallelism, logLevel };
  }
}

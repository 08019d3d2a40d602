/** One queue, as the app's backend uses it: every call carries its declaration to the component. It keeps no state of jobs. */
import type { GenericDataModel } from "convex/server";
import { v, type VAny } from "convex/values";
import {
  conveyorError,
  RESULT_RULE_MAX_CHARS,
  type Enqueued,
  type Handler,
  type JobId,
  type NewJob,
  type OwnJobId,
  type QueueConfig,
  type QueueDeclaration,
  type Tracer,
} from "../shared/index.js";
import { writeValidator } from "../shared/writtenValidator.js";
import { queueFunctions } from "./api.js";
import type { QueueApi, QueueApiOptions } from "./apiTypes.js";
import { vOnComplete, type VOnComplete } from "./appValidators.js";
import { payloadsOf, sendAll } from "./batches.js";
import type { ComponentApi } from "./componentApi.js";
import type {
  BatchOptions,
  EnqueueArgs,
  EnqueueOptions,
  Fitting,
  ReplaceReply,
  UniqueOptions,
  UniqueReply,
} from "./enqueueTypes.js";
import { QueueControl } from "./control.js";
import type { ConveyorOptions } from "./definitions.js";
import { HandledQueue } from "./handledQueue.js";
import {
  batchingOf,
  callbackOf,
  checkNamed,
  handlerNamed,
  handlerOf,
  namedHandler,
  givenHandler,
  type HandlerOption,
  type NamedHandler,
} from "./handlerOptions.js";
import type { Fits } from "./jobTypes.js";
import type { Builders } from "./madeHandlers.js";
import { callComponent, callDeclaring, checkWrites } from "./mounted.js";
import { checkOptions, inSpan, NewJobs } from "./newJobs.js";
import { checkHandled, configOf, KNOWN, validatorOf, type QueueOptions } from "./queueOptions.js";
import type { CancelReply, RetryReply, RunsMutations, ValueValidator } from "./types.js";

type OptionsOf<
  Name extends string,
  VPayload extends ValueValidator,
  VResult extends ValueValidator,
  VContext extends ValueValidator,
  Handled,
> = EnqueueOptions<
  VPayload["type"],
  VResult["type"],
  VContext["type"],
  Fitting<Handled, Name, VPayload["type"], VResult["type"]>
>;

/** A queue of jobs. Made by {@link Conveyor.queue}. */
export class Queue<
  Name extends string,
  VPayload extends ValueValidator = VAny,
  VResult extends ValueValidator = VAny,
  DataModel extends GenericDataModel = GenericDataModel,
  VContext extends ValueValidator = VAny,
  VProgress extends ValueValidator = any,
  Batch = undefined,
> extends HandledQueue<Name, VPayload, VResult, DataModel, VContext, VProgress, Batch> {
  /** The validator of payloads; of `{}` where the definition has none. */
  readonly payload: VPayload;
  /** The validator of results; `v.any()` where the definition has none. */
  readonly result: VResult;
  /** The validator of progress values; `v.any()` where the definition has none. */
  readonly progress: VProgress;
  /** The validator of contexts; `v.any()` where the definition has none. */
  readonly context: VContext;
  /**
   * The arguments of this queue's `onComplete` mutation.
   *
   * @example
   * export const tileDone = internalMutation({
   *   args: tiles.onCompleteArgs,
   *   handler: async (ctx, { payload, outcome }) => { … },
   * });
   */
  readonly onCompleteArgs: VOnComplete<VPayload, VResult, Name, VContext>;
  /** Never there: payload, result and progress as types. */
  declare readonly types: {
    payload: VPayload["type"];
    result: VResult["type"];
    progress: VProgress["type"];
  };

  /** @internal How jobs are gathered for its inline handler. */
  readonly batching: ReturnType<typeof batchingOf>;
  private config: Omit<QueueConfig, "onComplete" | "handler">;
  private readonly options: AnyOptions;
  /** For the component, which calls handlers that are functions of their own. */
  private readonly resultRule: string | null;
  /** As the definition names it. */
  private readonly named: NamedHandler | undefined;
  /** As `handledBy` names it. */
  private handler: HandlerOption | undefined;
  private handlerMade: Handler | undefined;
  /** A handle is the same for the whole life of a deployed version, so one lookup per loaded module is enough. */
  private callbackHandle: string | undefined;
  protected readonly builders: Builders;
  readonly tracer: Tracer | undefined;
  private readonly schedulerShare: number | undefined;

  /** @internal Use {@link Conveyor.queue}. */
  constructor(
    component: ComponentApi,
    name: Name,
    options: AnyOptions,
    { schedulerShare, tracer, ...builders }: ConveyorOptions = {},
  ) {
    super(component, name);
    checkOptions("queue", options, KNOWN);
    this.options = options;
    this.builders = builders;
    this.tracer = tracer;
    this.schedulerShare = schedulerShare;
    this.named = namedHandler(name, options);
    this.config = configOf(name, options, { kind: this.named?.kind, schedulerShare });
    this.batching = batchingOf(name, options);
    this.payload = validatorOf(options.payload) as ValueValidator as VPayload;
    this.result = (options.result ?? v.any()) as VResult;
    this.progress = (options.progress ?? v.any()) as VProgress;
    this.context = (options.context ?? v.any()) as VContext;
    this.resultRule = writeValidator(this.result, RESULT_RULE_MAX_CHARS);
    const { payload, result, context } = this;
    this.onCompleteArgs = vOnComplete({ payload, result, name, context });
    checkNamed(name, "onComplete", options.onComplete);
  }

  /**
   * Names a function that exists as this queue's handler: of the app, or of another component by its handle. Its arguments
   * are the payload. A function that the queue itself makes is named in the definition instead: see {@link action}.
   *
   * A function with arguments that do not take the queue's payload, or with a return value that is no result of the
   * queue, is a compile error here.
   *
   * @throws `invalidArgument` when the queue has a handler already.
   * @example
   * export const emails = conveyor.queue("emails", { payload: vMail });
   * emails.handledBy(internal.emails.send);
   */
  handledBy<const Option extends HandlerOption>(
    handler: Option & Fits<Option, VPayload["type"], VResult["type"], Name>,
  ): void {
    if (this.named !== undefined || this.handler !== undefined) {
      throw conveyorError(
        "invalidArgument",
        `The queue "${this.name}" has a handler already, and a queue has one. Give single jobs another with enqueue's \`handler\`.`,
        { queue: this.name },
      );
    }
    this.handler = handler;
    const { kind } = givenHandler(handler);
    const { schedulerShare } = this;
    this.config = configOf(this.name, this.options, { kind, schedulerShare });
  }

  /**
   * Puts a job into the queue. In a mutation the job belongs to the transaction: if it throws, there is no job.
   *
   * @param payload Fits the queue's `payload` validator; up to 1,044,480 bytes (1 MiB less 4 KiB).
   * @param options The options of this job; see {@link EnqueueOptions}.
   * @returns The job's id; with a `key` that another job has and keeps, that one's: {@link enqueueUnique} says which.
   * @throws `invalidPayload`, `payloadTooLarge`, `invalidArgument` for an option out of bounds, `duplicateKey` where the key
   * says `"refuse"`, `queueDraining`, `tooManyRoutes`, `tooManyPlaces`,
   * `componentNotMounted`.
   * @example
   * const job = await tiles.enqueue(ctx, { picture, x: 0, y: 0 });
   * @example
   * await cleanups.enqueue(ctx); // a queue without payload
   * @example
   * await emails.enqueue(ctx, mail, { runAfter: 60_000, priority: 5, retry: true, key: `welcome:${user}` });
   */
  async enqueue<const Handled extends HandlerOption = HandlerOption>(
    ctx: RunsMutations,
    ...args: EnqueueArgs<VPayload["type"], OptionsOf<Name, VPayload, VResult, VContext, Handled>>
  ): Promise<JobId<Name>> {
    const [payload = {}, options = {}] = args as [unknown?, EnqueueOptions?];
    const { id } = await this.enqueueUnique(ctx, payload, options as UniqueOptions);
    return id;
  }

  /**
   * As {@link enqueue}, and says whether the job is new or another has its key, and whether it came too late to replace that.
   *
   * @throws As `enqueue`.
   * @example
   * const { id, isNew } = await reports.enqueueUnique(ctx, { user }, { key: user });
   * if (!isNew) return { id, note: "Your report is on its way already." };
   * @example
   * const key = { value: page, onConflict: "replace" } as const;
   * const { tooLate } = await indexing.enqueueUnique(ctx, { page }, { key });
   * if (tooLate) await ctx.db.patch(page, { indexAgain: true }); // for `onComplete`: the running job saw the earlier state
   */
  async enqueueUnique<const Handled extends HandlerOption = HandlerOption>(
    ctx: RunsMutations,
    payload: VPayload["type"],
    options: OptionsOf<Name, VPayload, VResult, VContext, Handled> & Pick<UniqueOptions, "key">,
  ): Promise<UniqueReply<Name>> {
    const [one] = await inSpan(this, options, 1, async (traced) =>
      this.send(ctx, [await this.newJobs(ctx).make(payload, traced)]),
    );
    const { id, isNew, tooLate } = one!;
    return { id: id as JobId<Name>, isNew, ...(tooLate === true ? { tooLate } : {}) };
  }

  /**
   * Puts many jobs into the queue; much cheaper than as many single calls.
   *
   * In a mutation all or none: up to 8 MiB of payloads, 8,000 rows (one per job, and one for each key, expiry,
   * deadline, and payload or context of over 512 bytes) and 2,048 keys and different rules (as `timeoutMs` and `retry` of
   * single jobs) together; 500 keys may say `"replace"`. More is
   * refused before anything is done. In an action any number, in transactions of up to 1,000 jobs and 4 MiB, with a
   * wait where the deployment may not write as fast (4 MiB per second on the smallest); if one fails,
   * `batchInterrupted` says how many are `enqueued`, from the first on, with their `ids` by call.
   *
   * @param options For every job; or a function of payload and place, asked for each.
   * @returns The jobs' ids, in the order of the payloads: as of `enqueue`, a job's that keeps a key.
   * @throws As `enqueue`: for a payload the path begins with its place, as in `payloads[3].x`, and other details have its
   * `index`. `batchInterrupted`, in an action. `invalidArgument` for an empty list.
   * @example
   * const jobs = await tiles.enqueueBatch(ctx, corners.map(({ x, y }) => ({ picture, x, y })));
   * @example
   * await emails.enqueueBatch(ctx, mails, (mail, i) => ({ key: mail.to, runAfter: i * 100 }));
   */
  async enqueueBatch<const Handled extends HandlerOption = HandlerOption>(
    ctx: RunsMutations,
    payloads: readonly VPayload["type"][],
    options: BatchOptions<
      VPayload["type"],
      VResult["type"],
      VContext["type"],
      Fitting<Handled, Name, VPayload["type"], VResult["type"]>
    > = {},
  ): Promise<JobId<Name>[]> {
    const list = payloadsOf(payloads);
    const newJobs = this.newJobs(ctx);
    const { expiresAfterMs, deadlineMs, listBy } = this.config;
    const shared = typeof options === "function" ? {} : options;
    const enqueued = await inSpan(this, shared, list.length, async ({ traceparent }) => {
      return await sendAll(ctx, await newJobs.makeAll(list, options, traceparent), {
        ...{ expire: expiresAfterMs !== undefined, hasDeadline: deadlineMs !== undefined, listBy },
        send: (part) => this.send(ctx, part),
      });
    });
    return enqueued.map(({ id }) => id as JobId<Name>);
  }

  /**
   * Cancels a job and, only if no worker has it and it has not ended, enqueues another in its place: in one transaction, so
   * that never both run and never neither is there. `onComplete` receives the first as canceled.
   *
   * @param id The job that is to go.
   * @param payload Of the new one.
   * @param options Of the new one: nothing is taken over from the job that goes.
   * @returns Whether it was replaced, the id of the job that is there now, and the status of the first.
   * @throws `unknownJob` for an id that names no job of this queue; `duplicateKey` where a third job has the new one's key and
   * stays, so that nothing is canceled; as `enqueue`.
   * @example
   * const { replaced, status } = await emails.replace(ctx, pending, { to, body: corrected });
   * if (!replaced) await emails.enqueue(ctx, { to, body: `A correction. It was ${status}.` });
   */
  async replace<const Handled extends HandlerOption = HandlerOption>(
    ctx: RunsMutations,
    id: OwnJobId<Name>,
    payload: VPayload["type"],
    options: OptionsOf<Name, VPayload, VResult, VContext, Handled> = {},
  ): Promise<ReplaceReply<Name>> {
    const [reply] = await inSpan(this, options, 1, async (traced) => {
      const job = await this.newJobs(ctx).make(payload, traced);
      const queue = await this.declaration();
      const call = () => ctx.runMutation(this.component.lib.replace, { id, queue, job });
      return [await callDeclaring(ctx, this.component, [queue], call)] as const;
    });
    return { ...reply, id: reply.id as JobId<Name> };
  }

  /**
   * Ends a job that no worker has begun, at once, and tells `onComplete`: it will never run. The worker of a job that
   * runs is asked to end it: its handler's signal aborts, and however the attempt ends, the job is `canceled`, unless the
   * handler returns a result all the same. A job that has ended is left as it is. The answer says which of them it was.
   *
   * @param options.reason Why, for people and for `onComplete`, up to 4,096 bytes; a longer one is cut.
   * @throws `unknownJob` for an id that names no job of this queue, `componentNotMounted`.
   * @example
   * const { canceled, requested } = await tiles.cancel(ctx, id, { reason: "The picture was deleted." });
   * if (!canceled && !requested) throw new ConvexError("Too late: it has ended.");
   */
  async cancel(
    ctx: RunsMutations,
    id: OwnJobId<Name>,
    options: { reason?: string } = {},
  ): Promise<CancelReply> {
    checkWrites(ctx, this.name);
    const args = { ...options, id, queue: this.name };
    return await callComponent(() => ctx.runMutation(this.component.operate.cancelJob, args));
  }

  /**
   * Makes a finished job claimable again, with its payload, and its counts of failures and resets at zero. A job that
   * has not ended is left as it is, and the answer says so.
   *
   * @throws `unknownJob` for an id that names no job of this queue, `componentNotMounted`.
   * @example
   * const { retried } = await tiles.retry(ctx, id);
   */
  async retry(ctx: RunsMutations, id: OwnJobId<Name>): Promise<RetryReply> {
    checkWrites(ctx, this.name);
    return await callComponent(() =>
      ctx.runMutation(this.component.operate.retryJob, { id, queue: this.name }),
    );
  }

  /**
   * The operations on the queue while it runs: pause, drain and configure it, pause and delete jobs, change many at
   * once. See {@link QueueControl}. Nothing of it is in {@link api}.
   *
   * @example
   * export const pauseTiles = internalMutation({ handler: (ctx) => tiles.control.pause(ctx) });
   */
  get control(): QueueControl<Name> {
    return new QueueControl(this.component, this.name, () => this.declaration());
  }

  /**
   * {@link Conveyor.api} of this queue alone: the same functions, for an app that wants a queue's apart.
   *
   * @param options.authorize Decides about every call; see {@link ApiOptions}.
   * @param options.enqueue Whether pages may enqueue, and with which options; see {@link EnqueueRule}. Here it may give
   * a job a handler of its own.
   * @throws Nothing itself. The functions throw the errors of {@link Conveyor.api}.
   * @example
   * export const { enqueue, status } = tiles.api({
   *   authorize: async (ctx) => (await ctx.auth.getUserIdentity()) !== null,
   *   enqueue: true,
   * });
   */
  api<const Handled extends HandlerOption = HandlerOption>(
    options: QueueApiOptions<
      DataModel,
      VPayload["type"],
      Name,
      OptionsOf<Name, VPayload, VResult, VContext, Handled>
    >,
  ): QueueApi<Name, VPayload["type"], VResult["type"], VProgress["type"]> {
    return queueFunctions(this.component, this, options);
  }

  /** @internal A job of this queue that a worker wants to follow another. */
  async newJob(payload: VPayload["type"], options?: EnqueueOptions): Promise<NewJob> {
    return await this.newJobs().make(payload, options);
  }

  private newJobs(ctx?: RunsMutations): NewJobs {
    if (ctx !== undefined) checkWrites(ctx, this.name);
    const { name: queue, payload, context } = this;
    const { push } = this.config;
    return new NewJobs({ queue, payload, context, push, maxResets: this.options.maxResets }, ctx);
  }

  private async send(ctx: RunsMutations, jobs: NewJob[]): Promise<Enqueued[]> {
    const queue = await this.declaration();
    const call = () => ctx.runMutation(this.component.lib.enqueue, { queue, jobs });
    return await callDeclaring(ctx, this.component, [queue], call);
  }

  /** @internal Every enqueue and claim carries it; the component keeps the last one that it received. */
  async declaration(): Promise<QueueDeclaration> {
    checkHandled(this.name, this.config);
    const config: QueueConfig = { ...this.config };
    const { onComplete } = this.options;
    if (onComplete !== undefined) {
      config.onComplete = this.callbackHandle ??= await callbackOf(this.name, onComplete);
    }
    if (config.push === true && this.resultRule !== null) config.result = this.resultRule;
    if (this.named !== undefined) {
      config.handler = this.handlerMade ??= await handlerNamed(this.name, this.named);
    } else if (this.handler !== undefined) {
      config.handler = this.handlerMade ??= await handlerOf(this.handler);
    }
    return { name: this.name, config };
  }
}

type AnyOptions = QueueOptions<any, any, any, any>;

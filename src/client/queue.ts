/**
 * One queue, as the app's backend uses it: it knows the queue's declaration and validators, and sends every call with
 * them to the component. It keeps no state of jobs.
 */
import { createFunctionHandle, type FunctionReference, type GenericDataModel } from "convex/server";
import { v, type VAny } from "convex/values";
import {
  checkQueueConfig,
  conveyorError,
  LEASE_DEFAULT_MS,
  MAX_RESETS_DEFAULT,
  SHARDS_DEFAULT,
  type Counts,
  type JobId,
  type OwnJobId,
  type QueueConfig,
  type QueueDeclaration,
  type TypedJobStatus,
} from "../shared/index.js";
import { queueFunctions } from "./api.js";
import { vOnComplete, type VOnComplete } from "./appValidators.js";
import type { ComponentApi } from "./componentApi.js";
import { callComponent } from "./mounted.js";
import type {
  ApiOptions,
  CancelReply,
  OnCompleteReference,
  QueueFunctions,
  QueueOptions,
  RetryReply,
  RunsMutations,
  RunsQueries,
  ValueValidator,
} from "./types.js";
import { checkPayload } from "./validate.js";

/** A queue of jobs. Made by {@link Conveyor.queue}. */
export class Queue<
  Name extends string,
  VPayload extends ValueValidator = VAny,
  VResult extends ValueValidator = VAny,
  DataModel extends GenericDataModel = GenericDataModel,
> {
  /** The validator of payloads; `v.any()` where the definition has none. */
  readonly payload: VPayload;
  /** The validator of results; `v.any()` where the definition has none. */
  readonly result: VResult;
  /**
   * The arguments of this queue's `onComplete` mutation.
   *
   * @example
   * export const tileDone = internalMutation({
   *   args: tiles.onCompleteArgs,
   *   handler: async (ctx, { payload, outcome }) => { … },
   * });
   */
  readonly onCompleteArgs: VOnComplete<VPayload, VResult, Name>;
  /** Never there: payload and result as types. */
  declare readonly types: { payload: VPayload["type"]; result: VResult["type"] };

  private readonly config: Omit<QueueConfig, "onComplete">;
  private callback: FunctionReference<"mutation", "internal" | "public"> | undefined;
  /** A handle is the same for the whole life of a deployed version, so one look per loaded module is enough. */
  private callbackHandle: string | undefined;

  /** @internal Use {@link Conveyor.queue}. */
  constructor(
    private readonly component: ComponentApi,
    readonly name: Name,
    options: QueueOptions<VPayload, VResult>,
  ) {
    this.config = {
      leaseMs: options.leaseMs ?? LEASE_DEFAULT_MS,
      maxResets: options.maxResets ?? MAX_RESETS_DEFAULT,
      shards: options.shards ?? SHARDS_DEFAULT,
    };
    checkQueueConfig(name, this.config);
    this.payload = options.payload ?? (v.any() as ValueValidator as VPayload);
    this.result = options.result ?? (v.any() as ValueValidator as VResult);
    this.onCompleteArgs = vOnComplete({ payload: this.payload, result: this.result, name });
    this.callback = options.onComplete;
  }

  /**
   * Names the mutation that is told how each job of this queue ended, in the transaction that ends it: the app's data
   * and the job's status change together or not at all. Write it as a statement below the definition, in the same
   * module. It is what the option `onComplete` does; as a statement it leaves TypeScript able to infer the queue's
   * type, although the mutation takes its arguments from the queue.
   *
   * The mutation runs with a tenth of a transaction's limits. If it throws, the job's outcome stands, and the mutation
   * is run again alone: after 1 s, 2 s, 4 s …, ten times in all. Jobs that are canceled are told too.
   *
   * @throws `invalidArgument` when the queue has one already.
   * @example
   * export const tiles = conveyor.queue("tiles", { payload: vTile, result: vPixels });
   * tiles.onComplete(internal.tiles.finished);
   */
  onComplete(mutation: OnCompleteReference<VPayload["type"], VResult["type"]>): void {
    if (this.callback !== undefined) {
      throw conveyorError(
        "invalidArgument",
        `The queue "${this.name}" has an onComplete already, and a queue has one. Call the second mutation from the first.`,
        { queue: this.name },
      );
    }
    this.callback = mutation;
  }

  /**
   * Puts a job into the queue. In a mutation the job belongs to the transaction: if it throws, there is no job.
   *
   * @param payload Fits the queue's `payload` validator; up to 1,044,480 bytes (1 MiB less 4 KiB).
   * @returns The job's id.
   * @throws `invalidPayload`, `payloadTooLarge`, `componentNotMounted`.
   * @example
   * const job = await tiles.enqueue(ctx, { picture, x: 0, y: 0 });
   */
  async enqueue(ctx: RunsMutations, payload: VPayload["type"]): Promise<JobId<Name>> {
    checkPayload(this.name, this.payload, payload);
    const queue = await this.declaration();
    const [one] = await callComponent(() =>
      ctx.runMutation(this.component.lib.enqueue, { queue, jobs: [{ payload }] }),
    );
    return one!.id as JobId<Name>;
  }

  /**
   * Puts 1 to 1,000 jobs into the queue, all or none, up to 8 MiB together. Much cheaper than as many single calls.
   *
   * @returns The jobs' ids, in the order of the payloads.
   * @throws `invalidPayload` (the path begins with the payload's place, as in `payloads[3].x`), `payloadTooLarge`,
   * `invalidArgument` for an empty or too long list, `componentNotMounted`.
   * @example
   * const jobs = await tiles.enqueueBatch(ctx, corners.map(({ x, y }) => ({ picture, x, y })));
   */
  async enqueueBatch(
    ctx: RunsMutations,
    payloads: readonly VPayload["type"][],
  ): Promise<JobId<Name>[]> {
    for (const [index, payload] of payloads.entries()) {
      checkPayload(this.name, this.payload, payload, `payloads[${index}]`);
    }
    const queue = await this.declaration();
    const jobs = payloads.map((payload) => ({ payload }));
    const enqueued = await callComponent(() =>
      ctx.runMutation(this.component.lib.enqueue, { queue, jobs }),
    );
    return enqueued.map(({ id }) => id as JobId<Name>);
  }

  /**
   * How a job stands, with its progress or result: a union on `status`. Null for an id that names no job of this queue.
   *
   * @param id As `enqueue` returned it; plain strings will do.
   * @throws `componentNotMounted`.
   * @example
   * const job = await tiles.status(ctx, id);
   * if (job?.status === "succeeded") return job.result.pixels;
   */
  async status(
    ctx: RunsQueries,
    id: OwnJobId<Name>,
  ): Promise<TypedJobStatus<VResult["type"], Name> | null> {
    const status = await callComponent(() => ctx.runQuery(this.component.lib.status, { id }));
    return status === null || status.queue !== this.name
      ? null
      : (status as TypedJobStatus<VResult["type"], Name>);
  }

  /**
   * Ends a job that no worker has begun, at once, and tells `onComplete`: it will never run. The worker of a job that
   * runs is asked to end it: its handler's signal aborts, and however the attempt ends, the job is `canceled`, unless the
   * handler returns a result all the same. A job that has ended is left as it is. The answer says which of them it was.
   *
   * @param options.reason Why, for people and for `onComplete`, up to 4,096 bytes; what is longer is cut.
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
    const args = { id, queue: this.name, ...options };
    return await callComponent(() => ctx.runMutation(this.component.lib.cancel, args));
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
    return await callComponent(() =>
      ctx.runMutation(this.component.lib.retry, { id, queue: this.name }),
    );
  }

  /**
   * How many jobs are in each status, each counted up to `limit` (1 to 1,000) and with `more` if there are more. It is
   * for a page; it is not for deciding whether there is work.
   *
   * @param options.limit How far to count each status, 1 to 1,000.
   * @default limit 100
   * @throws `invalidArgument` for a limit out of bounds, `componentNotMounted`.
   * @example
   * const { pending } = await tiles.counts(ctx);
   * return `${pending.count}${pending.more ? "+" : ""} waiting`;
   */
  async counts(ctx: RunsQueries, options: { limit?: number } = {}): Promise<Counts> {
    return await callComponent(() =>
      ctx.runQuery(this.component.lib.counts, { queue: this.name, ...options }),
    );
  }

  /**
   * Public functions for browsers, to be exported by a module of the app. Export those you need.
   *
   * @param options.authorize Asked before every call; see {@link ApiOptions}.
   * @throws Nothing itself. The functions throw what `authorize` throws, and what the queue's methods of the same names
   * throw.
   * @example
   * export const { enqueue, status } = tiles.api({
   *   authorize: async (ctx, call) => {
   *     if ((await ctx.auth.getUserIdentity()) === null) throw new ConvexError("Sign in first.");
   *   },
   * });
   */
  api(
    options: ApiOptions<DataModel, VPayload["type"], Name>,
  ): QueueFunctions<Name, VPayload["type"], VResult["type"]> {
    return queueFunctions(this, options);
  }

  /** @internal What every enqueue and claim carries; the component keeps the last one it was told. */
  async declaration(): Promise<QueueDeclaration> {
    if (this.callback === undefined) return { name: this.name, config: this.config };
    this.callbackHandle ??= await createFunctionHandle(this.callback);
    return { name: this.name, config: { ...this.config, onComplete: this.callbackHandle } };
  }
}

/** The entry of an app's backend: from here it defines queues and gets the functions that it exports. */
import type { GenericDataModel } from "convex/server";
import type { VAny } from "convex/values";
import { conveyorError, type WorkerStatus } from "../shared/index.js";
import type { ComponentApi } from "./componentApi.js";
import { QueueControl } from "./control.js";
import type { Fitting } from "./enqueueTypes.js";
import type { HandlerOption } from "./handlerOptions.js";
import { callComponent, checkComponent } from "./mounted.js";
import { Queue } from "./queue.js";
import type { QueueOptions } from "./queueOptions.js";
import type { RelatedQueries, WithRelated } from "./related.js";
import { tokenFunctions } from "./tokenApi.js";
import type {
  AnyQueue,
  RunsMutations,
  RunsQueries,
  TokenFunctions,
  TypesOf,
  ValueValidator,
  WorkerApiOptions,
  WorkerFunctions,
} from "./types.js";
import { workerFunctions } from "./workerApi.js";

/**
 * Conveyor in an app's backend. `DataModel`, from `_generated/dataModel`, types the `ctx.db` of `authorize`.
 *
 * @example
 * // convex/conveyor.ts
 * import { Conveyor } from "convex-conveyor";
 * import { v } from "convex/values";
 * import { components } from "./_generated/api";
 *
 * export const conveyor = new Conveyor(components.conveyor);
 * export const tiles = conveyor.queue("tiles", {
 *   payload: v.object({ x: v.number(), y: v.number() }),
 *   result: v.object({ pixels: v.bytes() }),
 *   leaseMs: 10_000,
 * });
 * export const { hasWork, claim, complete, completeLater, heartbeat, report, cancellations } =
 *   conveyor.workerApi({ queues: [tiles] });
 */
export class Conveyor<DataModel extends GenericDataModel = GenericDataModel> {
  private readonly names = new Set<string>();

  /**
   * @param component The mounted component, `components.conveyor` from `_generated/api`.
   * @throws `componentNotMounted` for undefined.
   */
  constructor(private readonly component: ComponentApi) {
    checkComponent(component);
  }

  /**
   * Defines a queue. The definition in code is the source of its configuration: a changed one takes effect with the
   * first call after its deploy, for jobs that wait as well.
   *
   * @param name 1 to 64 letters, digits, `_` or `-`. The queue's jobs are found by it: a renamed queue is a new one.
   * @param options Validators, leases, retries, times, order, retention: see {@link QueueOptions}. All have defaults.
   * @throws `invalidArgument` for a name or number out of bounds, and for a name that is defined already.
   * @example
   * export const emails = conveyor.queue("emails", {
   *   payload: v.object({ to: v.string(), body: v.string() }),
   *   result: v.object({ messageId: v.string() }),
   *   leaseMs: 30_000,
   * });
   */
  queue<
    const Name extends string,
    VPayload extends ValueValidator = VAny,
    VResult extends ValueValidator = VAny,
    VContext extends ValueValidator = VAny,
    const Handled extends HandlerOption | "perJob" = HandlerOption | "perJob",
  >(
    name: Name,
    options: QueueOptions<
      VPayload,
      VResult,
      VContext,
      Fitting<Handled, Name, NoInfer<VPayload>["type"], NoInfer<VResult>["type"]>
    > = {},
  ): Queue<Name, VPayload, VResult, DataModel, VContext> {
    const queue = new Queue<Name, VPayload, VResult, DataModel, VContext>(
      this.component,
      name,
      options,
    );
    if (this.names.has(name)) {
      throw conveyorError(
        "invalidArgument",
        `The queue "${name}" is defined twice. Define it in one module and import it from there.`,
        { queue: name },
      );
    }
    this.names.add(name);
    return queue;
  }

  /**
   * Public functions for workers, guarded by a worker token, to be exported by a module of the app: all of them, under
   * these names. A worker is given that module, as `api.worker`.
   *
   * @param options.queues The queues that workers may serve; a token may narrow them down further. A worker serves at
   * most 16 of them.
   * @param options.continueWith The queues into which handlers may put jobs that follow theirs, with `continueWith`.
   * Every worker's token may then enqueue into these. None by default.
   * @param options.related What the app says of each job in the transaction that claims it: see {@link WorkerApiOptions}.
   * @param options.authorize Asked before every call: see {@link WorkerApiOptions}.
   * @throws `invalidArgument` for a queue that is listed twice, `unknownQueue` for related data of one that is not listed. The functions themselves throw `unknownQueue` for one
   * that is not listed, `tokenUnknown`, `tokenRevoked`, `tokenForeign`, `queueForbidden`, `invalidArgument`.
   * @example
   * // convex/worker.ts
   * export const { hasWork, claim, complete, completeLater, heartbeat, report, cancellations } =
   *   conveyor.workerApi({ queues: [tiles, emails] });
   */
  workerApi<
    const Queues extends readonly AnyQueue[],
    const Continues extends readonly AnyQueue[] = [],
    const Related extends RelatedQueries<TypesOf<Queues>> = Record<never, never>,
  >(
    options: WorkerApiOptions<Queues, Continues, Related, DataModel>,
  ): WorkerFunctions<WithRelated<TypesOf<Queues>, Related>, TypesOf<Continues>> {
    return workerFunctions(this.component, options);
  }

  /**
   * Internal functions that make, rotate, revoke and list worker tokens, to be exported by a module of the app. A token
   * is shown once, when it is made; only its hash is stored.
   *
   * @throws Nothing itself. `create` throws `invalidArgument` for a name or a list of queues out of bounds; `revoke`
   * throws `tokenUnknown` for an id that names no token; all throw `componentNotMounted`.
   * @example
   * // convex/tokens.ts
   * export const { create, rotate, revoke, list } = conveyor.tokenApi();
   * // npx convex run tokens:create '{ "name": "gpu-1", "queues": ["tiles"] }'
   */
  tokenApi(): TokenFunctions {
    return tokenFunctions(this.component);
  }

  /**
   * Looks after queues that nobody visits: scheduled functions of Conveyor that were canceled, or failed, are scheduled
   * anew. Every claim that finds nothing and every sweep of the janitor does so too, for its own queues; call it from an hourly cron
   * if jobs are to start on time in a queue that has no worker connected. Safe at any time, and cheap when all is well.
   *
   * @throws `componentNotMounted`.
   * @example
   * // convex/upkeep.ts
   * export const watch = internalMutation({ handler: (ctx) => conveyor.watch(ctx) });
   * // convex/crons.ts
   * crons.hourly("conveyor", { minuteUTC: 0 }, internal.upkeep.watch);
   */
  async watch(ctx: RunsMutations): Promise<void> {
    await callComponent(() => ctx.runMutation(this.component.lib.watch, {}));
  }

  /**
   * What people do to a queue while it runs, by its name: for an administration of all queues. For one queue, use
   * {@link Queue.control}.
   *
   * @param queue The name of any queue that has been used once; it need not be defined here.
   * @throws Nothing itself. Its methods throw `unknownQueue` for a queue that no code has ever defined.
   * @example
   * export const pause = internalMutation({
   *   args: { queue: v.string() },
   *   handler: (ctx, { queue }) => conveyor.control(queue).pause(ctx),
   * });
   */
  control(queue: string): QueueControl {
    return new QueueControl(this.component, queue);
  }

  /**
   * The workers that were seen last, newest first: name, state, last call or beat, and the jobs they hold. Lanes are among
   * them: what `isLane` is Convex itself at work.
   *
   * @param options.limit How many, 1 to 100.
   * @default limit 100
   * @throws `invalidArgument` for a limit out of bounds, `componentNotMounted`.
   * @example
   * export const workers = query({ args: {}, handler: async (ctx) => await conveyor.workers(ctx) });
   */
  async workers(ctx: RunsQueries, options: { limit?: number } = {}): Promise<WorkerStatus[]> {
    return await callComponent(() => ctx.runQuery(this.component.lib.workers, options));
  }
}

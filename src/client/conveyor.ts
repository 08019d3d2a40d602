/** The entry of an app's backend: from here it defines queues and gets the functions that it exports. */
import type { GenericDataModel, PublicHttpAction } from "convex/server";
import {
  checkInteger,
  checkNumber,
  conveyorError,
  OVERVIEW_QUEUES_MAX,
  SCHEDULER_SHARE_MAX,
  SCHEDULER_SHARE_MIN,
  type MainLoop,
  type QueueOverview,
  type WorkerStatus,
} from "../shared/index.js";
import { apiFunctions } from "./api.js";
import type { ApiFunctionsOf, ApiOptions } from "./apiTypes.js";
import type { ComponentApi } from "./componentApi.js";
import { QueueControl } from "./control.js";
import { Definitions, type ConveyorOptions } from "./definitions.js";
import { dashboardFunctions } from "./dashboardApi.js";
import type { DashboardApiOptions, DashboardFunctions } from "./dashboardTypes.js";
import { inlineAction, type InlineAction } from "./inline.js";
import { metricsAction, type MetricsOptions } from "./metrics.js";
import { callComponent, checkComponent, checkMount } from "./mounted.js";
import { mainLoopOf, overviewsOf } from "./overviews.js";
import { operationFunctions, type OperationFunctions } from "./operations.js";
import { ObservedQueue } from "./observed.js";
import type { RelatedQueries, WithRelated } from "./related.js";
import { tokenFunctions } from "./tokenApi.js";
import type { AnyQueue, RunsMutations, RunsQueries, TokenFunctions, TypesOf } from "./types.js";
import { WorkerControl, type WorkersOptions } from "./workerControl.js";
import type { WorkerApiOptions, WorkerFunctions } from "./workerTypes.js";
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
 *   payload: { x: v.number(), y: v.number() },
 *   result: v.object({ pixels: v.bytes() }),
 *   leaseMs: 10_000,
 * });
 * export const { claim, complete, heartbeat, report, watch } = conveyor.workerApi({ queues: [tiles] });
 */
export class Conveyor<
  DataModel extends GenericDataModel = GenericDataModel,
> extends Definitions<DataModel> {
  /**
   * @param component The mounted component, `components.conveyor` from `_generated/api`.
   * @param options.schedulerShare The mount's share of the scheduled functions that the deployment class runs at once,
   * for its processes, all of its queues together: 0.01 to 0.9. One mount cannot see another: two with a quarter each
   * leave the app its half. A queue has the share with which it is declared.
   * @default schedulerShare 0.5
   * @param options.internalAction The app's own builder of internal actions, such as one of `customAction` of
   * convex-helpers: handlers are made with it. So with `internalMutation` (handlers and `completed`) and `internalQuery`.
   * @default Convex's own builders
   * @param options.tracer Makes spans in Convex, in the shape of `@opentelemetry/api`'s `Tracer`: of each enqueue, with a
   * `traceparent` that the job keeps, and of the waits and attempts of handlers that its queues make. A transaction that is
   * retried makes its spans again. A tracer that throws harms no job.
   * @default tracer none: a job has the `traceparent` that its enqueue names, if any
   * @throws `componentNotMounted` for undefined, `invalidArgument` for a share out of bounds.
   * @example
   * export const imports = new Conveyor(components.imports, { schedulerShare: 0.25 });
   * @example
   * const internalMutation = customMutation(rawInternalMutation, customCtx(triggers.wrapDB));
   * export const conveyor = new Conveyor<DataModel>(components.conveyor, { internalMutation });
   */
  constructor(component: ComponentApi, options: ConveyorOptions = {}) {
    super(component, options);
    checkComponent(component);
    const { schedulerShare } = options;
    if (schedulerShare !== undefined)
      checkNumber("schedulerShare", schedulerShare, SCHEDULER_SHARE_MIN, SCHEDULER_SHARE_MAX);
  }

  /**
   * Public functions for pages, once for all queues, to be exported by a module of the app: any of these functions,
   * under these names. Hooks are given that module, as `api.jobs`; other clients take `jobCalls(api.jobs)`.
   *
   * @param options.queues The queues that pages may ask about.
   * @param options.authorize Decides about every call: only `true` is a yes. See {@link ApiOptions}.
   * @param options.enqueue Into which of the queues pages may enqueue, and with which options. None by default.
   * @throws `invalidArgument` for a queue that is listed twice, or of another mount, `unknownQueue` for an `enqueue` of
   * one that is not listed. The functions throw `forbidden` or the error of `authorize`, `unknownQueue`, `unknownJob`,
   * `invalidArgument`, and the errors of the queue's methods.
   * @example
   * // convex/jobs.ts
   * export const { enqueue, status, list, stats, logs, output, cancel, retry } = conveyor.api({
   *   queues: [emails, renders],
   *   authorize: async (ctx) => (await ctx.auth.getUserIdentity()) !== null,
   *   enqueue: { renders: async (ctx) => ({ group: (await ctx.auth.getUserIdentity())!.subject }) },
   * });
   */
  api<
    const Queues extends readonly AnyQueue[],
    const Allowed extends Queues[number]["name"] = never,
  >(options: ApiOptions<DataModel, Queues, Allowed>): ApiFunctionsOf<Queues, Allowed> {
    return apiFunctions(this.component, options);
  }

  /**
   * Public functions for workers, guarded by a worker token, to be exported by a module of the app: all five, under these
   * names. A worker is given that module, as `api.worker`.
   *
   * @param options.queues The queues that workers may serve; a token may narrow them down further. A worker serves at
   * most 32 of them.
   * @param options.continueWith The queues into which handlers may put jobs that follow theirs, with `continueWith`.
   * Every worker's token may then enqueue into these. None by default.
   * @param options.related The app's data for each job, read in the transaction that claims it: see
   * {@link WorkerApiOptions}.
   * @param options.authorize Asked before every call: see {@link WorkerApiOptions}.
   * @throws `invalidArgument` for a queue that is listed twice, or of another mount, `unknownQueue` for related data of one
   * that is not listed. The functions themselves throw `unknownQueue` for one
   * that is not listed, `tokenUnknown`, `tokenRevoked`, `tokenForeign`, `queueForbidden`, `groupForbidden`, `invalidArgument`.
   * @example
   * // convex/worker.ts
   * export const { claim, complete, heartbeat, report, watch } = conveyor.workerApi({ queues: [tiles, emails] });
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
   * One inline action for several queues, in which lanes of all of them run: they share processes, of which inline handlers
   * have half of the mount's at most. Each queue's `inline` names it.
   *
   * @param actions Actions that the queues' `inline` methods returned.
   * @throws `invalidArgument` for a queue that is there twice, or of another mount.
   * @example
   * export const work = conveyor.inline([pages.inline(load), feeds.inline(read)]);
   */
  inline(actions: readonly InlineAction[]): InlineAction {
    const parts = actions.flatMap((action) => action.parts ?? []);
    const names = parts.map(({ queue }) => queue.name);
    const twice = names.find((name, i) => names.indexOf(name) < i);
    if (twice !== undefined) {
      throw conveyorError(
        "invalidArgument",
        `The queue "${twice}" is listed twice. An action has one handler for each queue.`,
        { queue: twice },
      );
    }
    const { component, options: builders } = this;
    for (const { queue } of parts)
      checkMount(component, queue, "Processes are of one mount: give it an action of its own.");
    return inlineAction({ component, builders, tracer: builders.tracer }, parts);
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
   * Internal functions that operate queues and jobs by name, to be exported by a module of the app that calls them: from its
   * own functions or crons. An operator needs none of them: `npx convex run --component conveyor operate:pauseQueue` takes the
   * same arguments.
   *
   * @throws Nothing itself. The functions throw the errors of the methods of {@link QueueControl}: `unknownQueue`,
   * `unknownJob`, `invalidArgument`, `componentNotMounted`.
   * @example
   * // convex/operations.ts
   * export const { pauseQueue, resumeQueue, retryMany } = conveyor.operations();
   * // convex/crons.ts
   * crons.daily("quiet", { hourUTC: 22, minuteUTC: 0 }, internal.operations.pauseQueue, { queue: "emails" });
   */
  operations(): OperationFunctions {
    return operationFunctions(this.component);
  }

  /**
   * Public functions of the dashboard, to be exported by a module of the app under these names: one shows every queue of the
   * component, one changes it, as far as `authorize` answers true. The operation stands in the call; `dashboardCalls` types it.
   *
   * @param options.authorize Asked before every call, for each queue of the overview and for each button; see
   * {@link DashboardApiOptions}.
   * @param options.show The view of payloads, results, progress, errors, logs and output for pages.
   * @default show as it is
   * @throws Nothing itself. The functions throw `forbidden`, or the error of `authorize`; `invalidArgument`,
   * `unknownQueue`, `unknownJob`, `componentNotMounted`.
   * @example
   * // convex/dashboard.ts
   * export const { read, write } = conveyor.dashboardApi({
   *   // Every user may read, administrators may act.
   *   authorize: async (ctx, call) => {
   *     const user = await ctx.auth.getUserIdentity();
   *     return user !== null && (!call.changes || user["role"] === "admin");
   *   },
   * });
   */
  dashboardApi(options: DashboardApiOptions<DataModel>): DashboardFunctions {
    return dashboardFunctions(this.component, options, this.options);
  }

  /**
   * An HTTP action for Prometheus, and for other readers of its format: jobs by status, jobs enqueued and ended, how
   * long jobs waited and ran, the oldest job that waits, workers, lanes and places. Counts only grow, ten to 80 seconds behind; each
   * reading costs a query per queue.
   *
   * @param options.authorize Asked before anything is read; see {@link MetricsOptions}.
   * @throws Nothing: an unauthorized request is answered 401.
   * @example
   * // convex/http.ts
   * const http = httpRouter();
   * http.route({
   *   path: "/metrics",
   *   method: "GET",
   *   handler: conveyor.metrics({ authorize: bearerToken("METRICS_TOKEN") }),
   * });
   * export default http;
   */
  metrics(options: MetricsOptions): PublicHttpAction {
    return metricsAction(this.component, options, this.options);
  }

  /**
   * Repairs the upkeep of queues without traffic: scheduled functions of Conveyor that were canceled, or failed, are
   * scheduled anew. Every claim that finds nothing and every sweep of the janitor does so too, for its own queues; call
   * it from an hourly cron if jobs are to start on time in a queue that has no worker connected. Safe at any time, and
   * cheap when all is well.
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
   * The operations on a queue while it runs, by its name: for an administration of all queues. For one queue, use
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
   * The views of a queue, by its name: for an administration of all queues. For one queue, use the queue itself, which
   * has the same methods. Results are not typed.
   *
   * @param queue The name of any queue; it need not be defined here.
   * @throws Nothing itself.
   * @example
   * export const lastDay = query({
   *   args: { queue: v.string() },
   *   handler: (ctx, { queue }) => conveyor.observe(queue).stats(ctx, { per: "hour", count: 24 }),
   * });
   */
  observe(queue: string): ObservedQueue<string> {
    return new ObservedQueue(this.component, queue);
  }

  /**
   * Every queue at a glance, by name: how it is configured and where each field comes from, whether Convex runs its
   * jobs, how it stands, and its last 30 minutes.
   *
   * Of a busy queue it reads the row that is kept of it and 30 more, of a quiet one up to a thousand rows, fewer where many
   * queues are shown. A subscription reruns when any of that changes: see {@link ObservedQueue.gauge}.
   *
   * @param options.after The name behind which to go on, where there were `more`.
   * @param options.limit How many, 1 to 100.
   * @param options.mainLoop Adds the main loop: whether it runs, waits for places, or has stalled; its processes and
   * lanes; the places that are used and left, also by queue; the queues that wait. The subscription then also reruns with
   * each call of a lane.
   * @default limit 100, mainLoop false
   * @returns The queues, and whether there are more: also where the jobs of these are so large that one query reads no more.
   * @throws `invalidArgument` for a limit out of bounds, `componentNotMounted`.
   * @example
   * export const queues = query({ args: {}, handler: async (ctx) => (await conveyor.queues(ctx)).queues });
   */
  async queues(
    ctx: RunsQueries,
    { mainLoop = false, ...options }: { after?: string; limit?: number; mainLoop?: boolean } = {},
  ): Promise<{ queues: QueueOverview[]; more: boolean; mainLoop?: MainLoop }> {
    const { observe } = this.component;
    const limit = options.limit ?? OVERVIEW_QUEUES_MAX;
    checkInteger("limit", limit, 1, OVERVIEW_QUEUES_MAX);
    const { names, more: isMore } = await callComponent(() =>
      ctx.runQuery(observe.queues, { ...options, limit }),
    );
    const { queues, more: isCut } = await overviewsOf(ctx, this.component, names);
    const more = isMore || isCut;
    if (!mainLoop) return { queues, more };
    return { queues, more, mainLoop: await mainLoopOf(ctx, this.component, this.options) };
  }

  /**
   * The workers that were seen last, live ones first, of these workers outside Convex first, newest first: name, state, last
   * call or beat, queues and labels of the last claim, slots, jobs done, machine and version, and the jobs they hold, the
   * first 256 of them with their names and since when they run.
   * Lanes are among them: with `isLane`, a row is Convex itself at work.
   *
   * A subscription reruns with every call and beat of one of them.
   * @param options.queue Workers that last claimed from this queue, of the 256 of each state that were seen last.
   * @param options.limit How many, 1 to 100.
   * @default limit 100
   * @throws `invalidArgument` for a limit out of bounds, `componentNotMounted`.
   * @example
   * export const workers = query({ args: {}, handler: async (ctx) => await conveyor.workers(ctx) });
   */
  async workers(ctx: RunsQueries, options: WorkersOptions = {}): Promise<WorkerStatus[]> {
    return await callComponent(() => ctx.runQuery(this.component.lib.workers, options));
  }

  /**
   * The operations on one worker while it runs.
   *
   * @param id The `id` of a row of {@link workers}.
   * @throws Nothing itself. Its methods throw `unknownWorker` for an id that names no worker, or a lane.
   * @example
   * for (const { id } of await conveyor.workers(ctx)) await conveyor.worker(id).quiet(ctx);
   */
  worker(id: string): WorkerControl {
    return new WorkerControl(this.component, id);
  }
}

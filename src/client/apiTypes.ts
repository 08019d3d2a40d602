/** The types of the pages' functions: their arguments and answers, and the argument of `authorize`. Nothing here runs. */
import type { GenericDataModel, RegisteredMutation, RegisteredQuery } from "convex/server";
import type {
  AnyJobId,
  AnyListedJob,
  AnyPageJob,
  EnqueueCall,
  JobId,
  JobPage,
  ListFilter,
  ListRequest,
  LogPage,
  OutputPage,
  PageOptions,
  QueueStats,
  QueueTypes,
  StatsRequest,
  StatusArgs,
} from "../shared/index.js";
import type { EnqueueOptions } from "./enqueueTypes.js";
import type {
  AnyQueue,
  AuthorizeCtx,
  Authorizes,
  CancelReply,
  RetryReply,
  TypesOf,
} from "./types.js";
import type { LogOptions, OutputOptions } from "./watched.js";

/**
 * A caller's request, as `authorize` receives it: the operation, the queue, and the job. Of several jobs, and of
 * further requests of `status` (`why`, `attempts`, `options`), it is asked one by one; of jobs to be enqueued together,
 * once.
 */
export type ApiCall<Payload = any, Name extends string = string> =
  | { kind: "enqueue"; queue: Name; payloads: Payload[] }
  | {
      kind: "status" | "why" | "attempts" | "options" | "logs" | "output" | "cancel" | "retry";
      queue: Name;
      /** Of a job that is there, and of this queue. */
      id: JobId<Name>;
    }
  /** `status` by a key, whether a job has it or not. */
  | { kind: "byKey"; queue: Name; key: string }
  | { kind: "list"; queue: Name; filter: ListFilter }
  | { kind: "stats"; queue: Name };

/** {@link ApiCall} of any of these queues. */
export type ApiCallsOf<Queues extends readonly AnyQueue[]> = {
  [Each in Queues[number] as Each["name"]]: ApiCall<Each["types"]["payload"], Each["name"]>;
}[Queues[number]["name"]];

/**
 * That pages may enqueue: `true`, or a function that returns each job's options. A page sends a payload and nothing
 * else: priority, key, time and all the rest are for the app's code to choose. It runs after `authorize`, in the same
 * transaction. A key with the caller's identity in it keeps tenants apart: one can neither find nor replace a job of
 * another.
 *
 * @example
 * enqueue: async (ctx, payload) => {
 *   const { subject } = (await ctx.auth.getUserIdentity())!;
 *   return { key: `${subject}:${payload.report}`, group: subject };
 * }
 */
export type EnqueueRule<DataModel extends GenericDataModel, Payload, Options> =
  | true
  | ((
      ctx: AuthorizeCtx<DataModel>,
      payload: Payload,
    ) => Options | undefined | Promise<Options | undefined>);

type RuleOf<DataModel extends GenericDataModel, Each extends AnyQueue> = EnqueueRule<
  DataModel,
  Each["types"]["payload"],
  Omit<EnqueueOptions<Each["types"]["payload"], Each["types"]["result"]>, "handler">
>;

type Named<Queues extends readonly AnyQueue[], Name> = Extract<Queues[number], { name: Name }>;

/** The options of {@link Conveyor.api}. */
export interface ApiOptions<
  DataModel extends GenericDataModel,
  Queues extends readonly AnyQueue[],
  Allowed extends Queues[number]["name"] = never,
> {
  /** The queues that pages may ask about. */
  queues: Queues;
  /**
   * Decides about every call: only `true` is a yes. Any other answer, none included, refuses with the code `forbidden`; an
   * error that it throws is passed on. It is required, since these functions are open to the internet: `"public"` opens them
   * to every caller. It runs in the call's own transaction, after payloads were checked, and receives the operation and
   * the queue, which stands in the job's own row; an id that names no job of these queues is answered as one, and
   * nothing is asked. A `ConvexError` reaches the page with its data; of other errors, production tells nothing.
   *
   * @example
   * authorize: async (ctx, call) => call.kind === "status" || (await ctx.auth.getUserIdentity()) !== null
   */
  authorize: "public" | Authorizes<DataModel, ApiCallsOf<Queues>>;
  /**
   * Into which of the queues pages may enqueue: see {@link EnqueueRule}.
   * @default none
   * @example
   * enqueue: { emails: true, reports: (ctx, { report }) => ({ key: report }) }
   */
  enqueue?: { [Name in Allowed]: RuleOf<DataModel, Named<Queues, Name>> };
}

/** The options of {@link Queue.api}. */
export interface QueueApiOptions<
  DataModel extends GenericDataModel,
  Payload,
  Name extends string,
  Options = EnqueueOptions<Payload>,
> {
  /** As {@link ApiOptions.authorize}. */
  authorize: "public" | Authorizes<DataModel, ApiCall<Payload, Name>>;
  /**
   * Whether pages may enqueue: see {@link EnqueueRule}.
   * @default no
   */
  enqueue?: EnqueueRule<DataModel, Payload, Options>;
}

/** Public functions for pages, to be exported by a module of the app. */
export interface ApiFunctions<Queues extends QueueTypes, Allowed extends string = never> {
  /**
   * {@link Queue.enqueue} of one `payload`, answered with an id, or {@link Queue.enqueueBatch} of `payloads`, up to the
   * limits of one mutation, all or none, answered with ids. Ids in a payload must be of their tables.
   */
  enqueue: RegisteredMutation<
    "public",
    EnqueueCall<Queues, Allowed>,
    Promise<AnyJobId<keyof Queues & Allowed & string> | AnyJobId<keyof Queues & Allowed & string>[]>
  >;
  /**
   * How a job stands, by `id` or by `queue` and `key`, null for none; or, of up to 100 `ids`, how each does, in their order.
   * Of one job it says on request `why` it does not run, with its position, its last `attempts`, and the `options` that it
   * was enqueued with. `useJob` subscribes to it.
   */
  status: RegisteredQuery<
    "public",
    StatusArgs,
    Promise<AnyPageJob<Queues> | null | (AnyPageJob<Queues> | null)[]>
  >;
  /** {@link Queue.list}: `useJobs` subscribes to it. */
  list: RegisteredQuery<
    "public",
    ListRequest<keyof Queues & string> & { paginationOpts: PageOptions },
    Promise<Omit<JobPage, "page"> & { page: AnyListedJob<keyof Queues & string>[] }>
  >;
  /** {@link Queue.gauge}: counts, pace and health; with `per` also the `periods` of {@link Queue.stats}. */
  stats: RegisteredQuery<
    "public",
    { queue: keyof Queues & string } & StatsRequest,
    Promise<QueueStats>
  >;
  /** {@link Queue.logs}, 100 entries a page by default. */
  logs: RegisteredQuery<"public", { id: string } & LogOptions, Promise<LogPage | null>>;
  /** {@link Queue.output}, 100 parts a page by default. */
  output: RegisteredQuery<"public", { id: string } & OutputOptions, Promise<OutputPage | null>>;
  /** {@link Queue.cancel}: ends a job that waits. */
  cancel: RegisteredMutation<"public", { id: string }, Promise<CancelReply>>;
  /** {@link Queue.retry}: makes a finished job claimable again. */
  retry: RegisteredMutation<"public", { id: string }, Promise<RetryReply>>;
}

/** The functions of one queue. */
export type QueueApi<Name extends string, Payload, Result, Progress> = ApiFunctions<
  Record<Name, { payload: Payload; result: Result; progress: Progress }>,
  Name
>;

/** The functions of these queues. */
export type ApiFunctionsOf<
  Queues extends readonly AnyQueue[],
  Allowed extends string,
> = ApiFunctions<TypesOf<Queues>, Allowed>;

/**
 * The types an app meets: contexts, options, and the functions that Conveyor builds for it. Nothing here runs.
 */
import type {
  Auth,
  FunctionArgs,
  FunctionReference,
  FunctionReturnType,
  GenericDatabaseReader,
  GenericDataModel,
  RegisteredMutation,
  RegisteredQuery,
} from "convex/server";
import type { Validator } from "convex/values";
import type {
  AttemptStatus,
  OutputPage,
  Counts,
  Gauge,
  Health,
  JobId,
  JobPage,
  ListedJob,
  ListFilter,
  LogPage,
  Position,
  Stats,
  Status,
  TokenStatus,
  TypedJobStatus,
  TypedOnCompleteArgs,
  Why,
} from "../shared/index.js";
import type { EnqueueOptions } from "./enqueueTypes.js";
import type { ListOptions, StatsOptions } from "./observed.js";
import type { Queue } from "./queue.js";
import type { OutputOptions, LogOptions } from "./watched.js";

/** A validator of a whole value; `v.optional` has no meaning for one. */
export type ValueValidator = Validator<any, "required", any>;

/** The context of any query, mutation or action. */
export interface RunsQueries {
  runQuery<Query extends FunctionReference<"query", "internal">>(
    query: Query,
    args: FunctionArgs<Query>,
  ): Promise<FunctionReturnType<Query>>;
}

/** The context of any mutation or action. In a mutation, what is enqueued belongs to its transaction. */
export interface RunsMutations {
  runMutation<Mutation extends FunctionReference<"mutation", "internal">>(
    mutation: Mutation,
    args: FunctionArgs<Mutation>,
  ): Promise<FunctionReturnType<Mutation>>;
}

/** An `onComplete` mutation, usually internal. Its declared arguments must fit {@link TypedOnCompleteArgs}. */
export type OnCompleteReference<Payload = any, Result = any, Context = any> = FunctionReference<
  "mutation",
  "internal" | "public",
  TypedOnCompleteArgs<Payload, Result, Context>,
  any
>;

// --- Functions for browsers ---------------------------------------------------------------------

/** What somebody wants to do, as `authorize` is asked. */
export type ApiCall<Payload = any, Name extends string = string> =
  | { kind: "enqueue"; payload: Payload }
  | { kind: "enqueueBatch"; payloads: Payload[] }
  | { kind: "status"; id: JobId<Name> }
  | { kind: "statusBatch"; ids: JobId<Name>[] }
  | { kind: "attempts"; id: JobId<Name> }
  | { kind: "logs"; id: JobId<Name> }
  | { kind: "output"; id: JobId<Name> }
  | { kind: "cancel"; id: JobId<Name> }
  | { kind: "retry"; id: JobId<Name> }
  | { kind: "list"; filter: ListFilter }
  | { kind: "byKey"; key: string }
  | { kind: "position"; id: JobId<Name> }
  | { kind: "why"; id: JobId<Name> }
  | { kind: "counts" | "stats" | "gauge" | "health" };

/** What `authorize` may look at: who calls, and the app's data. */
export interface AuthorizeCtx<DataModel extends GenericDataModel> {
  /** The platform's own: `await ctx.auth.getUserIdentity()`. */
  auth: Auth;
  /** The app's tables, to be read. */
  db: GenericDatabaseReader<DataModel>;
}

/** Whether a call may be made: only `true` is a yes. */
export type Authorizes<DataModel extends GenericDataModel, Call> = (
  ctx: AuthorizeCtx<DataModel>,
  call: Call,
) => boolean | Promise<boolean>;

/** What {@link Queue.api} takes. */
export interface ApiOptions<
  DataModel extends GenericDataModel,
  Payload,
  Name extends string,
  Options = EnqueueOptions<Payload>,
> {
  /**
   * Decides about every call: only `true` is a yes. Any other answer, none included, refuses with the code `forbidden`; an
   * error that it throws is passed on. It is required, since these functions are open to the internet: `"public"` opens them
   * to every caller. It runs in the call's own transaction, after payloads were checked. A `ConvexError` reaches the browser with
   * its data; of other errors, production tells nothing.
   *
   * @example
   * authorize: async (ctx, call) => call.kind === "status" || (await ctx.auth.getUserIdentity()) !== null
   */
  authorize: "public" | Authorizes<DataModel, ApiCall<Payload, Name>>;
  /**
   * What each job is enqueued with. A browser sends a payload and nothing else: priority, key, time and all the rest are
   * for the app's code to choose. Runs after `authorize`, in the same transaction. A key with the caller's identity in it
   * keeps tenants apart: one can neither find nor replace a job of another.
   * @default no options
   *
   * @example
   * options: async (ctx, payload) => {
   *   const { subject } = (await ctx.auth.getUserIdentity())!;
   *   return { key: `${subject}:${payload.report}`, group: subject };
   * }
   */
  options?: (
    ctx: AuthorizeCtx<DataModel>,
    payload: Payload,
  ) => Options | undefined | Promise<Options | undefined>;
}

/** Public functions of one queue, to be exported by a module of the app. */
export interface QueueFunctions<Name extends string, Payload, Result, Progress = any> {
  /** {@link Queue.enqueue}. Ids in the payload must be of their tables. */
  enqueue: RegisteredMutation<"public", { payload: Payload }, Promise<JobId<Name>>>;
  /** {@link Queue.enqueueBatch}: what one mutation can hold, all or none. */
  enqueueBatch: RegisteredMutation<"public", { payloads: Payload[] }, Promise<JobId<Name>[]>>;
  /** {@link Queue.status}: what `useJob` subscribes to. */
  status: RegisteredQuery<
    "public",
    { id: string },
    Promise<TypedJobStatus<Result, Name, Progress> | null>
  >;
  /** {@link Queue.statusBatch}: up to 100 jobs. */
  statusBatch: RegisteredQuery<
    "public",
    { ids: string[] },
    Promise<(TypedJobStatus<Result, Name, Progress> | null)[]>
  >;
  /** {@link Queue.attempts}, the last 100 by default. */
  attempts: RegisteredQuery<
    "public",
    { id: string; limit?: number },
    Promise<AttemptStatus[] | null>
  >;
  /** {@link Queue.logs}, 100 entries a page by default. */
  logs: RegisteredQuery<"public", { id: string } & LogOptions, Promise<LogPage | null>>;
  /** {@link Queue.output}, 100 parts a page by default. */
  output: RegisteredQuery<"public", { id: string } & OutputOptions, Promise<OutputPage | null>>;
  /** {@link Queue.cancel}: ends a job that waits. */
  cancel: RegisteredMutation<"public", { id: string }, Promise<CancelReply>>;
  /** {@link Queue.retry}: makes a finished job claimable again. */
  retry: RegisteredMutation<"public", { id: string }, Promise<RetryReply>>;
  /** {@link Queue.counts}, each counted up to `limit`, 100 by default. */
  counts: RegisteredQuery<"public", { limit?: number }, Promise<Counts>>;
  /** {@link Queue.stats}: the last 60 minutes by default. */
  stats: RegisteredQuery<"public", StatsOptions, Promise<Stats>>;
  /** {@link Queue.gauge}: what a page that is always open subscribes to. */
  gauge: RegisteredQuery<"public", Record<string, never>, Promise<Gauge>>;
  /** {@link Queue.health} by the last 5 jobs by default. */
  health: RegisteredQuery<"public", { last?: number }, Promise<Health>>;
  /** {@link Queue.list}: for `usePaginatedQuery`. */
  list: RegisteredQuery<"public", ListOptions, Promise<JobPage>>;
  /** {@link Queue.byKey}. */
  byKey: RegisteredQuery<"public", { key: string }, Promise<ListedJob | null>>;
  /** {@link Queue.position}. */
  position: RegisteredQuery<"public", { id: string }, Promise<Position | null>>;
  /** {@link Queue.why}. */
  why: RegisteredQuery<"public", { id: string }, Promise<Why | null>>;
}

/** What became of a wish to cancel; `status` is what the job is now. */
export interface CancelReply {
  /** Nobody had begun it, and nobody will. False when the job runs or has ended. */
  canceled: boolean;
  /** It runs, and its worker was asked to end it: it will be `canceled` unless its handler returns a result all the same. */
  requested: boolean;
  status: Status;
}

/** `retried` is false when the job has not ended yet; `status` is what it is now. */
export interface RetryReply {
  retried: boolean;
  status: Status;
  /** The active job that has its key, where that is why it was not retried. */
  keyTakenBy?: string;
}

// --- Queues -------------------------------------------------------------------------------------

export type AnyQueue = Queue<any, any, any, any, any, any>;

/** The payloads and results of queues, by name. */
export type TypesOf<Queues extends readonly AnyQueue[]> = {
  [Each in Queues[number] as Each["name"]]: Each["types"];
};

// --- Functions for administrators ---------------------------------------------------------------

/** Internal functions that manage worker tokens, to be exported by a module of the app. */
export interface TokenFunctions {
  /**
   * Makes a token, and returns it this once. `name` is for people, 1 to 64 characters; `queues` are the 1 to 32 that it
   * may serve, or all with `null` or nothing. With `groups`, 1 to 64 of up to 128 characters, 2 KiB together, its workers see,
   * claim, report and continue with jobs of these groups alone, whatever they ask for.
   *
   * @example
   * npx convex run tokens:create '{"name": "acme", "queues": ["renders"], "groups": ["org_acme"]}'
   */
  create: RegisteredMutation<
    "internal",
    { name: string; queues?: string[] | null; groups?: string[] | null },
    Promise<{ id: string; token: string }>
  >;
  /**
   * Gives a token a new secret, and returns it this once. Name, queues and sessions stay. The old secret is refused at once,
   * or after `graceMs`, 0 to 604,800,000 (7 days): time to start the workers anew.
   */
  rotate: RegisteredMutation<
    "internal",
    { id: string; graceMs?: number },
    Promise<{ token: string }>
  >;
  /** Refuses a token from now on, by its id. Jobs that its workers hold go to others at once. */
  revoke: RegisteredMutation<"internal", { id: string }, Promise<null>>;
  /** The tokens, revoked ones too, without secrets, newest first: the last 1,000, or those before the one of the id `after`. */
  list: RegisteredQuery<"internal", { after?: string }, Promise<TokenStatus[]>>;
}

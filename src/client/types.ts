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
  Answer,
  AttemptStatus,
  OutputPage,
  OutputUpdate,
  ClaimReply,
  CompleteReply,
  Conditions,
  Counts,
  Gauge,
  Health,
  JobId,
  JobPage,
  Lease,
  ListedJob,
  ListFilter,
  LogPage,
  LogUpdate,
  Position,
  ProgressUpdate,
  QueueTypes,
  ReportAnswer,
  Stats,
  Status,
  TokenScope,
  TokenStatus,
  TypedJobStatus,
  TypedOnCompleteArgs,
  TypedPeekedJob,
  Why,
} from "../shared/index.js";
import type { EnqueueOptions } from "./enqueueTypes.js";
import type { RefusedResult, WorkerFinished } from "./finished.js";
import type { ListOptions, StatsOptions } from "./observed.js";
import type { Queue } from "./queue.js";
import type { RelatedQueries } from "./related.js";
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
export interface QueueFunctions<Name extends string, Payload, Result> {
  /** {@link Queue.enqueue}. Ids in the payload must be of their tables. */
  enqueue: RegisteredMutation<"public", { payload: Payload }, Promise<JobId<Name>>>;
  /** {@link Queue.enqueueBatch}: what one mutation can hold, all or none. */
  enqueueBatch: RegisteredMutation<"public", { payloads: Payload[] }, Promise<JobId<Name>[]>>;
  /** {@link Queue.status}: what `useJob` subscribes to. */
  status: RegisteredQuery<"public", { id: string }, Promise<TypedJobStatus<Result, Name> | null>>;
  /** {@link Queue.statusBatch}: up to 100 jobs. */
  statusBatch: RegisteredQuery<
    "public",
    { ids: string[] },
    Promise<(TypedJobStatus<Result, Name> | null)[]>
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

// --- Functions for workers ----------------------------------------------------------------------

export type AnyQueue = Queue<any, any, any, any, any>;

/** The payloads and results of queues, by name. */
export type TypesOf<Queues extends readonly AnyQueue[]> = {
  [Each in Queues[number] as Each["name"]]: Each["types"];
};

/** Of which jobs a worker would have some. */
export interface WantedJobs {
  queues: string[];
  /** Those that it names, or its token's; `null` for jobs of every group, and of none. */
  groups: string[] | null;
}

/**
 * What a worker is about to do, as `authorize` is asked, and what its token is for. The token is known by now, and its groups
 * are checked; that it may serve the queues, and holds the leases that it names, is checked after this.
 */
export type WorkerCall = { token: TokenScope } & (
  | ({ kind: "hasWork" | "peek" } & WantedJobs)
  | { kind: "cancellations"; session: string }
  | { kind: "heartbeat" | "report"; session: string; leases: Lease[] }
  | ({ kind: "claim"; session: string; name: string } & WantedJobs)
  /** `claim`: what it would have next. */
  | { kind: "complete"; session: string; finished: WorkerFinished[]; claim?: WantedJobs }
);

/** What {@link Conveyor.workerApi} takes. */
export interface WorkerApiOptions<
  Queues extends readonly AnyQueue[],
  Continues extends readonly AnyQueue[] = [],
  Related extends RelatedQueries<TypesOf<Queues>> = Record<never, never>,
  DataModel extends GenericDataModel = GenericDataModel,
> {
  /** The queues that workers may serve; a token may narrow them down further. A worker serves at most 32 of them. */
  queues: Queues;
  /**
   * The queues into which handlers may put jobs that follow theirs. Every worker's token may then enqueue into these, with any
   * option but `onComplete` and a key that replaces another job: list a queue only if that is all right. `context` is the
   * worker's word then, and `onComplete` should trust it as little as the payload. A key can be taken before the app takes it.
   * @default none
   */
  continueWith?: Continues;
  /**
   * For each queue by name, a query of the app that is run for every job when it is claimed, in the same transaction:
   * what it returns is `job.related` in the worker's handler, with its type. It takes `{ id, queue, payload, attempt }`.
   * If it throws, that attempt fails, by the queue's `retry`, and no handler is run; the other jobs of the claim stand.
   *
   * It costs the claim a function call each, and the claim runs again when what it has read changes: read rows by their
   * id, and nothing that is written all the time. It may use a hundredth of a transaction. Of what all queries of a claim
   * return together, up to 4 MiB are handed out; the jobs after that go back to the queue.
   *
   * Name the query by its path, with its type: TypeScript cannot infer the functions of this module from
   * `internal.pictures.ofTile`, since `internal` has the module in it.
   *
   * @default jobs have no related data
   * @example
   * const ofTile = makeFunctionReference<"query", any, Related>("pictures:ofTile");
   * export const { hasWork, … } = conveyor.workerApi({ queues: [tiles], related: { tiles: ofTile } });
   */
  related?: Related;
  /**
   * Decides about every call of a worker beside its token: only `true` is a yes. Any other answer, none included, refuses
   * with the code `forbidden`; an error that it throws is passed on. It runs in the call's own transaction, so a claim that it has
   * read something for runs again when that changes. It is told the call and its token: id, name, queues, groups. The token
   * is looked up first, one more small query for each call.
   *
   * @default the token decides alone
   * @example
   * authorize: async (ctx, { kind, token }) => {
   *   if (kind !== "claim") return true;
   *   const machine = await ctx.db.query("machines").withIndex("token", (q) => q.eq("token", token.id)).unique();
   *   return machine?.mayWork === true;
   * }
   */
  authorize?: Authorizes<DataModel, WorkerCall>;
}

export type SessionArgs = { token: string; session: string };
/** What a worker looks for: see `labels`, `maxCost` and `groups` of its options. */
export type LookArgs = Conditions & {
  queues: string[];
  /** As the last claim returned it. */
  cursor?: string;
};
export type ClaimArgs = SessionArgs & LookArgs & { name: string; n: number; max: number };
export type CompleteArgs = SessionArgs & {
  n: number;
  finished: WorkerFinished[];
  claim?: LookArgs & { max: number };
  /**
   * Records the outcomes without telling any `onComplete` in the same transaction; each is told alone, at once. For
   * outcomes that were refused because their callback conflicts with what the app does all the time.
   */
  deferCallbacks?: boolean;
  /** What else the session holds: the call is a beat for these leases, and answers for them. */
  held?: Lease[];
};

export type ReportArgs = SessionArgs & {
  /** What the claim was answered; without it, the session is looked up. */
  holder?: string;
  updates?: ProgressUpdate[];
  logs?: LogUpdate[];
  output?: OutputUpdate[];
};

/** Public functions for workers, guarded by a worker token, to be exported by a module of the app. */
export interface WorkerFunctions<
  Queues extends QueueTypes,
  Continues extends QueueTypes = Record<never, never>,
> {
  /**
   * Whether any of these queues has a job that a claim with these conditions could take: what an idle worker subscribes
   * to. Give it the claim's cursor only with `groups`: without one a whole fleet shares the answer.
   */
  hasWork: RegisteredQuery<"public", { token: string } & LookArgs, Promise<boolean>>;
  /**
   * The first jobs that a worker with these conditions could claim now, 1 to 64, 10 by default, in the order in which
   * they are claimed. Payloads up to 512 bytes are shown. Nothing is promised: another may be faster.
   */
  peek: RegisteredQuery<
    "public",
    { token: string; limit?: number } & LookArgs,
    Promise<TypedPeekedJob<Queues>[]>
  >;
  /** Which of the session's jobs somebody wants to end: what a busy worker subscribes to. */
  cancellations: RegisteredQuery<"public", SessionArgs, Promise<Lease[]>>;
  /** Leases up to `max` jobs, 1 to 64, to the session. A repeat of call `n` gets the first reply. */
  claim: RegisteredMutation<"public", ClaimArgs, Promise<ClaimReply<Queues>>>;
  /** Records up to 64 outcomes, each with an answer of its own, and claims again if asked to. */
  complete: RegisteredMutation<
    "public",
    CompleteArgs,
    Promise<CompleteReply<Queues, Continues> & { refused?: RefusedResult[] }>
  >;
  /**
   * Has one outcome recorded by a mutation that the platform runs until it has committed: for one that `complete` could
   * not record even alone and without its callback. `complete` is answered `recorded` once it is.
   */
  completeLater: RegisteredMutation<
    "public",
    SessionArgs & { finished: WorkerFinished },
    Promise<null>
  >;
  /** Renews the session's leases, or ends a session that has none and is `leaving`; says which of these it still has. */
  heartbeat: RegisteredMutation<
    "public",
    SessionArgs & { leases: Lease[]; leaving?: number },
    Promise<{ answers: Answer[] }>
  >;
  /** Says of running jobs how far they are, and brings their log entries and output; each lease has its own answer. */
  report: RegisteredMutation<"public", ReportArgs, Promise<{ answers: ReportAnswer[] }>>;
}

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

/**
 * The types of the workers' functions: their arguments and answers, and the arguments of `authorize`. Nothing here
 * runs.
 */
import type { GenericDataModel, RegisteredMutation, RegisteredQuery } from "convex/server";
import type {
  Answer,
  ClaimReply,
  CompleteReply,
  Conditions,
  GroupScope,
  Hello,
  Lease,
  LogUpdate,
  OutputUpdate,
  ProgressUpdate,
  QueueTypes,
  ReportAnswer,
  TokenScope,
  TypedPeekedJob,
  Waiting,
  WorkerFacts,
} from "../shared/index.js";
import type { RefusedResult, WorkerFinished } from "./finished.js";
import type { RelatedQueries } from "./related.js";
import type { AnyQueue, Authorizes, TypesOf } from "./types.js";

/** The jobs that a worker asks for. */
export interface WantedJobs {
  queues: string[];
  /**
   * The groups that it names, or its token's: a list, a prefix, or `byQuery` for the answer of `groupsOf`; `null` for jobs
   * of every group, and of none.
   */
  groups: GroupScope | null;
}

/**
 * A worker's request, as `authorize` receives it, and its token's scope. The token is known by now, and its groups are
 * checked; that it may serve the queues, and holds the leases that it names, is checked after this.
 */
export type WorkerCall = { token: TokenScope } & (
  | ({ kind: "hello" | "hasWork" | "peek" } & WantedJobs)
  | { kind: "cancellations" | "isQuiet"; sessionKey: string }
  /** An idle worker of a large fleet waits to be called: it learns nothing of jobs. */
  | { kind: "standby" }
  | { kind: "heartbeat" | "report"; sessionKey: string; leases: Lease[] }
  | ({ kind: "claim"; sessionKey: string; name: string } & WantedJobs)
  /** `claim`: the request for its next jobs. */
  | { kind: "complete"; sessionKey: string; finished: WorkerFinished[]; claim?: WantedJobs }
);

/** The options of {@link Conveyor.workerApi}. */
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
   * its return value is `job.related` in the worker's handler, with its type. It takes
   * `{ id, queue, payload, attempt }`. If it throws, that attempt fails, by the queue's `retry`, and no handler is run;
   * the other jobs of the claim stand.
   *
   * It costs the claim one function call per job, and is part of the claim's read set, so that a change of a row that
   * it has read makes the claim retry: read rows by their id, and nothing that is written all the time. It may use a
   * hundredth of a transaction. The results of all queries of one claim may have up to 4 MiB together; the jobs after
   * that go back to the queue.
   *
   * Name the query by its path, with its type: TypeScript cannot infer the functions of this module from
   * `internal.pictures.ofTile`, since `internal` has the module in it.
   *
   * @default jobs have no related data
   * @example
   * const ofTile = makeFunctionReference<"query", any, Related>("pictures:ofTile");
   * export const { claim, … } = conveyor.workerApi({ queues: [tiles], related: { tiles: ofTile } });
   */
  related?: Related;
  /**
   * A query of the app that answers which groups a token made with `groups: "byQuery"` is for at present: 0 to 64 of up to
   * 128 characters, 2 KiB together. It takes `{ id, name }` of the token. It is run in the transaction of each claim, and
   * in the subscription of an idle worker, so that scope follows the app's rows: a claim conflicts with a change of what the
   * query reads, and after that change no job of another group is claimed. A job that is running then stays its worker's:
   * cancel it, or revoke the token, to end it too. Other tokens cost no call.
   *
   * @default a token with `byQuery` is refused with the code `groupForbidden`
   * @example
   * groupsOf: () => internal.members.groupsOfMachine,
   * // convex/members.ts
   * export const groupsOfMachine = internalQuery({
   *   args: { id: v.string(), name: v.string() },
   *   handler: async (ctx, { id }) => {
   *     const machine = await ctx.db.query("machines").withIndex("token", (q) => q.eq("token", id)).unique();
   *     if (machine === null) return [];
   *     const of = await ctx.db.query("members").withIndex("user", (q) => q.eq("user", machine.user)).take(64);
   *     return of.map(({ org }) => org);
   *   },
   * });
   */
  // A function without a contextual type: its answer may be a reference into the module that this call stands in.
  // eslint-disable-next-line @typescript-eslint/no-unsafe-function-type
  groupsOf?: Function;
  /**
   * Decides about every call of a worker in addition to its token: only `true` is a yes. Any other answer, none
   * included, refuses with the code `forbidden`; an error that it throws is passed on. It runs in the call's own
   * transaction, so a change in its read set makes a claim retry. It receives the call and its token: id, name, queues,
   * groups. The token is read first, one more small query for each call.
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

export type SessionArgs = { token: string; sessionKey: string };
/** Which jobs a worker asks for: see `labels`, `maxCost` and `groups` of its options. */
export type LookArgs = Conditions & {
  queues: string[];
  /** As the last claim returned it. */
  cursor?: string;
};
/** `about`: what the worker says of itself, with its first call and after a change. */
export type AboutArgs = { about?: WorkerFacts };
export type ClaimArgs = SessionArgs &
  LookArgs &
  AboutArgs & { name: string; callSeq: number; max: number };
export type CompleteArgs = SessionArgs &
  AboutArgs & {
    /** The number of the session's call. One with `later` is not numbered. */
    callSeq?: number;
    finished: WorkerFinished[];
    claim?: LookArgs & { max: number };
    /**
     * Records the outcomes without running any `onComplete` in the same transaction; each runs alone, at once. For
     * outcomes that were refused because their callback conflicts with the app's constant writes.
     */
    deferCallbacks?: boolean;
    /** The other leases of the session: the call is a beat for these leases, and answers for them. */
    held?: Lease[];
    /**
     * Has one outcome recorded by a mutation that the platform runs until it has committed: for one that could not be recorded
     * even alone and without its callback. The call answers nothing; the next one that names the outcome is answered
     * `recorded` once it is.
     */
    later?: boolean;
  };

/** A worker's question to `watch`. */
export type WatchCall =
  /**
   * Whether the deployment has the functions and version that a worker needs: asked once at its start. Answers a
   * {@link Hello}.
   */
  | { kind: "hello"; queues: string[] }
  /**
   * Whether any of these queues has a job that a claim with these conditions could take: an idle worker subscribes to
   * it. Give it the claim's cursor only with `groups`: without one a whole fleet shares the answer. `naming`, for one
   * queue, answers the jobs, where few wait. `worker`, its name, passes over jobs that prefer another by its name: give it
   * where a yes has led to a claim that got nothing, for the same reason.
   */
  | ({ kind: "hasWork"; naming?: boolean; worker?: string } & LookArgs)
  /**
   * The first jobs that a worker with these conditions could claim now, 1 to 64, 10 by default, in the order in which
   * they are claimed. Payloads up to 512 bytes are shown. Nothing is promised: another may be faster. `worker` as of
   * `hasWork`.
   */
  | ({ kind: "peek"; limit?: number; worker?: string } & LookArgs)
  /** Which of the session's jobs are to be ended: a busy worker subscribes to it. */
  | { kind: "cancellations"; sessionKey: string }
  /** Whether an operator has the session claim nothing: a worker subscribes to it from then on until it may claim. */
  | { kind: "isQuiet"; sessionKey: string }
  /** Whether a worker of a large fleet has been called up: it subscribes to it while it stands by. */
  | { kind: "standby"; peers: string; since: number; worker?: string };

export type ReportArgs = SessionArgs & {
  /** The `session` of the claim's answer; without it, the session is read by its index. */
  session?: string;
  updates?: ProgressUpdate[];
  logs?: LogUpdate[];
  output?: OutputUpdate[];
};

/** Public functions for workers, guarded by a worker token, to be exported by a module of the app. */
export interface WorkerFunctions<
  Queues extends QueueTypes,
  Continues extends QueueTypes = Record<never, never>,
> {
  /** All that a worker subscribes to or asks, by the kind of the call: see {@link WatchCall}. */
  watch: RegisteredQuery<
    "public",
    { token: string; call: WatchCall },
    Promise<Hello | boolean | Waiting | TypedPeekedJob<Queues>[] | Lease[]>
  >;
  /** Leases up to `max` jobs, 1 to 64, to the session. A repeat of call `callSeq` gets the first reply. */
  claim: RegisteredMutation<"public", ClaimArgs, Promise<ClaimReply<Queues>>>;
  /**
   * Records up to 64 outcomes, each with an answer of its own, and claims again if asked to; with `later`, hands one over to be
   * recorded.
   */
  complete: RegisteredMutation<
    "public",
    CompleteArgs,
    Promise<CompleteReply<Queues, Continues> & { refused?: RefusedResult[] }>
  >;
  /**
   * Renews the session's leases, or ends a session that has none and is `leaving`; says which of these it still has.
   * `isQuiet` in any answer: an operator has the worker claim nothing. `isLate`: a sweep is late. One call with `tend`, the worker's queues, then does its work, and is no beat.
   */
  heartbeat: RegisteredMutation<
    "public",
    SessionArgs & AboutArgs & { leases: Lease[]; leaving?: number; tend?: string[] },
    Promise<{ answers: Answer[]; isLate?: boolean; isQuiet?: boolean }>
  >;
  /** Says of running jobs how far they are, and brings their log entries and output; each lease has its own answer. */
  report: RegisteredMutation<"public", ReportArgs, Promise<{ answers: ReportAnswer[] }>>;
}

/**
 * The types for an app's author: contexts, options, and the functions that Conveyor builds for it. Nothing here runs.
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
import type { GroupScope, Status, TokenStatus, TypedOnCompleteArgs } from "../shared/index.js";
import type { Queue } from "./queue.js";

/** A validator of a whole value; `v.optional` has no meaning for one. */
export type ValueValidator = Validator<any, "required", any>;

/** The context of any query, mutation or action. */
export interface RunsQueries {
  runQuery<Query extends FunctionReference<"query", "internal">>(
    query: Query,
    args: FunctionArgs<Query>,
  ): Promise<FunctionReturnType<Query>>;
}

/** The context of any mutation or action. In a mutation, an enqueue belongs to its transaction. */
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

// --- Functions for pages ------------------------------------------------------------------------

/** The context of `authorize`: the caller's identity, and the app's data. */
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

/** The effect of a request to cancel; `status` is the job's status now. */
export interface CancelReply {
  /** No worker had begun it, and none will. False when the job runs or has ended. */
  canceled: boolean;
  /** It runs, and its worker was asked to end it: it will be `canceled` unless its handler returns a result all the same. */
  requested: boolean;
  status: Status;
}

/** `retried` is false when the job has not ended yet; `status` is the job's status now. */
export interface RetryReply {
  retried: boolean;
  status: Status;
  /** The active job that has its key, where that is why it was not retried. */
  keyTakenBy?: string;
}

// --- Queues -------------------------------------------------------------------------------------

export type AnyQueue = Queue<any, any, any, any, any, any, any>;

/** The payloads and results of queues, by name. */
export type TypesOf<Queues extends readonly AnyQueue[]> = {
  [Each in Queues[number] as Each["name"]]: Each["types"];
};

// --- Functions for administrators ---------------------------------------------------------------

/** Internal functions that manage worker tokens, to be exported by a module of the app. */
export interface TokenFunctions {
  /**
   * Makes a token, and returns it this once. `name` is for people, 1 to 64 characters; `queues` are the 1 to 32 that it
   * may serve, or all with `null` or nothing. With `groups`, 1 to 64 of up to 128 characters, 2 KiB together, its
   * workers see, claim, report and continue with jobs of these groups alone, in any request. `{ prefix }`: of all groups
   * that begin with it, 1 to 128 characters, compared as they are written. `"byQuery"`: of the groups that the query
   * `groupsOf` of `workerApi` answers when a worker claims.
   *
   * @example
   * npx convex run tokens:create '{"name": "acme", "queues": ["renders"], "groups": ["org_acme"]}'
   * npx convex run tokens:create '{"name": "staging", "groups": {"prefix": "staging_"}}'
   */
  create: RegisteredMutation<
    "internal",
    { name: string; queues?: string[] | null; groups?: GroupScope | null },
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
  /** Refuses a token from now on, by its id. Jobs that its workers hold go to other workers at once. */
  revoke: RegisteredMutation<"internal", { id: string }, Promise<null>>;
  /** The tokens, revoked ones too, without secrets, newest first: the last 1,000, or the ones before the id `after`. */
  list: RegisteredQuery<"internal", { after?: string }, Promise<TokenStatus[]>>;
}

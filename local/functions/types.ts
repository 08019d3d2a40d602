/** The runner of an app's functions, as the server (`local/server`) and the push (`local/push`) see it. */
import type { JSONValue } from "convex/values";
import type { AuthProvider } from "../auth/providers.js";
import type { ClassLimits, DeploymentClass } from "./classes.js";
import type { SandboxPool } from "./sandboxPool.js";
import type { Spent } from "./account.js";
import type { CronSchedule } from "./crons/schedule.js";
import type { Housekeeping, Wait } from "./events.js";
import type { Files } from "../files/files.js";
import type { Namespace, ReadSet, SchemaChange, TableSpec, Ts } from "../engine/types.js";

export type UdfType = "Query" | "Mutation" | "Action";
export type Visibility = "public" | "internal";

/** A module as the CLI bundled it. Paths are the CLI's: `lib.js`, `_deps/ABC.js`, `jobs/tiles.js`. */
export interface ModuleSource {
  path: string;
  source: string;
  sourceMap?: string;
  environment: "isolate" | "node";
}

export interface AnalyzedFunction {
  name: string;
  udfType: UdfType;
  visibility: Visibility;
  /** JSON validators as `exportArgs()` and `exportReturns()` give them. */
  args: string;
  returns: string;
  /** Line in the source, as far as known. */
  line?: number;
}

/** A route of `http.ts` as its router lists it: a path, or a prefix with a star at its end. */
export interface HttpRoute {
  path: string;
  method: string;
}

/** How HTTP requests reach a component. */
export interface HttpDefinition {
  /** `null` when there is no `http.ts`. */
  routes: readonly HttpRoute[] | null;
  /** The path before the app's own routes, with a slash at both ends; `null` for nothing. */
  prefix: string | null;
  /** Children with routes below a prefix. */
  mounts: readonly { prefix: string; child: string }[];
}

/** A component definition after it was pushed and checked. */
export interface ComponentDefinition {
  /** The CLI's definition path: `""` for the app. */
  path: string;
  modules: Map<string, ModuleSource>;
  /** By module path; modules without functions have an empty list. */
  functions: Map<string, AnalyzedFunction[]>;
  tables: TableSpec[];
  schemaValidation: boolean;
  /** Absent where nothing is served. */
  http?: HttpDefinition;
  /** The declarations of its `crons.ts`, by name. Absent where there is none. */
  crons?: ReadonlyMap<string, CronSpec>;
}

export interface CronSpec {
  /** Of a function of the same component. */
  path: string;
  args: JSONValue;
  schedule: CronSchedule;
}

/** A mounted component: the app is the one at `""`. */
export interface ComponentInstance {
  namespace: Namespace;
  definition: ComponentDefinition;
  /** Child name to its namespace. */
  children: Map<string, Namespace>;
  /** The variables of `process.env` inside. */
  env: Map<string, string>;
}

/** Everything one push makes visible at once. Immutable: the next push makes another. */
export interface Deployment {
  /** The providers of tokens that the app accepts. Absent: none. */
  auth?: readonly AuthProvider[];
  instances: Map<Namespace, ComponentInstance>;
}

/** A function's address: `path` is `module:export` (`jobs/tiles:list`). */
export interface FunctionAddress {
  namespace: Namespace;
  path: string;
}

export interface LogLine {
  level: "DEBUG" | "LOG" | "INFO" | "WARN" | "ERROR";
  /** As clients get them: `[LOG] 'text' 3`. */
  text: string;
  at: number;
  namespace: Namespace;
  path: string;
}

/** The caller as functions see it: the fields of `UserIdentity`, with any claims of the app's own. */
export type UserAttributes = Record<string, JSONValue>;

export type Identity =
  /** `refusal`: why the token that the caller of an HTTP action sent is none of ours. It may be one that the app checks. */
  | { kind: "none"; refusal?: string }
  /** The holder of the admin key; `actingAs` a user, it is one to the functions that it calls. */
  | { kind: "admin"; actingAs?: UserAttributes }
  /** `expiresAt` is the token's, in milliseconds since the epoch. */
  | { kind: "user"; user: UserAttributes; expiresAt: number; token: string };

export interface CallOptions {
  identity: Identity;
  /** Refuses internal functions. Clients: true; admin, scheduler, nested calls: false. */
  publicOnly: boolean;
  requestId: string;
}

/** A client's session and its number for a request: the client keeps both when it sends one again. */
export interface SessionRequest {
  sessionId: string;
  requestId: number;
}

export interface HttpCallOptions {
  /** The URL that the handler sees, and that routes are matched with. */
  url: URL;
  identity: Identity;
  requestId: string;
  /** As in production: an error's text is not for the client. Defaults to false. */
  redact?: boolean;
}

/** How a function ended, when it is the app's doing. A failure of the platform is thrown as `PlatformError`. */
export type FunctionResult =
  | { ok: true; value: JSONValue; logs: string[] }
  | { ok: false; message: string; data?: JSONValue; logs: string[] };

export type QueryResult = FunctionResult & {
  ts: Ts;
  reads: ReadSet;
  readsTime: boolean;
  /** Whether it may differ for another caller. */
  readsIdentity: boolean;
  /** Where its page ended, if it paginates: to be given back when it is asked for again. */
  journal: string | null;
};

export type Contexts = "reused" | "fresh" | "watched";

/** A function has left something in its context otherwise than it found it. */
export interface StateChange {
  /** Its path as it was pushed, or `globalThis`. */
  module: string;
  /** The source files that it was bundled from, as far as they are known. */
  sources: readonly string[];
  /** The variable from which it is reached. */
  name: string;
  /** Of the function that was found out: it, or one before it in the same context. */
  path: string;
}

export interface RunnerOptions {
  /** Where stored files are. Defaults to memory, with URLs that nothing serves. */
  files?: Files;
  /**
   * Where functions run. In threads each has the platform's time and memory, and one that never ends harms no other;
   * that takes the wall clock, since a thread knows no other. Inline, all is one thread, and a function that never ends
   * is not stopped. Defaults to "inline"; a backend on the wall clock is started with "threads".
   */
  isolation?: "threads" | "inline";
  /**
   * Inline: whether calls take turns in a context ("reused"), so that a module's state is carried from one to the next,
   * or each has a fresh one, which costs some milliseconds. The platform promises neither. "watched" is "reused", and
   * checks whether anything is carried (`stateWatch.ts`): a function that carries state makes an error in the driver of
   * the clock, and the context is not used again. Defaults to "reused".
   */
  contexts?: Contexts;
  /**
   * Watched: the state that modules may carry, since it changes no result (a cache, say), as `module.js`,
   * `module.js:variable`, or `.property`, wherever it is. Defaults to nothing.
   */
  carried?: readonly string[];
  /**
   * Inline: where sandboxes come from, in place of a pool of the runner's own, which `contexts` and `carried` describe.
   * `keepSandboxes()` makes one for any number of runners that install the same deployments. Defaults to one's own.
   */
  sandboxes?: SandboxPool;
  /** In threads, and where a clock models it: JavaScript of one query or mutation, in milliseconds. Defaults to the platform's 1,000. */
  userTimeMs?: number;
  /** How much runs at once, and how fast it may write. `ctx.meta.getDeploymentMetadata()` tells it. Defaults to "s16". */
  class?: DeploymentClass;
  /** Numbers that replace the class's own. Defaults to none. */
  classLimits?: Partial<ClassLimits>;
  /** The name that `ctx.meta.getDeploymentMetadata()` gives. Defaults to "local". */
  deploymentName?: string;
  /**
   * Operations (functions, scheduling) that one action may have in flight; further ones wait for their turn. Defaults to
   * `Infinity`: the platform's published code bounds them by nothing. Its documentation says 1,000, and a knob that it
   * does not apply says 8 (knobs.rs: MAX_CONCURRENT_ACTION_OPS).
   */
  actionOperations?: number;
  /** How long an action may take, by where it runs. Defaults to the platform's 30 and 10 minutes. */
  actionTimeoutMs?: Partial<{ v8: number; node: number }>;
  /** A cron that names its minute starts up to so much later, drawn once for each. Defaults to the platform's minute. */
  cronSplayMs?: number;
}

export interface FunctionRunner {
  readonly deployment: Deployment;
  /**
   * Makes a push visible, all at once, its schemas with it, and the settings that are kept of it (`Database.settings`).
   * When schemas are refused, nothing has changed.
   */
  install(
    deployment: Deployment,
    schemas?: readonly SchemaChange[],
    settings?: ReadonlyMap<string, string | null>,
  ): Promise<void>;
  /**
   * `args` is the JSON encoding of the arguments' object. Runs at the snapshot that is the latest when it is called, so
   * all queries asked for without waiting in between see the same one; `ts` names it. `at` names another to read, of the last seconds. Served from a cache while its
   * read set is unwritten.
   */
  query(
    address: FunctionAddress,
    args: JSONValue,
    options: CallOptions & { journal?: string | null; at?: Ts },
  ): Promise<QueryResult>;
  /**
   * `session`: a client's mutation is recorded in its own transaction, so even one that writes nothing is validated; asked
   * for again, it is answered and not run. Up to 5 attempts, then `PlatformError` with code `OptimisticConcurrencyControlFailure`.
   */
  mutation(
    address: FunctionAddress,
    args: JSONValue,
    options: CallOptions & { source?: string; session?: SessionRequest },
  ): Promise<FunctionResult & { ts: Ts }>;
  action(address: FunctionAddress, args: JSONValue, options: CallOptions): Promise<FunctionResult>;
  /** Answers by the routes of `http.ts`. Rejects with a `PlatformError` where the platform refuses. */
  http(request: Request, options: HttpCallOptions): Promise<Response>;
  /**
   * The machines on which these actions run vanish, as happens: each receives and does nothing from here on. Its
   * earlier requests may still take effect; one that was scheduled has failed, and runs no second time. Gives how many
   * they were.
   */
  loseActions(which: (action: { address: FunctionAddress; requestId: string }) => boolean): number;
  /** How many run at this moment. */
  occupancy(): Occupancy;
  /** A function's type; `null` when there is none. */
  find(address: FunctionAddress): AnalyzedFunction | null;
  /** Every line that functions log, for the server's log and `stream_function_logs`. */
  onLog(listener: (line: LogLine) => void): () => void;
  /** Every function execution that ended, for `stream_function_logs` and statistics. */
  onCompletion(listener: (completion: Completion) => void): () => void;
  /** Every wait for a permit or for a place in the executor, for statistics. */
  onWait(listener: (wait: Wait) => void): () => void;
  /** Every transaction of the platform's own that ended, for statistics. */
  onHousekeeping(listener: (housekeeping: Housekeeping) => void): () => void;
  /** Stops the scheduler and refuses new calls; running ones are waited for up to `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

/** Permits and places that are taken. */
export interface Occupancy {
  queries: number;
  mutations: number;
  /** Of both kinds. */
  actions: number;
  /** Places of scheduled functions, crons apart. */
  scheduled: number;
}

export interface Completion {
  /** Of an HTTP action the path is its route: `GET /messages`. */
  address: FunctionAddress;
  udfType: UdfType | "HttpAction";
  requestId: string;
  startedAt: number;
  durationMs: number;
  error?: string;
  logs: LogLine[];
  /** Attempts that lost to another transaction. */
  conflicts: number;
  /** Function calls that the platform meters for it. */
  billed: number;
  cached: boolean;
  /** It never ran: the deployment was too busy. */
  refused: boolean;
  /** Nothing for an action, since its functions have transactions of their own. */
  spent: Spent;
  /** Called by the scheduler, not by a client or another function. */
  scheduled: boolean;
}

/** The platform refuses or fails: HTTP status and code as the real backend answers. */
export interface PlatformErrorInfo {
  status: number;
  code: string;
  message: string;
}

/**
 * A `vm` context with the platform's globals, holding the modules of one component. `local/functions/sandbox.ts`
 * exports `createSandbox(modules, options): Sandbox`; the push uses it to evaluate definitions, schemas and functions.
 */
export interface Sandbox {
  /** Evaluates a module (once a sandbox) and gives its exports. */
  import(path: string): Promise<Record<string, unknown>>;
}

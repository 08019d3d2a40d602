/**
 * The functions of the dashboard, as an app exports them and as its pages call them, and what `authorize` is asked.
 * Types alone; nothing here runs.
 */
import type {
  FunctionReference,
  GenericDataModel,
  RegisteredMutation,
  RegisteredQuery,
} from "convex/server";
import type {
  AttemptStatus,
  BulkReply,
  OutputPage,
  JobFilter,
  JobPage,
  JobStatus,
  ListFilter,
  ListOrder,
  LogPage,
  PageOptions,
  Per,
  Position,
  QueueEvent,
  QueueOverview,
  Stats,
  Status,
  Why,
  WorkerStatus,
} from "../shared/index.js";
import type { AuthorizeCtx, Authorizes } from "./types.js";

/** A change of a queue or its jobs, as `authorize` is asked. */
export type DashboardChange = { changes: true; queue: string } & (
  | { kind: "pause" | "resume" | "drain" }
  | { kind: "cancel" | "retry" | "delete"; id: string }
  | { kind: "cancelMany" | "retryMany" | "deleteMany"; filter: JobFilter }
);

/** A call of the dashboard, as `authorize` is asked: the operation, whether it `changes` anything, and of which queue and job. */
export type DashboardCall =
  | { kind: "overview" | "workers"; changes: false }
  | { kind: "queue" | "stats" | "list" | "events"; changes: false; queue: string }
  | { kind: "job" | "why" | "logs" | "output"; changes: false; queue: string; id: string }
  | DashboardChange;

/** What a job carries, as `show` is given it before it leaves. */
export interface DashboardValue {
  queue: string;
  id: string;
  kind: "payload" | "result" | "progress" | "error" | "log" | "output";
  value: unknown;
}

/** What {@link Conveyor.dashboardApi} takes. */
export interface DashboardApiOptions<DataModel extends GenericDataModel = GenericDataModel> {
  /**
   * Decides about every call: only `true` is a yes. Any other answer, none included, refuses with the code `forbidden`; an
   * error that it throws is passed on. It is asked before anything is read or changed, for each queue that an overview would
   * show, and for each button: pages offer no change that it refuses. `"public"` opens the dashboard to every caller, its
   * changes too.
   *
   * @example
   * // Every user may look, administrators may act.
   * authorize: async (ctx, call) => {
   *   const user = await ctx.auth.getUserIdentity();
   *   return user !== null && (!call.changes || user["role"] === "admin");
   * }
   */
  authorize: "public" | Authorizes<DataModel, DashboardCall>;
  /**
   * What a page is shown of a payload, a result, progress, an error, a log entry or streamed output: return it, less of it,
   * or something else.
   * @default as it is
   */
  show?: (ctx: AuthorizeCtx<DataModel>, value: DashboardValue) => unknown;
}

/** A job as its own page shows it. */
export interface DashboardJob {
  job: JobStatus;
  payload: unknown;
  attempts: AttemptStatus[];
  /** Which changes `authorize` allows. */
  may: ("cancel" | "retry" | "delete")[];
}

export type QueueActionKind =
  "pause" | "resume" | "drain" | "cancelMany" | "retryMany" | "deleteMany";

type Query<Args extends Record<string, unknown>, Returns> = FunctionReference<
  "query",
  "public",
  Args,
  Returns
>;
type Mutation<Args extends Record<string, unknown>, Returns> = FunctionReference<
  "mutation",
  "public",
  Args,
  Returns
>;
type OneJob = { queue: string; id: string };

/** The references of what {@link Conveyor.dashboardApi} builds: `api.dashboard`, where its module is `dashboard.ts`. */
export interface DashboardApi {
  /**
   * The queues that the caller may see, by name, 100 at most, and whether there are `more`; `may`: what the caller may do to
   * each. The jobs of a quiet one are counted up to 100, and less far where there are more than ten queues.
   */
  overview: Query<
    Record<string, never>,
    { queues: (QueueOverview & { may: QueueActionKind[] })[]; more?: boolean }
  >;
  /** One queue; `null` for one that no code has declared. */
  queue: Query<{ queue: string }, (QueueOverview & { may: QueueActionKind[] }) | null>;
  /** The last `count` (60, at most 1,000) minutes, hours or days. */
  stats: Query<{ queue: string; per: Per; count?: number }, Stats>;
  list: Query<
    { queue: string; filter: ListFilter; order: ListOrder; paginationOpts: PageOptions },
    JobPage
  >;
  job: Query<OneJob, DashboardJob | null>;
  why: Query<OneJob, { why: Why; position: Position | null } | null>;
  logs: Query<OneJob & { cursor?: string; limit?: number }, LogPage | null>;
  output: Query<OneJob & { attempt?: number; cursor?: string; limit?: number }, OutputPage | null>;
  workers: Query<Record<string, never>, WorkerStatus[]>;
  events: Query<{ queue: string; limit?: number }, QueueEvent[]>;

  pause: Mutation<{ queue: string }, { changed: boolean }>;
  resume: Mutation<{ queue: string }, { changed: boolean }>;
  drain: Mutation<{ queue: string }, { changed: boolean }>;
  cancel: Mutation<
    OneJob & { reason?: string },
    { canceled: boolean; requested: boolean; status: Status }
  >;
  retry: Mutation<OneJob, { retried: boolean; status: Status }>;
  remove: Mutation<OneJob, { deleted: boolean }>;
  cancelMany: Mutation<{ queue: string; filter: JobFilter }, BulkReply>;
  /** Makes failed and timed out jobs, or those of the filter's statuses, claimable again. */
  retryMany: Mutation<{ queue: string; filter: JobFilter }, BulkReply>;
  deleteMany: Mutation<{ queue: string; filter: JobFilter }, BulkReply>;
}

/** The functions themselves, to be exported by a module of the app. */
export type DashboardFunctions = {
  [Name in keyof DashboardApi]: DashboardApi[Name] extends Query<infer Args, infer Returns>
    ? RegisteredQuery<"public", Args, Promise<Returns>>
    : DashboardApi[Name] extends Mutation<infer Args, infer Returns>
      ? RegisteredMutation<"public", Args, Promise<Returns>>
      : never;
};

/**
 * The functions of the dashboard, as an app exports them and as its pages call them, and the one object that says who may do
 * what. Types alone; nothing here runs.
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
  ChunkPage,
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
import type { AuthorizeCtx } from "./types.js";

/** What somebody wants to see, as the resolver is asked. */
export type DashboardView =
  | { kind: "overview" | "workers" }
  | { kind: "queue" | "stats" | "jobs" | "events"; queue: string }
  | { kind: "job"; queue: string; id: string };

/** What somebody wants to do, as the resolver is asked. */
export type DashboardAction =
  | { kind: "pause" | "resume" | "drain"; queue: string }
  | { kind: "cancel" | "retry" | "delete"; queue: string; id: string }
  | { kind: "cancelMany" | "redrive" | "deleteMany"; queue: string; filter: JobFilter };

/** What a job carries, as the resolver is shown it before it leaves. */
export interface DashboardValue {
  queue: string;
  id: string;
  kind: "payload" | "result" | "progress" | "error" | "log" | "output";
  value: unknown;
}

/** Who may see, who may act, and how to show what jobs carry. */
export interface DashboardResolver<DataModel extends GenericDataModel = GenericDataModel> {
  /** Whether the caller may see this; throw a `ConvexError` to say why not. Asked before every query. Required. */
  maySee: (ctx: AuthorizeCtx<DataModel>, view: DashboardView) => boolean | Promise<boolean>;
  /**
   * Whether the caller may do this. Asked before every change, and by the pages, which show no button that it refuses.
   * @default nobody: the dashboard is for reading only
   */
  mayAct?: (ctx: AuthorizeCtx<DataModel>, action: DashboardAction) => boolean | Promise<boolean>;
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
  /** Which actions the resolver allows. */
  may: ("cancel" | "retry" | "delete")[];
}

export type QueueActionKind =
  "pause" | "resume" | "drain" | "cancelMany" | "redrive" | "deleteMany";

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
  jobs: Query<
    { queue: string; filter: ListFilter; order: ListOrder; paginationOpts: PageOptions },
    JobPage
  >;
  job: Query<OneJob, DashboardJob | null>;
  why: Query<OneJob, { why: Why; position: Position | null } | null>;
  logs: Query<OneJob & { cursor?: string; limit?: number }, LogPage | null>;
  output: Query<OneJob & { attempt?: number; cursor?: string; limit?: number }, ChunkPage | null>;
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
  redrive: Mutation<{ queue: string; filter: JobFilter }, BulkReply>;
  removeMany: Mutation<{ queue: string; filter: JobFilter }, BulkReply>;
}

/** The functions themselves, to be exported by a module of the app. */
export type DashboardFunctions = {
  [Name in keyof DashboardApi]: DashboardApi[Name] extends Query<infer Args, infer Returns>
    ? RegisteredQuery<"public", Args, Promise<Returns>>
    : DashboardApi[Name] extends Mutation<infer Args, infer Returns>
      ? RegisteredMutation<"public", Args, Promise<Returns>>
      : never;
};

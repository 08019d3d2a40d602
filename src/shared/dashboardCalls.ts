/**
 * The calls of the dashboard: the arguments of its two functions `read` and `write`, one operation each, and the answer of each
 * operation. `dashboardCalls` pairs them for pages and programs, so that an answer has the type of its call. Pure.
 */
import type { FunctionReference } from "convex/server";
import { v, type Infer } from "convex/values";
import { vListFilter, vListOrder, vPageOptions, vPer, type JobPage } from "./observing.js";
import type { MainLoop, Position, QueueOverview, Stats, Why } from "./index.js";
import {
  vJobFilter,
  type BulkReply,
  type JobFilter,
  type QueueEvent,
  type WorkerStatus,
} from "./operating.js";
import type { AttemptStatus, LogPage, OutputPage } from "./reports.js";
import type { JobStatus } from "./jobStatus.js";
import type { Status } from "./status.js";

// --- Operations ----------------------------------------------------------------------------------

const queue = { queue: v.string() };
const one = { ...queue, id: v.string() };
const many = { ...queue, filter: vJobFilter };
const page = { cursor: v.optional(v.string()), limit: v.optional(v.number()) };

/** The operations that read. Pagination hooks put the page of a list beside it, in `paginationOpts`. */
export const vDashboardRead = v.union(
  v.object({ kind: v.literal("overview") }),
  v.object({ kind: v.literal("mainLoop"), queue: v.optional(v.string()) }),
  v.object({ kind: v.literal("queue"), ...queue }),
  v.object({ kind: v.literal("stats"), ...queue, per: vPer, count: v.optional(v.number()) }),
  v.object({ kind: v.literal("list"), ...queue, filter: vListFilter, order: vListOrder }),
  v.object({ kind: v.literal("job"), ...one }),
  v.object({ kind: v.literal("why"), ...one }),
  v.object({ kind: v.literal("logs"), ...one, ...page }),
  v.object({ kind: v.literal("output"), ...one, attempt: v.optional(v.number()), ...page }),
  v.object({ kind: v.literal("workers") }),
  v.object({ kind: v.literal("events"), ...queue, limit: v.optional(v.number()) }),
);
export type DashboardRead = Infer<typeof vDashboardRead>;

/** The operations that change. */
export const vDashboardWrite = v.union(
  v.object({ kind: v.literal("pause"), ...queue }),
  v.object({ kind: v.literal("resume"), ...queue }),
  v.object({ kind: v.literal("drain"), ...queue }),
  v.object({ kind: v.literal("cancel"), ...one, reason: v.optional(v.string()) }),
  v.object({ kind: v.literal("retry"), ...one }),
  v.object({ kind: v.literal("delete"), ...one }),
  v.object({ kind: v.literal("cancelMany"), ...many }),
  v.object({ kind: v.literal("retryMany"), ...many }),
  v.object({ kind: v.literal("deleteMany"), ...many }),
  v.object({ kind: v.literal("quietWorker"), id: v.string() }),
  v.object({ kind: v.literal("resumeWorker"), id: v.string() }),
);
export type DashboardWrite = Infer<typeof vDashboardWrite>;

/** Of all calls that of this kind. */
export type CallOf<Call extends { kind: string }, Kind extends Call["kind"]> = Extract<
  Call,
  { kind: Kind }
>;

// --- The question to `authorize` -----------------------------------------------------------------

/** A change of a queue or its jobs, or of a worker by its id, as `authorize` is asked. */
export type DashboardChange = QueueChange | WorkerChange;

/** Of no one queue: a worker may serve several. Without `id`: whether a page of workers has the buttons at all. */
type WorkerChange = { changes: true; queue?: undefined; kind: WorkerActionKind; id?: string };

type QueueChange = { changes: true; queue: string } & (
  | { kind: "pause" | "resume" | "drain" }
  | { kind: "cancel" | "retry" | "delete"; id: string }
  | { kind: "cancelMany" | "retryMany" | "deleteMany"; filter: JobFilter }
);

/** A call of the dashboard, as `authorize` is asked: the operation, whether it `changes` anything, and of which queue and job. */
export type DashboardCall =
  | { kind: "overview" | "workers"; changes: false }
  | { kind: "mainLoop"; changes: false; queue?: string }
  | { kind: "queue" | "stats" | "list" | "events"; changes: false; queue: string }
  | { kind: "job" | "why" | "logs" | "output"; changes: false; queue: string; id: string }
  | DashboardChange;

// --- Answers -------------------------------------------------------------------------------------

/** Changes of a queue and of many of its jobs. */
export type QueueActionKind =
  "pause" | "resume" | "drain" | "cancelMany" | "retryMany" | "deleteMany";

export type WorkerActionKind = "quietWorker" | "resumeWorker";

/** A worker or lane, and which changes of workers `authorize` allows. */
export type ShownWorker = WorkerStatus & { may: WorkerActionKind[] };

/** A queue, and which changes of it `authorize` allows. */
export type ShownQueue = QueueOverview & { may: QueueActionKind[] };

/** A job as its own page shows it. */
export interface DashboardJob {
  job: JobStatus;
  payload: unknown;
  attempts: AttemptStatus[];
  /** Which changes `authorize` allows. */
  may: ("cancel" | "retry" | "delete")[];
}

type Changed = { changed: boolean };

/** The answer of each operation, by its kind. */
export interface DashboardAnswers {
  /**
   * The queues that the caller may see, by name, 100 at most, and whether there are `more`. The jobs of a quiet one are
   * counted up to 100, and less far where there are more than ten queues.
   */
  overview: { queues: ShownQueue[]; more?: boolean };
  /** The main loop, with the queues that the caller may see; with `queue`, that one alone. */
  mainLoop: MainLoop;
  /** One queue; `null` for one that no code has declared. */
  queue: ShownQueue | null;
  /** The last `count` (60, at most 1,000) minutes, hours or days. */
  stats: Stats;
  list: JobPage;
  job: DashboardJob | null;
  why: { why: Why; position: Position | null } | null;
  logs: LogPage | null;
  output: OutputPage | null;
  workers: ShownWorker[];
  events: QueueEvent[];
  pause: Changed;
  resume: Changed;
  drain: Changed;
  cancel: { canceled: boolean; requested: boolean; status: Status };
  retry: { retried: boolean; status: Status };
  delete: { deleted: boolean };
  cancelMany: BulkReply;
  /** Of failed and timed out jobs, or of the filter's statuses. */
  retryMany: BulkReply;
  deleteMany: BulkReply;
  quietWorker: Changed;
  resumeWorker: Changed;
}

// --- For pages ----------------------------------------------------------------------------------

/** The arguments of `read`. */
export const dashboardReadArgs = { call: vDashboardRead, paginationOpts: v.optional(vPageOptions) };

/** The arguments of `write`. */
export const dashboardWriteArgs = { call: vDashboardWrite };

type Reads<Call, Answer> = FunctionReference<"query", "public", { call: Call }, Answer>;
type Writes<Call, Answer> = FunctionReference<"mutation", "public", { call: Call }, Answer>;

/** The references of the functions of {@link Conveyor.dashboardApi}: `api.dashboard`, where their module is `dashboard.ts`. */
export interface DashboardApi {
  read: FunctionReference<
    "query",
    "public",
    { call: DashboardRead; paginationOpts?: Infer<typeof vPageOptions> },
    any
  >;
  write: FunctionReference<"mutation", "public", { call: DashboardWrite }, any>;
}

/**
 * Calls of the dashboard's functions with the types of their answers: each is a reference and its arguments, as every client of
 * Convex takes them.
 *
 * @param api The module that exports the functions of `conveyor.dashboardApi`.
 * @example
 * const { read, write } = dashboardCalls(api.dashboard);
 * const stats = useQuery(...read({ kind: "stats", queue: "emails", per: "minute" }));
 * await client.mutation(...write({ kind: "pause", queue: "emails" }));
 */
export function dashboardCalls(api: DashboardApi) {
  return {
    read: <const Kind extends DashboardRead["kind"]>(
      call: CallOf<DashboardRead, Kind> & { kind: Kind },
    ): [
      reference: Reads<CallOf<DashboardRead, Kind>, DashboardAnswers[Kind]>,
      args: { call: CallOf<DashboardRead, Kind> },
    ] => [api.read as never, { call }],
    write: <const Kind extends DashboardWrite["kind"]>(
      call: CallOf<DashboardWrite, Kind> & { kind: Kind },
    ): [
      reference: Writes<CallOf<DashboardWrite, Kind>, DashboardAnswers[Kind]>,
      args: { call: CallOf<DashboardWrite, Kind> },
    ] => [api.write as never, { call }],
  };
}

/**
 * The app's options for the dashboard's functions, and the functions that it exports. The calls and their answers are
 * in `../shared/dashboardCalls.ts`. Types alone; nothing here runs.
 */
import type { GenericDataModel, RegisteredMutation, RegisteredQuery } from "convex/server";
import type {
  CallOf,
  DashboardAnswers,
  DashboardCall,
  DashboardRead,
  DashboardWrite,
  PageOptions,
} from "../shared/index.js";
import type { AuthorizeCtx, Authorizes, RunsMutations, RunsQueries } from "./types.js";

/** A value of a job, as `show` receives it before it leaves. */
export interface DashboardValue {
  queue: string;
  id: string;
  kind: "payload" | "result" | "progress" | "error" | "log" | "output";
  value: unknown;
}

/** The options of {@link Conveyor.dashboardApi}. */
export interface DashboardApiOptions<DataModel extends GenericDataModel = GenericDataModel> {
  /**
   * Decides about every call: only `true` is a yes. Any other answer, none included, refuses with the code `forbidden`; an
   * error that it throws is passed on. It is asked before anything is read or changed, for each queue that an overview would
   * show, and for each button: pages offer no change that it refuses. `"public"` opens the dashboard to every caller, its
   * changes too.
   *
   * @example
   * // Every user may read, administrators may act.
   * authorize: async (ctx, call) => {
   *   const user = await ctx.auth.getUserIdentity();
   *   return user !== null && (!call.changes || user["role"] === "admin");
   * }
   */
  authorize: "public" | Authorizes<DataModel, DashboardCall>;
  /**
   * The view of a payload, a result, progress, an error, a log entry or streamed output for a page: return it, less of
   * it, or something else.
   * @default as it is
   */
  show?: (ctx: AuthorizeCtx<DataModel>, value: DashboardValue) => unknown;
}

/** Answers one kind of call, once `authorize` has answered true. */
export type Reader<Kind extends DashboardRead["kind"]> = (
  ctx: AuthorizeCtx<any> & RunsQueries,
  call: CallOf<DashboardRead, Kind>,
  page?: PageOptions,
) => Promise<DashboardAnswers[Kind]>;

/** Makes one kind of change, once `authorize` has answered true. */
export type Writer<Kind extends DashboardWrite["kind"]> = (
  ctx: RunsMutations,
  call: CallOf<DashboardWrite, Kind>,
) => Promise<DashboardAnswers[Kind]>;

/** The functions themselves, to be exported by a module of the app. */
export interface DashboardFunctions {
  /** Shows one thing: the operation is `call.kind`. For the type of its answer see `dashboardCalls`. */
  read: RegisteredQuery<
    "public",
    { call: DashboardRead; paginationOpts?: PageOptions },
    Promise<DashboardAnswers[DashboardRead["kind"]]>
  >;
  /** Changes one thing: the operation is `call.kind`. */
  write: RegisteredMutation<
    "public",
    { call: DashboardWrite },
    Promise<DashboardAnswers[DashboardWrite["kind"]]>
  >;
}

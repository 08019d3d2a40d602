/**
 * `convex-conveyor`: the imports of an app's backend.
 * @module
 */
export { vJobId, vOnComplete } from "./appValidators.js";
export { bearerToken } from "./bearerToken.js";
export type {
  ApiCall,
  ApiFunctions,
  ApiOptions,
  EnqueueRule,
  QueueApiOptions,
} from "./apiTypes.js";
export type { MetricsOptions } from "./metrics.js";
export type { ComponentApi } from "./componentApi.js";
export { Conveyor } from "./conveyor.js";
export type { ConveyorOptions } from "./definitions.js";
export type {
  BatchOptions,
  EnqueueOptions,
  KeyOption,
  PreferOption,
  ReplaceReply,
  UniqueOptions,
  UniqueReply,
} from "./enqueueTypes.js";
export type { HandlerOption } from "./handlerOptions.js";
export type {
  ActionJob,
  BatchedJob,
  HandledJob,
  MutationJob,
  QueryJob,
  RunsActions,
  ToldJob,
} from "./jobTypes.js";
export { WorkerControl } from "./workerControl.js";
export { QueueControl, type ManyOptions, type PauseReply } from "./control.js";
export { ObservedQueue, type ListOptions, type StatsOptions } from "./observed.js";
export { dashboardCalls, jobCalls } from "../shared/index.js";
export type {
  DashboardAnswers,
  DashboardApi,
  DashboardCall,
  DashboardChange,
  DashboardRead,
  DashboardWrite,
} from "../shared/index.js";
export type { DashboardApiOptions, DashboardFunctions, DashboardValue } from "./dashboardTypes.js";
export type { OperationFunctions } from "./operations.js";
export { Queue } from "./queue.js";
export type { QueueOptions } from "./queueOptions.js";
export type { TableQueue } from "./tableQueue.js";
export type { RowEnd, TableQueueOptions } from "./tableTypes.js";
export type {
  AuthorizeCtx,
  CancelReply,
  OnCompleteReference,
  RetryReply,
  RunsMutations,
  RunsQueries,
  TokenFunctions,
} from "./types.js";
export type { WantedJobs, WorkerCall, WorkerFunctions, WatchCall } from "./workerTypes.js";
export { isConveyorError, NonRetryableError, RetryAfterError } from "../shared/index.js";
export {
  JobFailedError,
  waitForResult,
  type FailedOutcome,
  type ResultClient,
  type WaitOptions,
} from "./waitForResult.js";
export type { OutputOptions, LogOptions } from "./watched.js";
export type {
  AttemptStatus,
  BulkReply,
  BulkState,
  OutputPage,
  ConveyorError,
  ConveyorErrorCode,
  Counts,
  Gauge,
  Health,
  JobFilter,
  JobId,
  JobPage,
  ListBy,
  ListedJob,
  ListFilter,
  ListOrder,
  MainLoop,
  LogEntry,
  LogPage,
  OnConflict,
  PageOptions,
  Per,
  Percentiles,
  Period,
  Position,
  Retention,
  Retry,
  RetryOption,
  QueueEvent,
  QueueOverrides,
  QueueState,
  Reason,
  Stats,
  Status,
  GroupScope,
  Tracer,
  TracerSpan,
  TokenScope,
  TokenStatus,
  TypedJobStatus as JobStatus,
  TypedOnCompleteArgs as OnCompleteArgs,
  Why,
  WorkerStatus,
} from "../shared/index.js";

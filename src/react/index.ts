/**
 * `convex-conveyor/react`: hooks for pages that watch jobs.
 * @module
 */
export { CalmQueries } from "./CalmQueries.js";
export { useJob, type StatusFunction } from "./useJob.js";
export { useJobLogs, type JobLogs, type LogsFunction } from "./useJobLogs.js";
export { useJobOutput, type OutputFunction, type JobOutput } from "./useJobOutput.js";
export { useJobs } from "./useJobs.js";
export { useQueueStats, type StatsFunction } from "./useQueueStats.js";
export { isConveyorError } from "../shared/index.js";
export type {
  ConveyorError,
  ConveyorErrorCode,
  JobId,
  ListedJob,
  LogEntry,
  Stats,
  TypedJobStatus as JobStatus,
} from "../shared/index.js";

/**
 * `convex-conveyor/react`: hooks for pages that watch jobs.
 * @module
 */
export { CalmQueries } from "./CalmQueries.js";
export { useEnqueue, type Enqueue } from "./useEnqueue.js";
export { useJob } from "./useJob.js";
export { useJobLogs, type JobLogs } from "./useJobLogs.js";
export { useJobOutput, type JobOutput } from "./useJobOutput.js";
export { useJobs } from "./useJobs.js";
export { useQueueStats } from "./useQueueStats.js";
export { useWorker, type PageWorker, type UsedWorker } from "./useWorker.js";
export { isConveyorError, jobCalls } from "../shared/index.js";
export type {
  ConveyorError,
  ConveyorErrorCode,
  JobId,
  PageListedJob as ListedJob,
  LogEntry,
  PageJob as JobStatus,
  QueueStats,
  Stats,
  StatusRequests,
} from "../shared/index.js";

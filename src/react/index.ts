/**
 * `convex-conveyor/react`: hooks for pages that watch jobs.
 * @module
 */
export { useJob, type StatusFunction } from "./useJob.js";
export { isConveyorError } from "../shared/index.js";
export type {
  ConveyorError,
  ConveyorErrorCode,
  JobId,
  TypedJobStatus as JobStatus,
} from "../shared/index.js";

/**
 * `convex-conveyor/worker`: the runtime for programs outside Convex that do jobs.
 * @module
 */
export { JobAborted } from "./control.js";
export type {
  AbortReason,
  ContinuesOf,
  Handler,
  Handlers,
  Job,
  LogChange,
  LogEntry,
  LogLevel,
  LogOptions,
  LossReason,
  OutputOptions,
  QueuesOf,
  StopOptions,
  WorkerApi,
  WorkerEvent,
  WorkerOptions,
} from "./types.js";
export { Worker } from "./worker.js";
export { isConveyorError, NonRetryableError, RetryAfterError } from "../shared/index.js";
export type { ContinueOptions, ConveyorError, ConveyorErrorCode, JobId } from "../shared/index.js";

/**
 * `convex-conveyor/worker`: the runtime for programs outside Convex that do jobs.
 * @module
 */
export { JobAborted } from "./control.js";
export type { AbortReason, LossReason, WorkerEvent, WorkerState, WorkerStatus } from "./events.js";
export type {
  BackPressure,
  ClaimConditions,
  ClaimContext,
  JobEnd,
  PeekOptions,
} from "./hookTypes.js";
export type { ListenOptions, WorkerCustomEvent } from "./listeners.js";
export type { OutputOptions, StopAfter, StopOptions, WorkerOptions } from "./options.js";
export type {
  BatchContext,
  BatchHandler,
  BatchJob,
  ContinuesOf,
  Handler,
  Handlers,
  Job,
  LogChange,
  LogEntry,
  LogLevel,
  LogOptions,
  QueuesOf,
  RetryLocallyOptions,
  WorkerApi,
} from "./types.js";
export { Worker } from "./worker.js";
export { isConveyorError, NonRetryableError, RetryAfterError } from "../shared/index.js";
export type {
  Batching,
  ContinueOptions,
  ConveyorError,
  ConveyorErrorCode,
  JobId,
  PeekedJob,
  Tracer,
  TracerSpan,
} from "../shared/index.js";

/**
 * `convex-conveyor/worker`: the runtime for programs outside Convex that do jobs.
 * @module
 */
export type {
  Handler,
  HandlerContext,
  Handlers,
  Job,
  LossReason,
  QueuesOf,
  StopOptions,
  WorkerApi,
  WorkerEvent,
  WorkerOptions,
} from "./types.js";
export { Worker } from "./worker.js";
export { isConveyorError } from "../shared/index.js";
export type { ConveyorError, ConveyorErrorCode, JobId } from "../shared/index.js";

/**
 * `convex-conveyor/worker/node`: worker processes, where there are processes.
 * @module
 */
export type { EndReason, OfProcess, PoolEvent, PoolOptions, ProcessStatus } from "./options.js";
export { WorkerPool } from "./pool.js";

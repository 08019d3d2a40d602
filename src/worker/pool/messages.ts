/**
 * Messages between a pool and its processes. Those of the pool have ids that grow, and the process acknowledges each with its
 * load; an order that is repeated changes nothing. Nothing here runs.
 */
import type { WorkerState } from "../events.js";

/** From the pool to a process. */
export type Order =
  /** The first one. The process loads its module with this name. */
  | { type: "start"; name: string; process: number; isQuiet: boolean; graceMs: number }
  | { type: "quiet" }
  | { type: "resume" }
  | { type: "stop"; graceMs: number }
  | { type: "ping" };

export type NumberedOrder = Order & { id: number };

/** Of all workers of a process together. */
export interface ProcessLoad {
  state: WorkerState;
  slots: { used: number; had: number };
  done: number;
  memoryBytes: number;
}

/** From a process to its pool. */
export type Report =
  | { type: "acknowledged"; id: number; load: ProcessLoad }
  /** The deployment has answered all its workers. */
  | { type: "ready"; load: ProcessLoad }
  /** The error that ends the process. */
  | { type: "error"; message: string };

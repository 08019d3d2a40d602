/** Handlers of one job, and of batches: which is which. Pure. */
import type { CheckedBatching } from "../shared/index.js";
import type { BatchHandler, Handler } from "./types.js";

/** As it was checked: its `batch` has all its fields. */
export interface CheckedBatchHandler extends BatchHandler {
  batch: CheckedBatching;
}

export type AnyHandler = Handler | CheckedBatchHandler;

export function isBatched(handler: AnyHandler): handler is CheckedBatchHandler {
  return typeof handler !== "function";
}

export function batchingOf(handler: AnyHandler | undefined): CheckedBatching | undefined {
  return handler !== undefined && isBatched(handler) ? handler.batch : undefined;
}

/** The jobs that one slot may take: a worker serves its queues in batches, or job by job. */
export function largestOf(handlers: ReadonlyMap<string, AnyHandler>): number {
  return Math.max(1, ...[...handlers.values()].map((one) => batchingOf(one)?.size ?? 1));
}

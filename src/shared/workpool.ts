/**
 * Work of a work pool (`convex-conveyor/workpool`): jobs of one queue that are enqueued, read and reported in the words of
 * `@convex-dev/workpool`. The translation, for the component and for the class. Pure.
 */
import { v, type Infer } from "convex/values";
import { LEASE_DEFAULT_MS, SHARDS_DEFAULT } from "./limits.js";
import type { LogLevel } from "./logLevels.js";
import type { FinalOutcome } from "./onComplete.js";
import type { QueueConfig } from "./protocol.js";
import type { Status } from "./status.js";

/** The queue of a work pool; a component that is mounted twice has two. */
export const WORKPOOL_QUEUE = "workpool";

/**
 * Whether a job of this queue is work of a pool: its `onComplete` has the pool's arguments, the text of its error is the
 * function's own, and a last failure stays one although a cancel was asked for.
 */
export function isWork(queue: string): boolean {
  return queue === WORKPOOL_QUEUE;
}

/** The default number of jobs that the first step of a `cancelAll` cancels. */
export const WORK_CANCEL_DEFAULT = 64;

/** Pieces of work in one call for their status: each is a row of up to 13 KB. */
export const WORK_STATUS_MAX = 500;

/** How a piece of work stands. */
export const vWorkStatus = v.union(
  v.object({ state: v.literal("pending"), previousAttempts: v.number() }),
  v.object({ state: v.literal("running"), previousAttempts: v.number() }),
  v.object({ state: v.literal("finished") }),
);
export type WorkStatus = Infer<typeof vWorkStatus>;

/** `null` is work that no longer exists: only finished work is deleted. */
export function workStatus(
  job: { status: Status; failures?: number; resets?: number } | null,
): WorkStatus {
  if (job === null) return { state: "finished" };
  const previousAttempts = (job.failures ?? 0) + (job.resets ?? 0);
  switch (job.status) {
    case "pending":
    case "scheduled":
      return { state: "pending", previousAttempts };
    case "running":
      return { state: "running", previousAttempts };
    default:
      return { state: "finished" };
  }
}

/** How a piece of work has ended. */
export type WorkResult =
  | { kind: "success"; returnValue: unknown }
  | { kind: "failed"; error: string }
  | { kind: "canceled" };

/** A job's end as its `onComplete` is told. There, work that took too long has failed. */
export function workResult(outcome: FinalOutcome): WorkResult {
  switch (outcome.status) {
    case "succeeded":
      return { kind: "success", returnValue: outcome.result };
    case "canceled":
      return { kind: "canceled" };
    default:
      return { kind: "failed", error: outcome.error };
  }
}

/** A pool without options from its class. Each job names its own handler. */
export const WORKPOOL_CONFIG: QueueConfig = {
  leaseMs: LEASE_DEFAULT_MS,
  maxResets: 0,
  shards: SHARDS_DEFAULT,
  push: true,
};

/** Of `@convex-dev/workpool`. */
export const vWorkLogLevel = v.union(
  v.literal("DEBUG"),
  v.literal("TRACE"),
  v.literal("INFO"),
  v.literal("REPORT"),
  v.literal("WARN"),
  v.literal("ERROR"),
);
export type WorkLogLevel = Infer<typeof vWorkLogLevel>;

/** The nearest level. There are no periodic reports: the component keeps the figures itself. */
export function conveyorLogLevel(level: WorkLogLevel): LogLevel {
  return LOG_LEVEL[level];
}

const LOG_LEVEL: { readonly [Level in WorkLogLevel]: LogLevel } = {
  DEBUG: "debug",
  TRACE: "debug",
  INFO: "info",
  REPORT: "warn",
  WARN: "warn",
  ERROR: "error",
};

/** The mark that `NonRetryableError` of `@convex-dev/workpool` bears: a library may go on throwing that one. */
export const NON_RETRYABLE_OF_WORKPOOL = "__convexWorkpoolNonRetryable";

/**
 * What the component says on the deployment's log: one line of JSON for each event, from the queue's `logLevel` on.
 *
 * Levels, so that every step uses them alike:
 * - `debug`: every job that is enqueued, claimed or promoted. At the rate of jobs: for looking into one problem.
 * - `info`: every job that has ended as it should, or was canceled, retried, deleted by somebody.
 * - `warn`: an attempt that failed, was lost or ran too long, and will be tried again. The default.
 * - `error`: a job that failed or timed out for good, a callback that will not be told, a bug of ours.
 */
import type { LogLevel } from "../shared/index.js";

const RANK: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 };

/**
 * Writes one event, if the queue wants to hear of its level. `fields` are plain JSON values; a 64-bit number is written
 * as a string.
 *
 * @example
 * log(queue.config, "warn", "attemptFailed", { queue: queue.name, job: job._id, attempt: job.attempt, error });
 */
export function log(
  { logLevel }: { logLevel: LogLevel },
  level: LogLevel,
  event: string,
  fields: Record<string, unknown>,
): void {
  if (RANK[level] < RANK[logLevel]) return;
  console[level](JSON.stringify({ conveyor: event, ...fields }, asPlain));
}

function asPlain(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}

/**
 * The component's lines on the deployment's log: one line of JSON for each event, from the queue's `logLevel` on.
 *
 * Levels, so that every step uses them alike:
 * - `debug`: every job that is enqueued (`jobEnqueued`), claimed (`attemptStarted`) or has fallen due (`jobPromoted`).
 *   At the rate of jobs: for examining one problem.
 * - `info`: every job that has ended as it should (`jobSucceeded`, `roundSucceeded`), or was canceled, retried or
 *   deleted by a call (`jobCanceled`, `jobRetried`, `jobDeleted`).
 * - `warn`: an attempt that failed, was lost or ran too long, and will be tried again; an error thrown by a mutation
 *   handler, with its stack (`handlerThrew`). The default.
 * - `error`: a job that failed, expired or timed out for good.
 *
 * An event of no single job (a pause, leases that a worker lost, a callback that is given up, a bug of the component)
 * is on the log at every level of the queue: it is rare. The fields of each event are in `src/shared/logEvents.ts`.
 */
import { logLine, type LogEvent, type LogFields, type LogLevel } from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";

const RANK: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 };

/** All of them: a field that an event may lack is `undefined` here, and none is forgotten. */
type Fields<Event extends LogEvent> = {
  [Field in keyof LogFields<Event>]-?: LogFields<Event>[Field] | undefined;
};

/**
 * Writes one event, if the queue's level includes it.
 *
 * @example
 * log(queue.config, "warn", "attemptUnacknowledged", { ...aboutJob(job), attempt: job.attempt, worker });
 */
export function log<Event extends LogEvent>(
  { logLevel }: { logLevel: LogLevel },
  level: LogLevel,
  event: Event,
  fields: Fields<Event>,
): void {
  if (RANK[level] >= RANK[logLevel]) logAlways(level, event, fields);
}

/** Writes one event that is no single job's. */
export function logAlways<Event extends LogEvent>(
  level: LogLevel,
  event: Event,
  fields: Fields<Event>,
): void {
  console[level](logLine(level, event, fields));
}

/** The job of an event, as each of its lines names it. */
export function aboutJob({ _id, queue, name }: Pick<Doc<"jobs">, "_id" | "queue" | "name">) {
  return { queue, job: _id, name };
}

/** A job that has ended: how long it waited for its last attempt and how long that ran, if there was one. */
export function logEnded(
  config: { logLevel: LogLevel },
  event: "jobSucceeded" | "roundSucceeded" | "jobCanceled",
  job: Doc<"jobs">,
  now: number,
): void {
  const { attempt, worker, enqueuedAt, startedAt } = job;
  const times =
    startedAt === undefined
      ? { waitMs: undefined, runMs: undefined }
      : { waitMs: startedAt - enqueuedAt, runMs: now - startedAt };
  log(config, "info", event, { ...aboutJob(job), attempt, worker, ...times });
}

/** A job that a call deleted, in any status. */
export function logDeleted(config: { logLevel: LogLevel }, job: Doc<"jobs">): void {
  const { attempt, status } = job;
  log(config, "info", "jobDeleted", { ...aboutJob(job), attempt, status });
}

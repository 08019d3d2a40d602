/**
 * The events of jobs and queues in the log of a deployment, with the fields of each, for readers of a log stream.
 * `docs/reference/events.md` is this in words. A field is only ever added. Pure.
 */
import { v, type Infer } from "convex/values";
import type { vLogLevel } from "./logLevels.js";
import { vStatus } from "./status.js";

/** `name`: the name that the job was enqueued with, where it has one. */
const job = { queue: v.string(), job: v.string(), name: v.optional(v.string()) };
const attempt = { ...job, attempt: v.number() };
const byWorker = { ...attempt, worker: v.string() };
const ended = {
  ...attempt,
  /** Absent where no worker ever had it. */
  worker: v.optional(v.string()),
  /** From enqueue to the start of the last attempt, and from there to the end; absent where the job never started. */
  waitMs: v.optional(v.number()),
  runMs: v.optional(v.number()),
};
const failed = {
  ...attempt,
  worker: v.optional(v.string()),
  failures: v.number(),
  error: v.string(),
  /** Where it was thrown, and its causes. */
  trace: v.optional(v.string()),
  /** The job has failed, and is not tried again. */
  isLast: v.boolean(),
};
/** Fields of an event that belongs to no single job: a row of the queue's events says the same. */
const recorded = {
  queue: v.optional(v.string()),
  message: v.string(),
  details: v.optional(v.any()),
};

/** An operation of the dashboard, and the queue and job that it is about. */
const called = {
  call: v.string(),
  queue: v.optional(v.string()),
  job: v.optional(v.string()),
};

/** Each event by its name, which is the field `conveyor` of its line. */
export const LOG_EVENTS = {
  // One job.
  jobEnqueued: v.object({ ...job, dueAt: v.number() }),
  jobPromoted: v.object(job),
  attemptStarted: v.object({ ...byWorker, waitMs: v.number() }),
  jobSucceeded: v.object(ended),
  roundSucceeded: v.object(ended),
  jobCanceled: v.object(ended),
  jobRetried: v.object({ ...attempt, was: vStatus }),
  jobDeleted: v.object({ ...attempt, status: vStatus }),
  attemptFailed: v.object(failed),
  attemptTimedOut: v.object(failed),
  attemptUnacknowledged: v.object(byWorker),
  attemptLost: v.object({ ...byWorker, resets: v.number(), maxResets: v.number() }),
  handlerThrew: v.object({ ...attempt, error: v.string(), stack: v.optional(v.string()) }),
  resultRefused: v.object({ job: v.string(), attempt: v.number(), error: v.string() }),
  jobLost: v.object({
    ...byWorker,
    ...{ resets: v.number(), maxResets: v.number(), error: v.string() },
  }),
  jobExpired: v.object({ ...job, error: v.string() }),
  callbackGivenUp: v.object({
    ...{ job: v.string(), name: v.optional(v.string()) },
    ...{ tries: v.number(), error: v.string() },
  }),
  // Queues, workers, and the component itself.
  queuePaused: v.object(recorded),
  queueDraining: v.object(recorded),
  queueResumed: v.object(recorded),
  queueConfigured: v.object(recorded),
  bulkEnded: v.object(recorded),
  bulkSkipped: v.object(recorded),
  jobsPostponed: v.object(recorded),
  handlerMissing: v.object(recorded),
  noPermit: v.object(recorded),
  handlerMismatch: v.object(recorded),
  leasesEnded: v.object(recorded),
  quarantined: v.object(recorded),
  expiryFailed: v.object(recorded),
  // Calls of the dashboard, of which the deployment's metrics know two functions only.
  dashboardWrote: v.object(called),
  dashboardFailed: v.object({ ...called, error: v.string() }),
  alarmRevived: v.object({
    kind: v.string(),
    queue: v.optional(v.string()),
    overdueMs: v.number(),
  }),
};

export type LogEvent = keyof typeof LOG_EVENTS;
export type LogFields<Event extends LogEvent> = Infer<(typeof LOG_EVENTS)[Event]>;

/** One line. `undefined` is left out, and a 64-bit number is written as a string. */
export function logLine<Event extends LogEvent>(
  level: Infer<typeof vLogLevel>,
  event: Event,
  fields: { [Field in keyof LogFields<Event>]: LogFields<Event>[Field] | undefined },
): string {
  return JSON.stringify({ conveyor: event, level, ...fields }, asPlain);
}

function asPlain(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}

/** Where something was thrown, as far as it says: the first lines. */
export function stackOf(error: unknown): string | undefined {
  const stack: unknown = error instanceof Error ? error.stack : undefined;
  return typeof stack === "string" ? stack.slice(0, STACK_MAX_LENGTH) : undefined;
}

const STACK_MAX_LENGTH = 2_000;

/**
 * The job as its handler gets it: the facts of one attempt, and its actions. It checks each argument before anything is
 * sent, so that a mistake is thrown where it was made.
 */
import { getConvexSize, type Value } from "convex/values";
import {
  conveyorError,
  cutText,
  factsOf,
  LOG_LEVELS,
  LOG_DATA_MAX_BYTES,
  LOG_MESSAGE_MAX_BYTES,
  OUTPUT_MAX_BYTES,
  PROGRESS_MAX_BYTES,
  Snoozed,
  textBytes,
  wellFormed,
} from "../shared/index.js";
import { describe, type Attempt } from "./attempts.js";
import type { Clock } from "./clock.js";
import { continuation } from "./continuing.js";
import { checkSendable } from "./outcome.js";
import type { WorkerEvent } from "./events.js";
import type { Reports } from "./reports.js";
import { retryLocally } from "./retryLocally.js";
import type { LogContent } from "./unsentReports.js";
import type { Job, JobActions, JobFacts, LogChange, LogEntry, LogOptions } from "./types.js";

export interface Telling {
  clock: Clock;
  reports: Reports;
  emit: (event: WorkerEvent) => void;
}

/** The job of an attempt, for a handler in this process. */
export function jobOf(attempt: Attempt, telling: Telling): Job {
  return withFacts(attempt, actionsOf(attempt, telling));
}

/** Into the actions: a copy of them would take their signal. */
export function withFacts<Actions extends JobActions>(
  { job, traced }: Attempt,
  actions: Actions,
): Actions & JobFacts {
  const { payload, related } = job;
  const traceparent = traced?.traceparent;
  const own = traceparent === undefined ? {} : { traceparent };
  return Object.assign(actions, { ...factsOf(job), ...own, payload, related }) as Actions &
    JobFacts;
}

/** The actions of an attempt's handler. */
export function actionsOf(attempt: Attempt, { reports, emit, clock }: Telling): JobActions {
  /** Reports of an attempt that is lost or over are dropped. */
  const isHeard = () => attempt.state === "running";

  function log(message: string, options: LogOptions = {}): LogEntry {
    let content = checked({ level: options.level ?? "info", message, data: options.data });
    tell(content);
    let revision = 0;
    const number = isHeard() ? reports.of(attempt).log(content, bytesOf(content)) : -1;
    reports.changed(attempt);
    return {
      update: (change: LogChange) => {
        content = checked({ ...content, ...change });
        if (!isHeard() || number < 0) return;
        revision += 1;
        reports.of(attempt).changeLog(number, revision, content, bytesOf(content));
        reports.changed(attempt);
      },
    };
  }

  function tell({ level, message, data }: LogContent): void {
    const details = data === undefined ? {} : { data };
    emit({ kind: "log", level, message, ...details, ...describe(attempt) });
  }

  return {
    signal: attempt.abort.signal,
    progress: (value) => {
      const shown = checkedValue("A progress value", value, PROGRESS_MAX_BYTES);
      if (!isHeard()) return;
      reports.of(attempt).show(shown);
      reports.changed(attempt);
    },
    log,
    write: (text) => {
      if (!isHeard() || text === "") return;
      const unsent = reports.of(attempt);
      if (unsent.isFull || !unsent.write(text)) throw outputFull();
      reports.changed(attempt);
    },
    snooze: (ms) => {
      throw new Snoozed(ms);
    },
    continueWith: (queue, payload, options) => {
      const traceparent = attempt.traced?.traceparent;
      // Without a span of its own they inherit the job's: the deployment sees to that.
      const traced = traceparent === undefined ? options : { traceparent, ...options };
      const one = continuation(attempt.continued, queue, payload, traced);
      if (isHeard()) attempt.continued.push(one);
    },
    retryLocally: (run, options = {}) =>
      retryLocally(run, options, { clock, signal: attempt.abort.signal }),
    isCanceled: () => Promise.resolve(attempt.abort.signal.aborted),
  };
}

function checked({
  level = "info",
  message,
  data,
}: LogContent | (LogOptions & { message: string })) {
  if (!LOG_LEVELS.includes(level)) {
    throw conveyorError(
      "invalidArgument",
      `The level of a log entry must be one of ${LOG_LEVELS.join(", ")}; got ${JSON.stringify(level)}.`,
      { argument: "level" },
    );
  }
  const text = wellFormed(String(message));
  return {
    level,
    message: cutText(text, LOG_MESSAGE_MAX_BYTES),
    data:
      data === undefined
        ? undefined
        : checkedValue("The data of a log entry", data, LOG_DATA_MAX_BYTES),
  };
}

function bytesOf({ message, data }: LogContent): number {
  return textBytes(message) + (data === undefined ? 0 : getConvexSize(data));
}

/** A copy of the value: it is sent later, and its owner may go on changing the original. */
function checkedValue(what: string, given: unknown, max: number): Value {
  const value = checkSendable(what, given);
  const bytes = getConvexSize(value);
  if (bytes <= max) return value;
  throw conveyorError(
    "payloadTooLarge",
    `${what} has at most ${max} bytes; got ${bytes}. Report a few numbers, and keep the rest for the result.`,
    { got: bytes, max },
  );
}

function outputFull(): Error {
  return conveyorError(
    "payloadTooLarge",
    `The output of an attempt has at most ${OUTPUT_MAX_BYTES} bytes, and the deployment takes no more of this one's. ` +
      "Put more into file storage, and return its id. If it had fewer, they were refused: see the event `reportRefused`.",
    { max: OUTPUT_MAX_BYTES },
  );
}

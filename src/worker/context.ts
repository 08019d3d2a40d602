/**
 * What a handler may use beside its job, bound to one attempt. It checks what a handler says before anything is sent, so
 * that a mistake is thrown where it was made.
 */
import { convexToJson, getConvexSize, type Value } from "convex/values";
import {
  conveyorError,
  cutText,
  LOG_DATA_MAX_BYTES,
  LOG_MESSAGE_MAX_BYTES,
  OUTPUT_MAX_BYTES,
  PROGRESS_MAX_BYTES,
  textBytes,
} from "../shared/index.js";
import { describe, type Attempt } from "./attempts.js";
import { Snoozed } from "./control.js";
import { checkSendable } from "./outcome.js";
import type { Reports } from "./reports.js";
import type { LogContent } from "./said.js";
import type { HandlerContext, LogChange, LogEntry, LogOptions, WorkerEvent } from "./types.js";

export function contextOf(
  attempt: Attempt,
  { reports, emit }: { reports: Reports; emit: (event: WorkerEvent) => void },
): HandlerContext {
  /** What an attempt says that is lost or over is for nobody. */
  const isHeard = () => attempt.state === "running";

  function log(message: string, options: LogOptions = {}): LogEntry {
    let content = checked({ level: options.level ?? "info", message, data: options.data });
    tell(content);
    let revision = 0;
    const number = isHeard() ? reports.of(attempt).log(content, bytesOf(content)) : -1;
    reports.said(attempt);
    return {
      update: (change: LogChange) => {
        content = checked({ ...content, ...change });
        if (!isHeard() || number < 0) return;
        revision += 1;
        reports.of(attempt).changeLog(number, revision, content, bytesOf(content));
        reports.said(attempt);
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
      const shown = (value === undefined ? null : value) as Value;
      checkSize("A progress value", shown, PROGRESS_MAX_BYTES);
      if (!isHeard()) return;
      reports.of(attempt).show(shown);
      reports.said(attempt);
    },
    log,
    write: (text) => {
      if (!isHeard() || text === "") return;
      const sayings = reports.of(attempt);
      if (sayings.isFull || !sayings.write(text)) throw outputFull();
      reports.said(attempt);
    },
    snooze: (ms) => {
      throw new Snoozed(ms);
    },
    continueWith: (queue, payload, options) => {
      const sent = (payload === undefined ? null : payload) as Value;
      checkSendable(`The payload for the queue "${queue}"`, sent);
      attempt.continued.push({
        queue,
        payload: sent,
        ...(options === undefined ? {} : { options }),
      });
    },
  };
}

function checked({ level, message, data }: LogContent | (LogOptions & { message: string })) {
  const value = data as Value | undefined;
  if (value !== undefined) checkSize("The data of a log entry", value, LOG_DATA_MAX_BYTES);
  return { level: level ?? "info", message: cutText(message, LOG_MESSAGE_MAX_BYTES), data: value };
}

function bytesOf({ message, data }: LogContent): number {
  return textBytes(message) + (data === undefined ? 0 : getConvexSize(data));
}

function checkSize(what: string, value: Value, max: number): void {
  convexToJson(value);
  const bytes = getConvexSize(value);
  if (bytes <= max) return;
  throw conveyorError(
    "payloadTooLarge",
    `${what} has at most ${max} bytes; got ${bytes}. Report a few numbers, and keep the rest for the result.`,
    { got: bytes, max },
  );
}

function outputFull(): Error {
  return conveyorError(
    "payloadTooLarge",
    `The output of a job has at most ${OUTPUT_MAX_BYTES} bytes, all its attempts together, and this one has them. ` +
      "Put more into file storage, and return its id.",
    { max: OUTPUT_MAX_BYTES },
  );
}

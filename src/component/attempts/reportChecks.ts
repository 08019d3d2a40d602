/**
 * Bounds of a report: refused whole, before anything is read, where a number or size is out of its bounds. A worker
 * checks the same before it sends. Pure.
 */
import { getConvexSize, type Value } from "convex/values";
import {
  checkInteger,
  checkLength,
  OUTPUT_PART_MAX_BYTES,
  conveyorError,
  LEASES_MAX,
  LOG_DATA_MAX_BYTES,
  LOG_MESSAGE_MAX_BYTES,
  PROGRESS_MAX_BYTES,
  REPORT_MAX_BYTES,
  REPORT_MAX_ITEMS,
  textBytes,
  TOKEN_ROW_BYTES,
} from "../../shared/index.js";
import { isStorable } from "../rows/payloads.js";
import type { Report } from "./report.js";

const COUNT_MAX = Number.MAX_SAFE_INTEGER;

/** Returns for how many bytes its log entries and output are counted: each is a row. */
export function checkReport(
  { updates = [], logs = [], output = [] }: Report,
  leases: number,
): number {
  if (leases < 1 || leases > LEASES_MAX) {
    throw conveyorError(
      "invalidArgument",
      `A report is about 1 to ${LEASES_MAX} leases; this one is about ${leases}. Split it, or leave it out.`,
      { argument: "report", got: leases, min: 1, max: LEASES_MAX },
    );
  }
  checkLength("The progress values of a report", updates, 0, REPORT_MAX_ITEMS);
  checkLength("The log entries of a report", logs, 0, REPORT_MAX_ITEMS);
  checkLength("The parts of output of a report", output, 0, REPORT_MAX_ITEMS);
  let bytes = 0;
  for (const { value, revision = 0 } of updates) {
    checkInteger("The revision of a progress value", revision, 0, COUNT_MAX);
    bytes += checkValue("A progress value", value as Value, PROGRESS_MAX_BYTES);
  }
  const progress = bytes;
  for (const { entry, revision = 0, message, data = null } of logs) {
    checkInteger("The number of a log entry", entry, 0, COUNT_MAX);
    checkInteger("The revision of a log entry", revision, 0, COUNT_MAX);
    bytes += checkText("The message of a log entry", message, LOG_MESSAGE_MAX_BYTES);
    bytes += checkValue("The data of a log entry", data as Value, LOG_DATA_MAX_BYTES);
  }
  for (const { index, text } of output) {
    checkInteger("The index of a part of output", index, 0, COUNT_MAX);
    if (text === "") throw emptyPart(index);
    bytes += checkText("A part of output", text, OUTPUT_PART_MAX_BYTES);
  }
  if (bytes > REPORT_MAX_BYTES) throw tooLarge("A report", bytes, REPORT_MAX_BYTES);
  return bytes - progress + TOKEN_ROW_BYTES * (logs.length + output.length);
}

/** A job's output is bounded by its text: of parts without any it could have as many as it likes. */
function emptyPart(index: number): Error {
  return conveyorError(
    "invalidArgument",
    `A part of output has text; that of index ${index} has none. Leave it out, and give its index to the next.`,
    { argument: "output", index },
  );
}

function checkText(what: string, text: string, max: number): number {
  const bytes = textBytes(text);
  if (bytes > max) throw tooLarge(what, bytes, max);
  return bytes;
}

function checkValue(what: string, value: Value, max: number): number {
  const bytes = getConvexSize(value);
  if (bytes > max) throw tooLarge(what, bytes, max);
  if (isStorable(value)) return bytes;
  throw conveyorError(
    "invalidArgument",
    `${what} is nested too deeply, or an object in it has too many fields. Flatten it, or send it as one JSON string.`,
    { argument: what },
  );
}

function tooLarge(what: string, got: number, max: number): Error {
  return conveyorError(
    "payloadTooLarge",
    `${what} may be up to ${max} bytes; this one is ${got}. Shorten or split it; a large value belongs into ` +
      "the result or into file storage.",
    { got, max },
  );
}

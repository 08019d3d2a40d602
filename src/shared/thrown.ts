/**
 * The thrown value of a handler as its job's error: its message, without the platform's frame. Across a function call of the
 * platform an error reads `Uncaught Error: …`, with the stack below it; in a worker's or lane's own process it is the message
 * alone. A job's error should be the same in both. Pure.
 */
import { errorText, isConveyorError } from "./errors.js";
import { TRACE_MAX_BYTES } from "./limits.js";
import { cutText, wellFormed } from "./text.js";

const UNCAUGHT = "Uncaught ";
const FRAME = /^\s+at \S/;
/** The class of the thrown value, before its message. */
const NAME = /^[A-Za-z_$][\w$.]*(?:: |:?$)/;
/** A text that was thrown may begin like that too. An error has a stack, or at least such a name. */
const NAME_OF_ERROR = /^[\w$.]*(?:Error|Exception)(?:: |:?$)/;

/** The message, in one function or across several. */
export function thrownText(error: unknown): string {
  if (isConveyorError(error)) return error.data.message;
  const text = errorText(error);
  if (!text.startsWith(UNCAUGHT)) return text;
  const lines = text.split("\n");
  const isFrame = (line: string) => line.trim() === "" || FRAME.test(line);
  let last = lines.length;
  while (last > 1 && isFrame(lines[last - 1]!)) last -= 1;
  const name = lines.slice(last).some((line) => FRAME.test(line)) ? NAME : NAME_OF_ERROR;
  let message = lines.slice(0, last).join("\n");
  while (message.startsWith(UNCAUGHT)) message = message.slice(UNCAUGHT.length).replace(name, "");
  return message;
}

/** So many causes behind an error are told: a cause may be its own. */
const CAUSES_MAX = 4;
/** Of a message in a trace: the job's error has all of it. */
const TRACED_MESSAGE_MAX_BYTES = 512;

/**
 * The trace of an error: class, message and stack, and the same of each `cause` below, as in `TypeError: no such scene`. Up to
 * 4 KiB. `undefined` for a value without them, such as a thrown text.
 */
export function thrownTrace(error: unknown): string | undefined {
  try {
    const parts: string[] = [];
    let at: unknown = error;
    while (at !== undefined && at !== null && parts.length <= CAUSES_MAX) {
      parts.push(traced(at));
      at = at instanceof Error ? at.cause : undefined;
    }
    // A text has no place of its own.
    if (!(error instanceof Error)) return undefined;
    return cutText(wellFormed(parts.join("\nCaused by: ")), TRACE_MAX_BYTES);
  } catch {
    // It throws when it is looked at.
    return undefined;
  }
}

function traced(error: unknown): string {
  const text = errorText(error);
  if (!(error instanceof Error)) return cutText(text, TRACED_MESSAGE_MAX_BYTES);
  // Thrown in another function: the platform's text has its class and stack, and its own stack is that of the call.
  if (text.startsWith(UNCAUGHT)) return text.slice(UNCAUGHT.length).trimEnd();
  const frames = errorStack(error).filter((line) => FRAME.test(line));
  const message = cutText(thrownText(error), TRACED_MESSAGE_MAX_BYTES);
  return [`${error.name}: ${message}`, ...frames].join("\n");
}

function errorStack({ stack }: Error): string[] {
  return typeof stack === "string" ? stack.split("\n") : [];
}

/** A handler's end as an outcome: any return value and any throw becomes one. Pure. */
import { convexToJson, getConvexSize, jsonToConvex, type Value } from "convex/values";
import {
  ARRAY_MAX_ELEMENTS,
  askedBy,
  conveyorError,
  cutText,
  ERROR_MAX_BYTES,
  hasHalfCharacter,
  isTooDeep,
  isTooWide,
  OBJECT_MAX_FIELDS,
  PAYLOAD_MAX_BYTES,
  PAYLOAD_MAX_DEPTH,
  thrownText,
  thrownTrace,
  wellFormed,
  type Continuation,
  type Finished,
  type Outcome,
} from "../shared/index.js";
import type { Attempt } from "./attempts.js";
import { messageOf } from "./errors.js";
import { FOLLOWING_BYTES } from "./limits.js";
import type { HandlerEnd } from "./runner.js";

/** The outcome of a returned value. One that cannot be sent fails the job here: the deployment could not even read it. */
export function outcomeOfValue(value: unknown): Outcome {
  const sent = sendable("The handler's result", value);
  return "refusal" in sent
    ? { kind: "failed", error: sent.refusal }
    : { kind: "succeeded", result: sent.value };
}

/** The outcome of a thrown value: a failure, unless it asks for something else. */
export function outcomeOfError(error: unknown): Outcome {
  const { snoozeMs, message: given, ...asked } = askedBy(error);
  if (snoozeMs !== undefined) return { kind: "snoozed", runAfter: snoozeMs };
  // Cut here as well as there: a message of megabytes would not fit into the call.
  const message = cutText(wellFormed(given ?? thrownText(error)), ERROR_MAX_BYTES);
  const trace = thrownTrace(error);
  return {
    kind: "failed",
    error: message === "" ? "The handler threw without a message." : message,
    ...(trace === undefined ? {} : { trace }),
    ...asked,
  };
}

/**
 * The outcome of a handler that got its signal to stop and has ended. A result is still worth reporting: the deployment
 * decides whether it comes too late. Any other end counts as the reason of the signal; so does a return without a
 * value, as of a handler that stops where its signal says so.
 */
export function outcomeOfStopped(
  { reason, job }: Attempt,
  { outcome, isSilent = false }: HandlerEnd,
): Outcome {
  if (outcome.kind === "succeeded" && (reason === undefined || !isSilent)) return outcome;
  if (reason === "canceled") return { kind: "canceled" };
  if (reason === "timedOut") return tooLong(job.timeoutMs);
  // It has not failed: its lease ran out here or is lost, or the worker stops. Where that still stands, the job goes back.
  if (reason !== undefined && (outcome.kind === "failed" || isSilent)) return { kind: "released" };
  return outcome;
}

/** The outcome of a handler that does not stop: its lease may still stand, so that something must be said. */
export function outcomeOfAbandoned({ reason, job }: Attempt): Outcome {
  if (reason === "canceled") return { kind: "canceled" };
  return reason === "timedOut" ? tooLong(job.timeoutMs) : { kind: "released" };
}

/** As the janitor ends such an attempt, should it be the first to notice. */
export function tooLong(timeoutMs: number | undefined): Outcome {
  const error = `The attempt ran longer than its timeoutMs, ${timeoutMs} ms.`;
  return { kind: "failed", error, timedOut: true };
}

/** The error fields of an event. */
export function failureFields({ error, trace }: { error: string; trace?: string | undefined }): {
  error: string;
  trace?: string;
} {
  return { error, ...(trace === undefined ? {} : { trace }) };
}

/** Bytes of an outcome in a call, with the jobs that follow it, for bounding batches. */
export function sizeOf(
  outcome: Outcome,
  following: readonly Continuation[] | Finished["continued"] = [],
): number {
  const bytes = following.reduce((sum, one) => {
    const jobs = "jobs" in one ? one.jobs.length : 1;
    return sum + getConvexSize(one) + jobs * FOLLOWING_BYTES;
  }, 0);
  if (outcome.kind === "succeeded") return bytes + getConvexSize(outcome.result as Value);
  if (outcome.kind !== "failed") return 0;
  return outcome.error.length + (outcome.trace ?? "").length;
}

/** The value as it is now, for a call that is made later. Throws for a value that cannot be sent, or stored. */
export function checkSendable(what: string, value: unknown): Value {
  const sent = sendable(what, value);
  if ("refusal" in sent) throw conveyorError("invalidPayload", sent.refusal);
  return sent.value;
}

/** A copy: its owner may go on changing the original, also into something that no call could carry. */
function sendable(what: string, given: unknown): { value: Value } | { refusal: string } {
  const value = (given === undefined ? null : given) as Value;
  try {
    const refusal = whyUnsendable(what, value);
    return refusal === null ? { value: jsonToConvex(convexToJson(value)) } : { refusal };
  } catch (error) {
    const refusal =
      `${what} is not a Convex value: ${messageOf(error)} ` +
      "Use plain objects, arrays, strings, numbers, booleans, bigints, ArrayBuffers or null.";
    return { refusal: cutText(refusal, ERROR_MAX_BYTES) };
  }
}

/** Throws the platform's message for a value that is none. */
function whyUnsendable(what: string, result: Value): string | null {
  // Before anything recurses: a cycle has no depth, and no JSON.
  if (isTooDeep(result)) {
    return (
      `${what} is nested more than ${PAYLOAD_MAX_DEPTH} levels deep. ` +
      "Make it flatter, or a string with JSON."
    );
  }
  convexToJson(result);
  const bytes = getConvexSize(result);
  if (bytes > PAYLOAD_MAX_BYTES) {
    return (
      `${what} has ${bytes} bytes; at most ${PAYLOAD_MAX_BYTES} can be kept. ` +
      "Put large values into file storage, and their ids in their place."
    );
  }
  if (isTooWide(result)) {
    return (
      `${what} has an array of more than ${ARRAY_MAX_ELEMENTS} elements or an object of more than ` +
      `${OBJECT_MAX_FIELDS} fields. Make it a string with JSON.`
    );
  }
  if (!hasHalfCharacter(result)) return null;
  return (
    `${what} has a text with half a character in it (a lone surrogate), which is no Unicode. ` +
    "Cut texts at characters' boundaries, or send bytes."
  );
}

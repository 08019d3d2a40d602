/** What a handler's end means as an outcome: any return value and any throw becomes one. Pure. */
import { convexToJson, getConvexSize, type Value } from "convex/values";
import {
  ERROR_MAX_BYTES,
  PAYLOAD_MAX_BYTES,
  PAYLOAD_MAX_DEPTH,
  type Outcome,
} from "../shared/index.js";
import { messageOf } from "./errors.js";

/** The outcome of a returned value. One that cannot be sent fails the job here: the deployment could not even read it. */
export function outcomeOfValue(value: unknown): Outcome {
  const result = (value === undefined ? null : value) as Value;
  const refusal = whyUnsendable(result);
  return refusal === null ? { kind: "succeeded", result } : { kind: "failed", error: refusal };
}

export function outcomeOfError(error: unknown): Outcome {
  // Cut here as well as there: a message of megabytes would not fit into the call.
  const message = messageOf(error).slice(0, ERROR_MAX_BYTES);
  return {
    kind: "failed",
    error: message === "" ? "The handler threw without a message." : message,
  };
}

/** Bytes of an outcome in a call, for bounding batches. */
export function sizeOf(outcome: Outcome): number {
  if (outcome.kind === "succeeded") return getConvexSize(outcome.result as Value);
  return outcome.kind === "failed" ? outcome.error.length : 0;
}

function whyUnsendable(result: Value): string | null {
  // Before anything recurses: a cycle has no depth, and no JSON.
  if (!fits(result, PAYLOAD_MAX_DEPTH)) {
    return (
      `The handler's result is nested more than ${PAYLOAD_MAX_DEPTH} levels deep. ` +
      "Return something flatter, or a string with JSON."
    );
  }
  try {
    convexToJson(result);
  } catch (error) {
    return (
      `The handler returned what is not a Convex value: ${messageOf(error)} ` +
      "Return plain objects, arrays, strings, numbers, booleans, bigints, ArrayBuffers or null."
    ).slice(0, ERROR_MAX_BYTES);
  }
  const bytes = getConvexSize(result);
  if (bytes <= PAYLOAD_MAX_BYTES) return null;
  return (
    `The handler's result has ${bytes} bytes; at most ${PAYLOAD_MAX_BYTES} can be kept. ` +
    "Put large results into file storage and return their id."
  );
}

function fits(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null || value instanceof ArrayBuffer) return true;
  if (levels === 0) return false;
  return Object.values(value).every((member) => fits(member, levels - 1));
}

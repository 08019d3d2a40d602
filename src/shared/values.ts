/** Which values can be stored, and how large they are. Pure. */
import { getConvexSize, type Value } from "convex/values";
import { errorText, conveyorError } from "./errors.js";
import {
  ARRAY_MAX_ELEMENTS,
  OBJECT_MAX_FIELDS,
  PAYLOAD_MAX_BYTES,
  PAYLOAD_MAX_DEPTH,
} from "./limits.js";
import { isWellFormed } from "./text.js";

/** Refuses a payload or context that cannot be stored, and returns its size in bytes. */
export function checkStorable(what: string, value: Value | undefined): number {
  if (value === undefined) {
    throw conveyorError("invalidPayload", `${what} must be a value; got undefined. Pass null.`);
  }
  // Depth first: what measures the size goes down by itself, and has no bound.
  if (isTooDeep(value)) {
    throw conveyorError(
      "invalidPayload",
      `${what} may be nested up to ${PAYLOAD_MAX_DEPTH} levels deep; this one is deeper. ` +
        "Flatten it, or store it as one JSON string.",
      { max: PAYLOAD_MAX_DEPTH },
    );
  }
  if (isTooWide(value)) {
    throw conveyorError(
      "invalidPayload",
      `${what} may have up to ${ARRAY_MAX_ELEMENTS} elements in an array and ${OBJECT_MAX_FIELDS} fields in an object; ` +
        "this one has more. Store it as one JSON string.",
      { maxElements: ARRAY_MAX_ELEMENTS, maxFields: OBJECT_MAX_FIELDS },
    );
  }
  const bytes = sizeOf(what, value);
  if (bytes > PAYLOAD_MAX_BYTES) {
    throw conveyorError(
      "payloadTooLarge",
      `${what} may be up to ${PAYLOAD_MAX_BYTES} bytes; this one is ${bytes}. ` +
        "Put it into file storage, and its id into the payload.",
      { got: bytes, max: PAYLOAD_MAX_BYTES },
    );
  }
  return bytes;
}

function sizeOf(what: string, value: Value): number {
  try {
    return getConvexSize(value);
  } catch (error) {
    // The platform's sentence names the type: a date, a function, a class.
    throw conveyorError(
      "invalidPayload",
      `${what} must be a value that Convex can store: ${errorText(error)}`,
    );
  }
}

/** Whether the value is nested deeper than our rows leave room for. */
export function isTooDeep(value: Value | undefined, room: number = PAYLOAD_MAX_DEPTH): boolean {
  const inner = partsOf(value);
  if (inner === null) return false;
  return room === 0 || inner.some((part) => isTooDeep(part, room - 1));
}

/** Whether an array or object in the value has more parts than the platform takes. */
export function isTooWide(value: Value | undefined): boolean {
  const inner = partsOf(value);
  if (inner === null) return false;
  const max = Array.isArray(value) ? ARRAY_MAX_ELEMENTS : OBJECT_MAX_FIELDS;
  return inner.length > max || inner.some(isTooWide);
}

/** Whether a text in the value has half a character in it: no call can carry that. */
export function hasHalfCharacter(value: Value | undefined): boolean {
  if (typeof value === "string") return !isWellFormed(value);
  return partsOf(value)?.some(hasHalfCharacter) ?? false;
}

/** What an array or object is made of; null for anything else. */
function partsOf(value: Value | undefined): (Value | undefined)[] | null {
  if (typeof value !== "object" || value === null || value instanceof ArrayBuffer) return null;
  return Array.isArray(value) ? value : Object.values(value);
}

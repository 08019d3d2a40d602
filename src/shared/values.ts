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
  // Depth first: the measure of the size recurses without a bound.
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
    const found = findUnstorable(value, "value");
    // The platform's sentence names the type: a date, a function, a class.
    const why =
      found === null ? errorText(error) : `${found.path} is ${found.got}. ${found.instead}`;
    throw conveyorError("invalidPayload", `${what} must be a value that Convex can store: ${why}`);
  }
}

/** A value within a value that Convex cannot store. */
export interface Unstorable {
  /** As in `payload.items[3].at`. */
  path: string;
  /** As in `a Date`. */
  got: string;
  /** The value to pass in its place, as a sentence. */
  instead: string;
}

/** The first part of the value that no call can carry, by its kind or its depth; `null` where each can be. */
export function findUnstorable(
  value: unknown,
  path: string,
  room: number = PAYLOAD_MAX_DEPTH,
): Unstorable | null {
  if (isPlainValue(value)) return findOdd(value, path);
  const isArray = Array.isArray(value);
  if (!isArray && !isPlainObject(value)) {
    const got = kindOf(value);
    return { path, got, instead: INSTEAD[got] ?? INSTEAD_OF_OTHERS };
  }
  // A cycle has no end, and no JSON.
  if (room === 0) return { path, ...TOO_DEEP };
  for (const [key, part] of Object.entries(value)) {
    const at = isArray ? `${path}[${key}]` : `${path}.${key}`;
    // Of an object a field that is undefined is left out on the wire; a list has no such gap.
    if (part === undefined && !isArray) continue;
    if (!isArray && !FIELD.test(key)) return { path: at, ...NO_FIELD };
    const found = findUnstorable(part, at, room - 1);
    if (found !== null) return found;
  }
  return null;
}

/** Of the values that are no lists and no objects. */
function findOdd(value: unknown, path: string): Unstorable | null {
  if (typeof value === "bigint" && BigInt.asIntN(64, value) !== value)
    return { path, got: "a bigint of more than 64 bits", instead: "Pass it as a string." };
  if (typeof value !== "string" || isWellFormed(value)) return null;
  return {
    path,
    got: "a text with half a character in it",
    instead: "Cut texts between characters, or mend them with `toWellFormed()`.",
  };
}

/** Names of fields as the platform takes them. */
const FIELD = /^(?!\$)[ -~]{0,1024}$/;
const NO_FIELD = {
  got: "a field with a name that it does not take",
  instead:
    "A name is of ASCII characters, up to 1,024, and does not begin with `$`. Put other texts into values, as in a list of pairs.",
};
const TOO_DEEP = {
  got: `nested more than ${PAYLOAD_MAX_DEPTH} levels deep`,
  instead: "Flatten it, or pass it as one JSON string.",
};

function isPlainValue(value: unknown): boolean {
  if (value === null || value instanceof ArrayBuffer) return true;
  return ["string", "number", "boolean", "bigint"].includes(typeof value);
}

/** As the platform has it: without a prototype, or of the class Object, of any realm. */
export function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || prototype.constructor?.name === "Object";
}

/** For people: the type of a value, with the name of its class. */
export function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (typeof value !== "object") return `a ${typeof value}`;
  const name = value.constructor?.name;
  if (name === undefined || name === "Object") return "an object";
  return `${/^[AEIOU]/.test(name) ? "an" : "a"} ${name}`;
}

const INSTEAD_OF_OTHERS =
  "Pass plain objects, arrays, strings, numbers, bigints, booleans, null or ArrayBuffers.";
const INSTEAD: { readonly [Kind in string]?: string } = {
  "a Date": "Pass its number of milliseconds: `date.getTime()`.",
  "a Map": "Pass an object: `Object.fromEntries(map)`.",
  "a Set": "Pass an array: `[...set]`.",
  undefined: "Pass null, or leave the element out.",
};

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

/** The parts of an array or object; null for anything else. */
function partsOf(value: Value | undefined): (Value | undefined)[] | null {
  if (typeof value !== "object" || value === null || value instanceof ArrayBuffer) return null;
  return Array.isArray(value) ? value : Object.values(value);
}

/** The fields that are there: an undefined field crosses no wire, and would count as set. */
export function withoutUndefined<T extends object>(
  fields: T,
): { [F in keyof T]?: Exclude<T[F], undefined> } {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as never;
}

/** The mismatch of a value with its validator, in words. Pure; a file of its own, since it imports a library. */
import { validate } from "convex-helpers/validators";
import type { GenericDatabaseReader } from "convex/server";
import type { Validator } from "convex/values";
import { PAYLOAD_MAX_DEPTH } from "./limits.js";
import { isPlainObject } from "./values.js";

export interface Mismatch {
  /** Where in the value, as in `payload.size.width`. */
  path: string;
  expected: string;
  got: string;
}

/** The mismatch, or null. With `db`, ids must be of their table, and not only strings. */
export function findMismatch(
  validator: Validator<any, "required", any>,
  given: unknown,
  root: string,
  db?: GenericDatabaseReader<any>,
): Mismatch | null {
  const value = ownOf(given);
  try {
    if (validate(validator, value, { throw: true, _pathPrefix: root, ...(db && { db }) }))
      return findPassedOver(validator, value, root);
    return { path: root, expected: plain(validator.kind), got: typeof value };
  } catch (error) {
    if (!isMismatch(error)) throw error;
    return { path: error.path ?? root, expected: plain(error.expected), got: plain(error.got) };
  }
}

/**
 * The value with fields of its own only: the library takes what every object inherits, such as `constructor`, for a field of that
 * name. A value that is too deep to be stored is checked as it is.
 */
function ownOf(value: unknown, room: number = PAYLOAD_MAX_DEPTH): unknown {
  if (room === 0) return value;
  if (Array.isArray(value)) return value.map((part) => ownOf(part, room - 1));
  if (!isPlainObject(value)) return value;
  const own = Object.entries(value).map(([name, part]) => [name, ownOf(part, room - 1)]);
  return Object.assign(Object.create(null), Object.fromEntries(own));
}

/**
 * Of a value that fits by the library: a list or bytes in place of a record, a field that no validator names and every object
 * inherits, and -0 in place of the literal 0. The platform refuses all of them.
 */
function findPassedOver(
  validator: Validator<any, any, any>,
  value: any,
  path: string,
): Mismatch | null {
  const { kind } = validator;
  if (kind === "literal" && Object.is(value, -0) && !Object.is(validator.value, -0))
    return { path, expected: String(validator.value), got: "-0" };
  if (validator.kind === "union") {
    const fitting = validator.members.filter((one) => validate(one, value));
    const found = fitting.map((one) => findPassedOver(one, value, path));
    return found.includes(null) ? null : (found[0] ?? null);
  }
  if (kind === "any" || typeof value !== "object" || value === null) return null;
  const isList = Array.isArray(value);
  const got = isList ? "array" : value instanceof ArrayBuffer ? "bytes" : "object";
  if (validator.kind === "record" && got !== "object") return { path, expected: "record", got };
  for (const [key, part] of Object.entries(value as Record<string, unknown>)) {
    const at = isList ? `${path}[${key}]` : `${path}.${key}`;
    if (validator.kind === "object" && part !== undefined && !Object.hasOwn(validator.fields, key))
      return { path: at, expected: "nothing", got: typeof part };
    const inner = partOf(validator, key);
    const found = inner === undefined ? null : findPassedOver(inner, part, at);
    if (found !== null) return found;
  }
  return null;
}

/** The validator of a part; none of a field that is undefined and that no validator names. */
function partOf(
  validator: Validator<any, any, any>,
  key: string,
): Validator<any, any, any> | undefined {
  if (validator.kind === "array") return validator.element;
  if (validator.kind === "record") return validator.value;
  return validator.kind === "object" ? validator.fields[key] : undefined;
}

/** Why a result does not fit, as an error message of the job; null when it fits. `db` as above. */
export function explainBadResult(
  queue: string,
  validator: Validator<any, "required", any>,
  result: unknown,
  db?: GenericDatabaseReader<any>,
): string | null {
  const mismatch = findMismatch(validator, result, "result", db);
  if (mismatch === null) return null;
  return (
    `The handler's result does not fit the queue "${queue}": ${mismatch.path} must be ${mismatch.expected}, ` +
    `got ${mismatch.got}. The job counts as failed.`
  );
}

/** Validators name numbers by their storage, values by their type; people need one word. */
function plain(kind: unknown): string {
  if (kind === "id") return "an id";
  return kind === "float64" ? "number" : kind === "int64" ? "bigint" : String(kind);
}

/** By shape and not by class, since a bundle may hold two copies of it. */
function isMismatch(error: unknown): error is { expected: unknown; got: unknown; path?: string } {
  return error instanceof Error && "expected" in error && "got" in error;
}

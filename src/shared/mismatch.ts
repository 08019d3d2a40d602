/** The mismatch of a value with its validator, in words. Pure; a file of its own, since it imports a library. */
import { validate } from "convex-helpers/validators";
import type { GenericDatabaseReader } from "convex/server";
import type { Validator } from "convex/values";
import { PAYLOAD_MAX_DEPTH } from "./limits.js";
import { firstCharacters } from "./text.js";
import { isPlainObject } from "./values.js";

export interface Mismatch {
  /** Where in the value, as in `payload.size.width`. */
  path: string;
  expected: string;
  got: string;
}

type AnyValidator = Validator<any, any, any>;
type Db = GenericDatabaseReader<any> | undefined;

/** The mismatch, or null. With `db`, ids must be of their table, and not only strings. */
export function findMismatch(
  validator: Validator<any, "required", any>,
  given: unknown,
  root: string,
  db?: GenericDatabaseReader<any>,
): Mismatch | null {
  const value = namesInherited(validator) ? ownOf(given) : given;
  if (fits(validator, value, db)) return findPassedOver(validator, value, root);
  return locate(validator, value, root, db);
}

function fits(validator: AnyValidator, value: unknown, db: Db): boolean {
  return validate(validator, value, db && { db });
}

/** The part that does not fit. The library does not look for it within a union: it names the last member, whatever was meant. */
function locate(validator: AnyValidator, value: unknown, path: string, db: Db): Mismatch {
  if (validator.kind === "union") return locateInUnion(validator.members, value, path, db);
  for (const [key, part] of partsOf(validator, value)) {
    const inner = partOf(validator, key)!;
    const at = validator.kind === "array" ? `${path}[${key}]` : `${path}.${key}`;
    if (!fits(inner, part, db)) return locate(inner, part, at, db);
  }
  return byLibrary(validator, value, path, db);
}

/** All that a validator looks at in a value of its kind. */
function partsOf(validator: AnyValidator, value: any): [string, unknown][] {
  if (validator.kind === "array") return Array.isArray(value) ? Object.entries(value) : [];
  if (!isPlainObject(value)) return [];
  if (validator.kind === "record") return Object.entries(value);
  if (validator.kind !== "object") return [];
  return Object.keys(validator.fields).map((key) => [key, (value as any)[key]]);
}

/** By the object that comes nearest, or by its literal that tells it from others, with their literals; else all members. */
function locateInUnion(
  members: readonly AnyValidator[],
  value: unknown,
  path: string,
  db: Db,
): Mismatch {
  const kinds = Array.isArray(value) ? ["array"] : isPlainObject(value) ? ["object", "record"] : [];
  const meant = members.flatMap(flat).filter(({ kind }) => kinds.includes(kind));
  const [nearest] = meant
    .map((member) => {
      const parts = partsOf(member, value).map(([key, part]) => ({
        ...{ key, part, literal: partOf(member, key)!.kind === "literal" },
        isFit: fits(partOf(member, key)!, part, db),
      }));
      const other = parts.find(({ literal, isFit }) => literal && !isFit);
      const fitting = parts.filter(({ part, isFit }) => isFit && part !== undefined).length;
      return { member, other, fitting };
    })
    .sort((a, b) => Number(!!a.other) - Number(!!b.other) || b.fitting - a.fitting);
  if (nearest === undefined) return { path, expected: allOf(members), got: gotOf(members, value) };
  const { member, other } = nearest;
  if (other === undefined) return locate(member, value, path, db);
  const literals = meant.flatMap((one) => partOf(one, other.key) ?? []);
  const found = { expected: allOf(literals), got: gotOf(literals, other.part) };
  return { path: `${path}.${other.key}`, ...found };
}

function allOf(members: readonly AnyValidator[]): string {
  const words = [...new Set(members.flatMap(flat).map(wordOf))];
  const last = words.pop()!;
  return words.length === 0 ? last : `${words.join(", ")} or ${last}`;
}

function flat(validator: AnyValidator): AnyValidator[] {
  return validator.kind === "union" ? validator.members.flatMap(flat) : [validator];
}

function wordOf(validator: AnyValidator): string {
  if (validator.kind === "literal") return shown(validator.value);
  return validator.kind === "id" ? `Id<${validator.tableName}>` : plain(validator.kind);
}

/** Beside literals the value itself tells what is wrong. */
function gotOf(members: readonly AnyValidator[], value: unknown): string {
  const isBare = typeof value !== "object" && value !== undefined;
  if (isBare && members.flatMap(flat).some(({ kind }) => kind === "literal")) return shown(value);
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? "array" : value instanceof ArrayBuffer ? "bytes" : typeof value;
}

const SHOWN_CHARACTERS = 100;
function shown(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return firstCharacters(text, SHOWN_CHARACTERS);
}

/** The library's answer, of a value that is no union. */
function byLibrary(validator: AnyValidator, value: unknown, path: string, db: Db): Mismatch {
  if (validator.kind === "literal")
    return { path, expected: wordOf(validator), got: gotOf([validator], value) };
  try {
    validate(validator, value, { throw: true, _pathPrefix: path, ...(db && { db }) });
    return { path, expected: plain(validator.kind), got: typeof value };
  } catch (error) {
    if (!isMismatch(error)) throw error;
    return { path: error.path ?? path, expected: plain(error.expected), got: plain(error.got) };
  }
}

/** Whether a validator has a field with a name that every object inherits, such as `constructor`. */
function namesInherited(validator: AnyValidator): boolean {
  if (validator.kind === "union") return validator.members.some(namesInherited);
  if (validator.kind === "array") return namesInherited(validator.element);
  if (validator.kind === "record") return namesInherited(validator.value);
  if (validator.kind !== "object") return false;
  return Object.entries<AnyValidator>(validator.fields).some(
    ([name, field]) => name in Object.prototype || namesInherited(field),
  );
}

/**
 * The value with fields of its own only: the library takes an inherited one for a field of that name. A value that is too deep to
 * be stored is checked as it is.
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
function findPassedOver(validator: AnyValidator, value: any, path: string): Mismatch | null {
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
function partOf(validator: AnyValidator, key: string): AnyValidator | undefined {
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

/**
 * Checks values against the CLI's JSON validators, for documents as for arguments and return values, and gives the
 * error in the platform's words: the path, the value, the expected type.
 */
import { CommitTsPlaceholder, jsonToConvex, type Value, type ValidatorJSON } from "convex/values";
import { compareInOrder } from "./keys.js";
import { describeValidator, describeValue } from "./describe.js";

/** The table that an id belongs to, `null` when there is none. */
export type TableOfId = (id: string) => string | null;

type ObjectFields = Extract<ValidatorJSON, { type: "object" }>["value"];

/**
 * `null` when the value matches, else the message. `path` is the value's place in the caller's input (`.jobs[3]`).
 * Without `tableOf`, any string passes for an id.
 */
export function checkValue(
  validator: ValidatorJSON,
  value: Value | undefined,
  path = "",
  tableOf?: TableOfId,
): string | null {
  return mismatchOf(validator, value, path, tableOf)?.() ?? null;
}

/** Writes the message. A union's members are refused one after the other, and their messages are not read. */
type Mismatch = () => string;

function mismatchOf(
  validator: ValidatorJSON,
  value: Value | undefined,
  path: string,
  tableOf: TableOfId | undefined,
): Mismatch | null {
  switch (validator.type) {
    case "any":
      return value === undefined ? noMatch(validator, value, path) : null;
    case "id":
      return checkId(validator, value, path, tableOf);
    case "literal":
      return checkLiteral(validator, value, path);
    case "array":
      return checkArray(validator, value, path, tableOf);
    case "object":
      return isObject(value)
        ? checkObject(validator.value, value, path, tableOf)
        : noMatch(validator, value, path);
    case "record":
      return checkRecord(validator, value, path, tableOf);
    case "union":
      return checkUnion(validator, value, path, tableOf);
    default:
      return hasType(validator.type, value) ? null : noMatch(validator, value, path);
  }
}

/** The kinds without parts. Until its commit, a commit timestamp is a placeholder, which counts as an int64. */
function hasType(
  type: "null" | "number" | "bigint" | "commitTs" | "boolean" | "string" | "bytes",
  value: Value | undefined,
): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "bytes":
      return value instanceof ArrayBuffer;
    case "bigint":
    case "commitTs":
      return typeof value === "bigint" || value instanceof CommitTsPlaceholder;
    default:
      return typeof value === type;
  }
}

function checkId(
  validator: Extract<ValidatorJSON, { type: "id" }>,
  value: Value | undefined,
  path: string,
  tableOf: TableOfId | undefined,
): Mismatch | null {
  if (typeof value !== "string") return noMatch(validator, value, path);
  if (tableOf === undefined) return null;
  const table = tableOf(value);
  if (table === validator.tableName) return null;
  if (table === null) return noMatch(validator, value, path);
  return () =>
    `Found ID "${value}" from table \`${table}\`, which does not match the table name in validator ` +
    `\`${describeValidator(validator)}\`.${at(path)}`;
}

function checkLiteral(
  validator: Extract<ValidatorJSON, { type: "literal" }>,
  value: Value | undefined,
  path: string,
): Mismatch | null {
  const literal = validator.value;
  const matches =
    typeof literal === "string"
      ? value === literal
      : compareInOrder(value, jsonToConvex(literal)) === 0;
  if (matches) return null;
  return () =>
    `\`${describeValue(value)}\` does not match literal validator \`${describeValidator(validator)}\`.${at(path)}`;
}

function checkArray(
  validator: Extract<ValidatorJSON, { type: "array" }>,
  value: Value | undefined,
  path: string,
  tableOf: TableOfId | undefined,
): Mismatch | null {
  if (!Array.isArray(value)) return noMatch(validator, value, path);
  return firstMismatch(value.entries(), ([i, element]) =>
    mismatchOf(validator.value, element, `${path}[${i}]`, tableOf),
  );
}

function checkObject(
  fields: ObjectFields,
  object: { [field: string]: Value | undefined },
  path: string,
  tableOf: TableOfId | undefined,
): Mismatch | null {
  const whole = () =>
    `${at(path)}\nObject: ${describeValue(object)}\n` +
    `Validator: ${describeValidator({ type: "object", value: fields })}`;
  for (const [name, field] of Object.entries(fields)) {
    const value = Object.hasOwn(object, name) ? object[name] : undefined;
    if (value !== undefined) {
      const mismatch = mismatchOf(field.fieldType, value, `${path}.${name}`, tableOf);
      if (mismatch !== null) return mismatch;
    } else if (!field.optional) {
      return () =>
        `Object is missing the required field \`${name}\`. Consider wrapping the field validator in ` +
        `\`v.optional(...)\` if this is expected.${whole()}`;
    }
  }
  for (const [name, value] of Object.entries(object)) {
    if (value !== undefined && !Object.hasOwn(fields, name)) {
      return () =>
        `Object contains extra field \`${name}\` that is not in the validator.${whole()}`;
    }
  }
  return null;
}

function checkRecord(
  validator: Extract<ValidatorJSON, { type: "record" }>,
  value: Value | undefined,
  path: string,
  tableOf: TableOfId | undefined,
): Mismatch | null {
  if (!isObject(value)) return noMatch(validator, value, path);
  return firstMismatch(
    Object.entries(value),
    ([key, element]) =>
      mismatchOf(validator.keys, key, `${path}.keys()`, tableOf) ??
      mismatchOf(validator.values.fieldType, element, `${path}.values()`, tableOf),
  );
}

/** One member speaks for itself; with several, the platform names the whole union. */
function checkUnion(
  validator: Extract<ValidatorJSON, { type: "union" }>,
  value: Value | undefined,
  path: string,
  tableOf: TableOfId | undefined,
): Mismatch | null {
  const [first, ...others] = validator.value;
  if (first !== undefined && others.length === 0) return mismatchOf(first, value, path, tableOf);
  return validator.value.some((member) => mismatchOf(member, value, path, tableOf) === null)
    ? null
    : noMatch(validator, value, path);
}

function firstMismatch<T>(
  items: Iterable<T>,
  check: (item: T) => Mismatch | null,
): Mismatch | null {
  for (const item of items) {
    const mismatch = check(item);
    if (mismatch !== null) return mismatch;
  }
  return null;
}

function isObject(value: Value | undefined): value is { [field: string]: Value | undefined } {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof ArrayBuffer) &&
    !(value instanceof CommitTsPlaceholder)
  );
}

function noMatch(validator: ValidatorJSON, value: Value | undefined, path: string): Mismatch {
  return () =>
    `Value does not match validator.${at(path)}\n` +
    `Value: ${describeValue(value)}\n` +
    `Validator: ${describeValidator(validator)}`;
}

/** The platform leaves the line of the path empty at the root. */
function at(path: string): string {
  return path === "" ? "\n" : `\nPath: ${path}`;
}

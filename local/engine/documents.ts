/**
 * The rules of a stored document: which fields it may have, how big it may be, and how the commit timestamp gets in.
 */
import {
  CommitTsPlaceholder,
  getConvexSize,
  getDocumentSize,
  type Value,
  type ValidatorJSON,
} from "convex/values";
import type { Limits } from "../limits.js";
import { encodeValue } from "./keys.js";
import type { Doc, Ts } from "./types.js";
import { checkValue, type TableOfId } from "./validators.js";

export type Fields = { readonly [field: string]: Value | undefined };

/** Without `_id` and `_creationTime`: the app's own fields. */
export function ownFields(doc: Doc): Fields {
  const { _id, _creationTime, ...fields } = doc;
  return fields;
}

/**
 * A document of these fields. System fields among them are accepted where they repeat the true values: an app may
 * `replace` a document with a changed copy of its read.
 */
export function makeDocument(
  _id: string,
  _creationTime: number,
  fields: Fields,
  limits: ValueLimits,
): Doc {
  const doc: Doc = { _id, _creationTime };
  let count = 2;
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    if (name.startsWith("_") && doc[name] !== value) {
      throw new Error(
        `Field "${name}" cannot be written: names that begin with "_" are the system's, and only _id and ` +
          `_creationTime may appear, with the document's own values. Choose another name.`,
      );
    }
    requireFieldName(name, limits);
    // The document itself is the first level.
    checkShape(value, `.${name}`, 2, limits);
    if (!Object.hasOwn(doc, name)) count++;
    doc[name] = value;
  }
  if (count > limits.objectFields) throw tooManyFields("The document", count, limits);
  return sized(doc);
}

/** A document never changes, and its size is asked for whenever it is read, written, logged and billed. */
const BYTES = Symbol("bytes");

function sized(doc: Doc): Doc {
  const value = getDocumentSize(doc as Record<string, Value>);
  // Not enumerable: no copy of a document, changed perhaps, takes it along.
  Object.defineProperty(doc, BYTES, { value });
  return Object.freeze(doc);
}

/** The document with some fields set and, where the value is `undefined`, removed. */
export function patched(doc: Doc, patch: Fields): Fields {
  const { _id, _creationTime, ...fields } = { ...doc, ...patch };
  return {
    ...fields,
    ...(Object.hasOwn(patch, "_id") && { _id }),
    ...(Object.hasOwn(patch, "_creationTime") && { _creationTime }),
  };
}

export function sameDocument(a: Doc, b: Doc): boolean {
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && sameValue(a[name], b[name]))
  );
}

/** Most fields differ without encoding their contents. */
function sameValue(a: Value | undefined, b: Value | undefined): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  return encodeValue(a) === encodeValue(b);
}

/** Bytes as the platform counts them. */
export function documentBytes(doc: Doc): number {
  return (doc as { [BYTES]?: number })[BYTES] ?? getDocumentSize(doc as Record<string, Value>);
}

export function requireDocumentBytes(bytes: number, { documentBytes: most }: Limits): void {
  if (bytes <= most) return;
  throw new Error(
    `Value is too large (${bytes} bytes > maximum size ${most} bytes). ` +
      `Split the document, or keep large data in file storage.`,
  );
}

/** The share of an index key of these values in a document's cost when it is written. */
export function keyBytes(values: readonly (Value | undefined)[]): number {
  return values.reduce<number>((sum, value) => sum + getConvexSize(value), 0);
}

/**
 * And when it is read: the key's own length. It differs from the values' sizes where one is not there, in an int64, which
 * takes as many bytes as it needs, and in a text with zeros. value/src/sorting.rs: write_sort_key.
 */
export function readKeyBytes(values: readonly (Value | undefined)[]): number {
  return values.reduce<number>((sum, value) => sum + lengthInKey(value), 0);
}

function lengthInKey(value: Value | undefined): number {
  if (value === undefined) return 1;
  if (typeof value === "bigint") return value === 0n ? 1 : 1 + bytesOfInt64(value);
  if (typeof value === "string") return getConvexSize(value) + (value.match(/\0/g)?.length ?? 0);
  if (Array.isArray(value)) return 2 + readKeyBytes(value);
  return getConvexSize(value);
}

function bytesOfInt64(value: bigint): number {
  return [1, 2, 4].find((bytes) => BigInt.asIntN(8 * bytes, value) === value) ?? 8;
}

export function requireSchema(
  table: string,
  documentType: ValidatorJSON | undefined,
  doc: Doc,
  tableOf: TableOfId,
): void {
  if (documentType === undefined) return;
  const mismatch = checkValue(documentType, ownFields(doc), "", tableOf);
  if (mismatch === null) return;
  throw new Error(
    `Failed to insert or update a document in table "${table}" because it does not match the schema: ${mismatch}`,
  );
}

/** The document with the commit's timestamp wherever its placeholder stands. */
export function resolveCommitTs(doc: Doc, ts: Ts): Doc {
  return hasPlaceholder(doc) ? sized(resolved(doc, ts) as Doc) : doc;
}

/** A commit timestamp that is not yet known. */
export function hasPlaceholder(value: Value | undefined): boolean {
  if (typeof value !== "object" || value === null || value instanceof ArrayBuffer) return false;
  if (value instanceof CommitTsPlaceholder) return true;
  return Object.values(value).some(hasPlaceholder);
}

function resolved(value: Value | undefined, ts: Ts): Value | undefined {
  if (typeof value !== "object" || value === null || value instanceof ArrayBuffer) return value;
  if (value instanceof CommitTsPlaceholder) return ts;
  if (Array.isArray(value)) return value.map((element) => resolved(element, ts) as Value);
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, resolved(inner, ts)]),
  );
}

type ValueLimits = Pick<
  Limits,
  "documentNesting" | "objectFields" | "arrayLength" | "fieldNameLength"
>;

function checkShape(
  value: Value | undefined,
  path: string,
  depth: number,
  limits: ValueLimits,
): void {
  if (typeof value !== "object" || value === null || value instanceof ArrayBuffer) return;
  if (value instanceof CommitTsPlaceholder) return;
  if (depth > limits.documentNesting) {
    throw new Error(
      `The value at ${path} is nested deeper than ${limits.documentNesting} levels. Flatten it, or store it as a string.`,
    );
  }
  if (Array.isArray(value)) {
    if (value.length > limits.arrayLength) {
      throw new Error(
        `Array length is too long (${value.length} > maximum length ${limits.arrayLength}) at ${path}. ` +
          `Keep its elements in documents of their own.`,
      );
    }
    value.forEach((element, i) => checkShape(element, `${path}[${i}]`, depth + 1, limits));
    return;
  }
  const fields = Object.entries(value);
  if (fields.length > limits.objectFields) {
    throw tooManyFields(`The object at ${path}`, fields.length, limits);
  }
  for (const [name, inner] of fields) {
    requireFieldName(name, limits);
    checkShape(inner, `${path}.${name}`, depth + 1, limits);
  }
}

function tooManyFields(what: string, count: number, { objectFields }: ValueLimits): Error {
  return new Error(
    `${what} has too many fields (${count} > maximum number ${objectFields}). ` +
      `Keep its entries in documents of their own.`,
  );
}

/** `$` begins the encoded values of the wire. */
function requireFieldName(name: string, { fieldNameLength }: ValueLimits): void {
  if (name.startsWith("$")) {
    throw new Error(
      `Field name "${name}" starts with a '$', which is reserved. Choose another name.`,
    );
  }
  if (name.length > fieldNameLength) {
    throw new Error(
      `Field name is too long (${name.length} > maximum ${fieldNameLength}): "${name.slice(0, 20)}…". ` +
        `Keep long names in a field's value.`,
    );
  }
}

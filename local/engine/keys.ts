/**
 * Index keys: values encoded as binary strings (one code unit per byte), in the platform's order of values.
 *
 * The order of types is undefined < null < int64 < float64 < false < true < string < bytes < array < object; int64 and
 * float64 never compare by number, floats lie in IEEE 754 total order (so -0 < 0 and NaN is last), strings by their
 * UTF-8 bytes. Every encoding ends itself, so no key is another key's prefix, and a row of values encodes as the
 * values' encodings one after the other.
 */
import { CommitTsPlaceholder, type Value } from "convex/values";

export type Key = string;

/** Greater than every byte: `prefix + AFTER_ALL` is the least bound above all keys that begin with `prefix`. */
const AFTER_ALL = "\u0100";
export const FIRST_KEY: Key = "";
export const END_OF_KEYS: Key = AFTER_ALL;

const TAG = {
  undefined: "\x01",
  null: "\x02",
  int64: "\x03",
  float64: "\x04",
  false: "\x05",
  true: "\x06",
  string: "\x07",
  bytes: "\x08",
  array: "\x09",
  object: "\x0a",
} as const;

/** Ends arrays and objects: less than every tag, so a shorter one comes first. */
const END = "\x00";
/** Ends strings and bytes; a zero inside is written `\x00\xff`, which is greater. */
const END_OF_BYTES = "\x00\x01";
/**
 * The value that stands for the placeholder of a commit timestamp until it is resolved: after all that are committed.
 */
const MAX_INT64 = 2n ** 63n - 1n;
const SIGN_BIT = 2n ** 63n;

/** Its own UTF-8, without a zero to escape. */
// eslint-disable-next-line no-control-regex
const PLAIN_ASCII = /^[\x01-\x7f]*$/;

/** The bound above every key that begins with `prefix`. */
export function afterPrefix(prefix: Key): Key {
  return prefix + AFTER_ALL;
}

/** The least string greater than `key`: turns an inclusive end into an exclusive one. */
export function justAfter(key: Key): Key {
  return key + "\x00";
}

export function encodeValues(values: readonly (Value | undefined)[]): Key {
  let key = "";
  for (const value of values) key += encodeValue(value);
  return key;
}

export function encodeValue(value: Value | undefined): Key {
  if (value === undefined) return TAG.undefined;
  if (value === null) return TAG.null;
  if (typeof value === "bigint") return TAG.int64 + encodeInt64(value);
  if (typeof value === "number") return TAG.float64 + encodeFloat64(value);
  if (typeof value === "boolean") return value ? TAG.true : TAG.false;
  if (typeof value === "string") return TAG.string + encodeString(value);
  if (value instanceof CommitTsPlaceholder) return TAG.int64 + encodeInt64(MAX_INT64);
  if (value instanceof ArrayBuffer) {
    return TAG.bytes + escapeZeros(Buffer.from(value).toString("latin1")) + END_OF_BYTES;
  }
  if (Array.isArray(value)) return TAG.array + encodeValues(value) + END;
  return TAG.object + encodeFields(value) + END;
}

/** Negative, zero or positive, as `a` comes before, with or after `b` in an index. */
export function compareInOrder(a: Value | undefined, b: Value | undefined): number {
  const [left, right] = [encodeValue(a), encodeValue(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Fields in the order of their names; a field that is `undefined` is not there. */
function encodeFields(object: { [field: string]: Value | undefined }): Key {
  return Object.entries(object)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [encodeString(name), encodeValue(value)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => TAG.string + name + value)
    .join("");
}

function encodeString(text: string): Key {
  const bytes = PLAIN_ASCII.test(text)
    ? text
    : escapeZeros(Buffer.from(text, "utf8").toString("latin1"));
  return bytes + END_OF_BYTES;
}

function escapeZeros(bytes: string): string {
  return bytes.includes("\x00") ? bytes.replaceAll("\x00", "\x00\xff") : bytes;
}

const scratchBuffer = Buffer.alloc(8);
const scratch = new DataView(scratchBuffer.buffer, scratchBuffer.byteOffset, 8);

/** Big-endian with the sign bit flipped, so that negative numbers come first. */
function encodeInt64(value: bigint): Key {
  scratch.setBigUint64(0, BigInt.asUintN(64, value) ^ SIGN_BIT);
  return scratchBytes();
}

/** Big-endian; positive numbers get their sign bit set, negative ones all bits flipped. */
function encodeFloat64(value: number): Key {
  scratch.setFloat64(0, value);
  const high = scratch.getUint32(0);
  if (high >>> 31 === 0) {
    scratch.setUint32(0, high | 0x8000_0000);
  } else {
    scratch.setUint32(0, ~high);
    scratch.setUint32(4, ~scratch.getUint32(4));
  }
  return scratchBytes();
}

function scratchBytes(): Key {
  return scratchBuffer.toString("latin1");
}

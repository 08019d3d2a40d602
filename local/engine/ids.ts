/**
 * Document ids as the platform writes them, version 6: the table's number as a LEB128 varint, 16 bytes of its own, and
 * a Fletcher-16 checksum, all in Crockford's base 32. The 16 bytes are 14 random ones and the day, big-endian, so ids
 * say nothing about order.
 */
import type { Environment } from "../environment.js";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const VALUE_OF = new Map([...ALPHABET].map((letter, value) => [letter, value]));
const INTERNAL_BYTES = 16;
const RANDOM_BYTES = 14;
const CHECKSUM_BYTES = 2;
/** A table number has 32 bits: 1 to 5 bytes of varint. */
const MAX_VARINT_BYTES = 5;
const MAX_ID_BYTES = MAX_VARINT_BYTES + INTERNAL_BYTES + CHECKSUM_BYTES;
const DAY_MS = 86_400_000;

export interface DecodedId {
  tableNumber: number;
  internal: Uint8Array;
}

export function newId(env: Environment, tableNumber: number): string {
  const internal = new Uint8Array(INTERNAL_BYTES);
  internal.set(env.randomBytes(RANDOM_BYTES));
  new DataView(internal.buffer).setUint16(RANDOM_BYTES, Math.floor(env.now() / DAY_MS));
  return encodeId(tableNumber, internal);
}

export function encodeId(tableNumber: number, internal: Uint8Array): string {
  const bytes: number[] = [];
  let rest = tableNumber;
  while (rest >= 0x80) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  bytes.push(rest, ...internal);
  bytes.push(...checksum(bytes));
  return toBase32(bytes);
}

/** Ids looked up lately, with their tables: every read, write and validator of an id asks. */
const tableNumbers = new Map<string, number>();
const MAX_TABLE_NUMBERS = 10_000;

/** The number of the table that an id carries; `null` when it is none, as in `decodeId`. */
export function tableNumberOf(id: string): number | null {
  const known = tableNumbers.get(id);
  if (known !== undefined) return known;
  const number = decodeId(id)?.tableNumber ?? null;
  // A text that is no id may be of any length.
  if (number === null) return null;
  if (tableNumbers.size === MAX_TABLE_NUMBERS) tableNumbers.clear();
  tableNumbers.set(id, number);
  return number;
}

/** `null` for a text that this encoding would not have written in exactly that way. */
export function decodeId(id: string): DecodedId | null {
  const bytes = fromBase32(id);
  if (bytes === null) return null;
  let tableNumber = 0;
  let at = 0;
  for (;;) {
    const byte = bytes[at];
    if (byte === undefined || at === MAX_VARINT_BYTES) return null;
    tableNumber += (byte & 0x7f) * 2 ** (7 * at++);
    if (byte < 0x80) break;
  }
  if (bytes.length !== at + INTERNAL_BYTES + CHECKSUM_BYTES) return null;
  const internal = Uint8Array.from(bytes.slice(at, at + INTERNAL_BYTES));
  if (tableNumber > 0xffff_ffff || encodeId(tableNumber, internal) !== id) return null;
  return { tableNumber, internal };
}

/** As ids were written before: their 16 bytes alone, and so of any table. value/src/document_id.rs: from_developer_str. */
const OLD_ID = /^[A-Za-z0-9_-]{21}[AQgw]$/;

/** The id of a table that such an old text stands for; `null` for any other text. */
export function fromOldId(text: string, tableNumber: number): string | null {
  if (!OLD_ID.test(text)) return null;
  return encodeId(tableNumber, Buffer.from(text, "base64url"));
}

/** Fletcher-16 modulo 256 (not 255), low byte first. */
function checksum(bytes: readonly number[]): [number, number] {
  let low = 0;
  let high = 0;
  for (const byte of bytes) {
    low = (low + byte) & 0xff;
    high = (high + low) & 0xff;
  }
  return [low, high];
}

function toBase32(bytes: readonly number[]): string {
  let text = "";
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += ALPHABET[(held >> bits) & 31];
      held &= (1 << bits) - 1;
    }
  }
  return bits > 0 ? text + ALPHABET[(held << (5 - bits)) & 31] : text;
}

function fromBase32(text: string): number[] | null {
  if (text.length > Math.ceil((MAX_ID_BYTES * 8) / 5)) return null;
  const bytes: number[] = [];
  let held = 0;
  let bits = 0;
  for (const letter of text) {
    const value = VALUE_OF.get(letter);
    if (value === undefined) return null;
    held = (held << 5) | value;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((held >> bits) & 0xff);
      held &= (1 << bits) - 1;
    }
  }
  return bytes;
}

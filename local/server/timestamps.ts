/** Timestamps on the wire: nanoseconds as 8 bytes, little-endian, in base64. */
import type { Ts } from "../engine/types.js";

export function encodeTs(ts: Ts): string {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(ts);
  return bytes.toString("base64");
}

export function decodeTs(text: string): Ts {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length !== 8) {
    throw new Error(`A timestamp must be 8 bytes in base64, got "${text}".`);
  }
  return bytes.readBigUInt64LE();
}

/**
 * Digests of little data, made at once: on another thread they would take many times as long to be brought there and
 * back, at a moment that no seed replays.
 */
import { createHash } from "node:crypto";

/** Hashing so much takes a tenth of a millisecond. More goes to a thread, so that other calls are not kept waiting. */
const MAX_BYTES = 65_536;
const NODE_NAMES: Record<string, string> = {
  "SHA-1": "sha1",
  "SHA-256": "sha256",
  "SHA-384": "sha384",
  "SHA-512": "sha512",
};

/**
 * `undefined` for large data, and for arguments that this function does not understand: that is Web Crypto's to do or
 * to refuse.
 */
export function smallDigest(algorithm: unknown, data: unknown): ArrayBuffer | undefined {
  const name = typeof algorithm === "string" ? NODE_NAMES[algorithm.toUpperCase()] : undefined;
  if (name === undefined) return undefined;
  const bytes = bytesOf(data);
  if (bytes === undefined || bytes.byteLength > MAX_BYTES) return undefined;
  const digest = createHash(name).update(bytes).digest();
  return new Uint8Array(digest).buffer;
}

function bytesOf(data: unknown): Uint8Array | undefined {
  if (ArrayBuffer.isView(data)) {
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  }
  return data instanceof ArrayBuffer ? new Uint8Array(data) : undefined;
}

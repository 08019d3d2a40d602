/** Splits a transition that is too large for one message: the client puts the parts together again. */
import { TRANSITION_CHUNK_BYTES } from "../limits.js";
import type { TransitionChunk } from "./messages.js";

/** The frames to send for one transition, given as JSON; one frame when it is small enough. */
export function* transitionFrames(json: string, transitionId: string): Generator<string> {
  if (Buffer.byteLength(json) <= TRANSITION_CHUNK_BYTES) {
    yield json;
    return;
  }
  const chunks = [...split(json)];
  for (const [partNumber, chunk] of chunks.entries()) {
    const part: TransitionChunk = {
      type: "TransitionChunk",
      chunk,
      partNumber,
      totalParts: chunks.length,
      transitionId,
    };
    yield JSON.stringify(part);
  }
}

/**
 * By UTF-16 units, of which none takes more than 3 bytes. A surrogate pair is not cut: each part goes through UTF-8 on
 * its own, where half a pair would be lost.
 */
function* split(text: string): Generator<string> {
  const step = Math.floor(TRANSITION_CHUNK_BYTES / 3);
  let start = 0;
  while (start < text.length) {
    let end = Math.min(start + step, text.length);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end--;
    yield text.slice(start, end);
    start = end;
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

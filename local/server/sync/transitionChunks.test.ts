import { expect, test } from "vitest";
import { TRANSITION_CHUNK_BYTES } from "../limits.js";
import type { TransitionChunk } from "./messages.js";
import { transitionFrames } from "./transitionChunks.js";

test("a small transition is sent as it is", () => {
  expect([...transitionFrames('{"type":"Transition"}', "1")]).toEqual(['{"type":"Transition"}']);
});

test("a large one is sent in parts that make the same text again, after cuts at any characters", () => {
  // Two units each: at one of two offsets every cut falls into the middle of a pair.
  for (const shift of ["", "x"]) {
    const json = JSON.stringify(shift + "😀".repeat(TRANSITION_CHUNK_BYTES / 2));
    const frames = [...transitionFrames(json, "7")];
    const parts = frames.map(
      (frame) => JSON.parse(Buffer.from(frame).toString("utf8")) as TransitionChunk,
    );
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.map((part) => part.partNumber)).toEqual(parts.map((_, index) => index));
    expect(new Set(parts.map((part) => `${part.transitionId} of ${part.totalParts}`))).toEqual(
      new Set([`7 of ${parts.length}`]),
    );
    for (const { chunk } of parts) {
      expect(Buffer.byteLength(chunk)).toBeLessThanOrEqual(TRANSITION_CHUNK_BYTES);
    }
    expect(parts.map((part) => part.chunk).join("") === json).toBe(true);
  }
});

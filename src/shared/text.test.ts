import { expect, test } from "vitest";
import { cutText, splitText, textBytes } from "./text.js";

test("a text is cut at a character's boundary, within its bytes, and says so", () => {
  expect(cutText("short", 64)).toBe("short");
  for (const room of [40, 41, 42, 43]) {
    const cut = cutText("🙂".repeat(100), room);
    expect(cut).toMatch(/^(🙂)+ … \(cut, 400 bytes\)$/u);
    expect(textBytes(cut)).toBeLessThanOrEqual(room);
  }
});

test.each([
  ["letters of one byte", "abcdefgh".repeat(9)],
  ["letters of two and three", "äöü€".repeat(9)],
  ["letters of four", "🙂🚀".repeat(9)],
  ["a mark of byte order inside", `abcd\uFEFFefgh\uFEFF`],
  ["what stands for a broken letter", "\uFFFD".repeat(30)],
])("a text of %s is split within bounds, and nothing of it is lost", (_, text) => {
  for (const max of [4, 5, 7, 8, 64, 1_000]) {
    const pieces = splitText(text, max);
    expect(pieces.join("")).toBe(text);
    expect(pieces.every((piece) => piece !== "" && textBytes(piece) <= max)).toBe(true);
  }
});

test("an empty text has no pieces", () => {
  expect(splitText("", 64)).toEqual([]);
});

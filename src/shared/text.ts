/** Texts by their bytes, as they are stored. Pure. */

/** Bytes of a text in UTF-8. */
export function textBytes(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** A half of a character that was cut in two, of which no UTF-8 is made: the platform refuses a call with one in it. */
const HALF = /\p{Surrogate}/u;

export function isWellFormed(text: string): boolean {
  return !HALF.test(text);
}

/** The text with a mark in the place of each half character. */
export function wellFormed(text: string): string {
  return isWellFormed(text) ? text : decode(new TextEncoder().encode(text));
}

/** The first characters of a text, at most so many of UTF-16, with a mark in the place of one that this cuts in two. */
export function firstCharacters(text: string, most: number): string {
  return wellFormed(text.slice(0, most));
}

/** Cuts a text to so many bytes, at a character's boundary, and says so in it. */
export function cutText(text: string, maxBytes: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= maxBytes) return text;
  const mark = ` … (cut, ${bytes.length} bytes)`;
  return decode(bytes.subarray(0, boundary(bytes, maxBytes - textBytes(mark)))) + mark;
}

/** Splits a text into pieces of at most so many bytes each, 4 or more, at characters' boundaries. */
export function splitText(text: string, maxBytes: number): string[] {
  const bytes = new TextEncoder().encode(text);
  const pieces: string[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = boundary(bytes, start + maxBytes);
    pieces.push(decode(bytes.subarray(start, end)));
    start = end;
  }
  return pieces;
}

/** The last boundary of two characters up to `at`: a byte that goes on with a character begins with the bits 10. */
function boundary(bytes: Uint8Array, at: number): number {
  let end = Math.min(at, bytes.length);
  while (end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end -= 1;
  return end;
}

/** A mark of byte order is a character like any other here. */
function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

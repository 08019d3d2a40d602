/** Takes an id apart, by the format as it is documented: so that the suite does not trust the backend's own decoder. */

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

export interface DecodedId {
  table: number;
  /** Days since the epoch, as the id has them. */
  day: number;
  checksum: number;
  /** The correct checksum. */
  expected: number;
}

export function decodeId(id: string): DecodedId {
  const bytes: number[] = [];
  let accumulated = 0;
  let bits = 0;
  for (const letter of id) {
    accumulated = (accumulated << 5) | ALPHABET.indexOf(letter);
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((accumulated >> bits) & 255);
      accumulated &= (1 << bits) - 1;
    }
  }
  const footer = bytes.splice(-2);
  let [table, length] = [0, 0];
  for (const byte of bytes) {
    table |= (byte & 127) << (7 * length++);
    if (byte < 128) break;
  }
  const inner = bytes.slice(length);
  return {
    table,
    day: inner[14]! * 256 + inner[15]!,
    checksum: footer[0]! + footer[1]! * 256,
    expected: fletcher16(bytes),
  };
}

/** With sums modulo 256, low byte first. */
function fletcher16(bytes: number[]): number {
  let [c0, c1] = [0, 0];
  for (const byte of bytes) {
    c0 = (c0 + byte) & 255;
    c1 = (c1 + c0) & 255;
  }
  return c0 + c1 * 256;
}

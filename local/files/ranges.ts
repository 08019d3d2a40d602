/** The `Range` header of RFC 9110, one range of bytes. */
import type { ByteRange } from "./bytes.js";

/**
 * `null` when the header asks for no bytes, or is none that must be understood: the whole file is then the answer.
 * `"unsatisfiable"` when there is no such part, or when several are asked for, which the platform does not serve.
 */
export function parseRange(
  header: string | null,
  size: number,
): ByteRange | "unsatisfiable" | null {
  if (header === null || !header.startsWith("bytes=")) return null;
  const ranges = header.slice("bytes=".length).split(",");
  if (ranges.length > 1) return "unsatisfiable";
  const match = /^\s*(\d*)-(\d*)\s*$/.exec(ranges[0]!);
  if (match === null) return null;
  const [, first = "", last = ""] = match;
  if (first === "" && last === "") return null;
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === "" || last === "" ? size : Math.min(size, Number(last) + 1);
  return start >= end ? "unsatisfiable" : { start, end };
}

/** Escape times of a Julia set, z → z² + c from the point itself. Arithmetic only. */
import { smooth } from "./escape.js";

/** After how many steps the point escapes, smoothed to a fraction; `Infinity` if it has not after `maxIterations`. */
export function julia(
  zRe: number,
  zIm: number,
  c: { re: number; im: number },
  maxIterations: number,
): number {
  return smooth(zRe, zIm, c.re, c.im, maxIterations);
}

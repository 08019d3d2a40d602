/** Escape times of the Mandelbrot set, z → z² + c from z = 0. Arithmetic only. */
import { smooth } from "./escape.js";

/**
 * After how many steps `c` escapes, smoothed to a fraction; `Infinity` if it has not after `maxIterations`.
 *
 * The main cardioid and the disc left of it are recognised by their equations: they are the larger part of the set's
 * inside, and each of their points would cost all `maxIterations`.
 */
export function mandelbrot(cRe: number, cIm: number, maxIterations: number): number {
  const im2 = cIm * cIm;
  const q = (cRe - 0.25) ** 2 + im2;
  if (q * (q + (cRe - 0.25)) <= im2 / 4) return Infinity;
  if ((cRe + 1) ** 2 + im2 <= 1 / 16) return Infinity;
  return smooth(0, 0, cRe, cIm, maxIterations);
}

/** The one inner loop of both sets. Nearly all the time of a tile is spent here. */

/**
 * Far above the 2 that decides escape, because the fraction below is exact only for large |z|: at 2 the bands of whole
 * steps show, at 256 they do not.
 */
const ESCAPE_RADIUS_SQUARED = 256 * 256;

/**
 * Iterates z → z² + c. The count of steps is made continuous by how far beyond the radius the last step went,
 * n + 1 - log2(log2 |z|), so that colours do not fall into bands.
 */
export function smooth(
  zRe: number,
  zIm: number,
  cRe: number,
  cIm: number,
  maxIterations: number,
): number {
  let re2 = zRe * zRe;
  let im2 = zIm * zIm;
  for (let n = 0; n < maxIterations; n++) {
    // (re + im)² - re² - im² would save nothing today and lose digits.
    zIm = 2 * zRe * zIm + cIm;
    zRe = re2 - im2 + cRe;
    re2 = zRe * zRe;
    im2 = zIm * zIm;
    const size2 = re2 + im2;
    if (size2 > ESCAPE_RADIUS_SQUARED) {
      return Math.max(0, n + 1 - Math.log2(Math.log2(size2) / 2));
    }
  }
  return Infinity;
}

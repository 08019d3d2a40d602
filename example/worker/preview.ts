/** A thumbnail's share of a tile: small enough to lie in the tile's row, which is read whenever a tile arrives. */
import { PREVIEW_SIDE, type Region } from "../convex/scene.js";

/** Averages a tile down to a square of `PREVIEW_SIDE` pixels, for a tile of any sides. */
export function previewOf(rgb: Uint8Array, { width, height }: Region): Uint8Array<ArrayBuffer> {
  const preview = new Uint8Array(PREVIEW_SIDE * PREVIEW_SIDE * 3);
  for (let row = 0; row < PREVIEW_SIDE; row++) {
    const [top, bottom] = share(row, height);
    for (let column = 0; column < PREVIEW_SIDE; column++) {
      const [left, right] = share(column, width);
      for (let channel = 0; channel < 3; channel++) {
        let sum = 0;
        for (let y = top; y < bottom; y++) {
          for (let x = left; x < right; x++) sum += rgb[(y * width + x) * 3 + channel]!;
        }
        const mean = sum / ((bottom - top) * (right - left));
        preview[(row * PREVIEW_SIDE + column) * 3 + channel] = Math.round(mean);
      }
    }
  }
  return preview;
}

/** Which of `length` pixels the preview's nth covers: at least one, also in a tile smaller than the preview. */
function share(nth: number, length: number): [from: number, to: number] {
  const from = Math.floor((nth * length) / PREVIEW_SIDE);
  return [from, Math.max(from + 1, Math.floor(((nth + 1) * length) / PREVIEW_SIDE))];
}

/** From the bytes of a tile to the bytes of a canvas. */
import type { Region } from "../convex/scene.js";

/** Three bytes a pixel become four: canvases want an alpha that tiles have no use for. */
export function toRgba(rgb: ArrayBuffer): Uint8ClampedArray<ArrayBuffer> {
  const from = new Uint8Array(rgb);
  const rgba = new Uint8ClampedArray((from.length / 3) * 4);
  for (let i = 0, j = 0; i < from.length; i += 3, j += 4) {
    rgba[j] = from[i]!;
    rgba[j + 1] = from[i + 1]!;
    rgba[j + 2] = from[i + 2]!;
    rgba[j + 3] = 255;
  }
  return rgba;
}

export function toImageData(rgb: ArrayBuffer, { width, height }: Pick<Region, "width" | "height">) {
  return new ImageData(toRgba(rgb), width, height);
}

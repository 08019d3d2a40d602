/**
 * Draws one region of a scene, a row at a time. Pure and synchronous: the caller decides when to pause between rows.
 */
import type { Region, Scene } from "../convex/scene.js";
import { julia } from "./julia.js";
import { mandelbrot } from "./mandelbrot.js";
import { lightOf, tableOffset, toByte } from "./palette.js";

/** Yields after each row; returns the region's pixels, three bytes each, row by row. */
export function* renderTile(
  scene: Scene,
  region: Region,
): Generator<void, Uint8Array<ArrayBuffer>> {
  const rgb = new Uint8Array(region.width * region.height * 3);
  const pixel = pixelOf(scene);
  let at = 0;
  for (let y = 0; y < region.height; y++) {
    for (let x = 0; x < region.width; x++) {
      pixel(region.x + x, region.y + y, rgb, at);
      at += 3;
    }
    yield;
  }
  return rgb;
}

/**
 * A pixel depends on its place in the whole picture only, never on its tile: that is why tiles join without a seam, and
 * why a tile drawn a second time by another worker has the same bytes.
 */
function pixelOf(scene: Scene) {
  const { samples, maxIterations, width, height } = scene;
  const escapeTime = escapeTimeOf(scene);
  const { table, inside } = lightOf(scene.palette);
  const step = scene.span / width;
  const left = scene.center.re - scene.span / 2;
  const top = scene.center.im + (step * height) / 2;

  return (x: number, y: number, rgb: Uint8Array, at: number): void => {
    let red = 0;
    let green = 0;
    let blue = 0;
    for (let row = 0; row < samples; row++) {
      const im = top - (y + (row + 0.5) / samples) * step;
      for (let column = 0; column < samples; column++) {
        const re = left + (x + (column + 0.5) / samples) * step;
        const escaped = escapeTime(re, im, maxIterations);
        if (escaped === Infinity) {
          red += inside[0];
          green += inside[1];
          blue += inside[2];
        } else {
          const offset = tableOffset(escaped);
          red += table[offset]!;
          green += table[offset + 1]!;
          blue += table[offset + 2]!;
        }
      }
    }
    const share = samples * samples;
    rgb[at] = toByte(red / share);
    rgb[at + 1] = toByte(green / share);
    rgb[at + 2] = toByte(blue / share);
  };
}

function escapeTimeOf({ fractal }: Scene) {
  if (fractal.kind === "mandelbrot") return mandelbrot;
  const { c } = fractal;
  return (re: number, im: number, maxIterations: number) => julia(re, im, c, maxIterations);
}

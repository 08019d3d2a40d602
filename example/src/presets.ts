/** The form's choices, and the scene of each choice. Pure. */
import { cutIntoTiles, type Fractal, type Palette, type Scene } from "../convex/scene.js";

export interface View {
  readonly name: string;
  readonly fractal: Fractal;
  readonly center: { re: number; im: number };
  readonly span: number;
  readonly maxIterations: number;
  /** The palette that suits it best; the form changes to it with the view. */
  readonly palette: Palette;
}

const MANDELBROT: Fractal = { kind: "mandelbrot" };
const julia = (re: number, im: number): Fractal => ({ kind: "julia", c: { re, im } });

export const VIEWS: readonly View[] = [
  view("Seahorse tail", MANDELBROT, -0.7453, 0.1127, 0.0066, 1500, "lagoon"),
  view("The whole set", MANDELBROT, -0.6, 0, 3.4, 1000, "ember"),
  view("Elephant valley", MANDELBROT, 0.2825, 0.01, 0.012, 1500, "lichen"),
  view("Antenna island", MANDELBROT, -1.7497, 0, 0.06, 1500, "ember"),
  view("Ember reef", MANDELBROT, -0.16070135, 1.0375665, 0.00012, 2000, "ember"),
  view("Dragon", julia(-0.8, 0.156), 0, 0, 3.3, 1500, "lagoon"),
  view("Rabbit", julia(-0.123, 0.745), 0, 0, 3.2, 2000, "lichen"),
  view("Galaxies", julia(0.285, 0.01), 0, 0, 2.8, 1500, "plum"),
  view("Snowflakes", julia(-0.4, 0.6), 0, 0, 3.2, 1500, "ember"),
  view("Dendrite", julia(0, 1), 0, 0, 3.4, 1000, "plum"),
];

export const PALETTES: readonly Palette[] = ["ember", "lagoon", "lichen", "plum"];

/** Sides are multiples of a tile's. */
export const SIZES = {
  small: { width: 384, height: 288 },
  medium: { width: 768, height: 576 },
  large: { width: 1152, height: 864 },
} as const;
export type Size = keyof typeof SIZES;

/** Samples along a pixel's side: the cost grows with the square. */
export const QUALITIES = { draft: 1, fine: 2, finest: 4 } as const;
export type Quality = keyof typeof QUALITIES;

export interface Choice {
  readonly view: View;
  readonly palette: Palette;
  readonly size: Size;
  readonly quality: Quality;
}

export function sceneOf({ view, palette, size, quality }: Choice): Scene {
  const { fractal, center, span, maxIterations } = view;
  const samples = QUALITIES[quality];
  return { fractal, center, span, maxIterations, palette, samples, ...SIZES[size] };
}

export function tileCountOf(size: Size): number {
  return cutIntoTiles(SIZES[size]).length;
}

function view(
  name: string,
  fractal: Fractal,
  re: number,
  im: number,
  span: number,
  maxIterations: number,
  palette: Palette,
): View {
  return { name, fractal, center: { re, im }, span, maxIterations, palette };
}

/**
 * A picture in numbers: the vocabulary that the page, the functions and the worker share. Pure: no context, no clock,
 * so that each of the three can import it.
 */
import { ConvexError, v, type Infer } from "convex/values";

/** A picture is cut into squares of this side. 96 × 96 × 3 bytes = 27 KiB: far below the 1 MiB of a document. */
export const TILE_SIZE = 96;

/** A tile's thumbnail is a square of this side: 8 × 8 × 3 = 192 bytes, small enough for the tile's row. */
export const PREVIEW_SIDE = 8;

/** Bounds on a page's requests: together they keep a picture below some minutes of one core. */
export const LIMITS = {
  sidePixels: 1536,
  samples: 4,
  maxIterations: 5000,
  titleLength: 60,
} as const;

/**
 * The tiles of the largest picture, 256: a picture's rows and jobs are all written in one transaction, far below its
 * limits.
 */
export const MAX_TILES = Math.ceil(LIMITS.sidePixels / TILE_SIZE) ** 2;

export const vFractal = v.union(
  v.object({ kind: v.literal("mandelbrot") }),
  /** The Julia set of z² + c. */
  v.object({ kind: v.literal("julia"), c: v.object({ re: v.number(), im: v.number() }) }),
);
export type Fractal = Infer<typeof vFractal>;

export const vPalette = v.union(
  v.literal("ember"),
  v.literal("lagoon"),
  v.literal("lichen"),
  v.literal("plum"),
);
export type Palette = Infer<typeof vPalette>;

export const vScene = v.object({
  fractal: vFractal,
  center: v.object({ re: v.number(), im: v.number() }),
  /** How much of the plane the picture's width shows. */
  span: v.number(),
  /** Pixels. */
  width: v.number(),
  height: v.number(),
  /** Samples along each side of a pixel: 2 means 4 a pixel. */
  samples: v.number(),
  maxIterations: v.number(),
  palette: vPalette,
});
export type Scene = Infer<typeof vScene>;

/** A rectangle of a picture, in pixels from its upper left corner. */
export const vRegion = v.object({
  x: v.number(),
  y: v.number(),
  width: v.number(),
  height: v.number(),
});
export type Region = Infer<typeof vRegion>;

/**
 * Cuts a picture into tiles, row by row. Tiles at the right and lower edge are smaller where the side is no multiple.
 */
export function cutIntoTiles(scene: Pick<Scene, "width" | "height">): Region[] {
  const regions: Region[] = [];
  for (let y = 0; y < scene.height; y += TILE_SIZE) {
    for (let x = 0; x < scene.width; x += TILE_SIZE) {
      regions.push({
        x,
        y,
        width: Math.min(TILE_SIZE, scene.width - x),
        height: Math.min(TILE_SIZE, scene.height - y),
      });
    }
  }
  return regions;
}

/** Throws a `ConvexError` with the rule, the value and the way out if a worker should not be asked to draw this. */
export function checkScene(scene: Scene): void {
  wholeNumber("width", scene.width, 1, LIMITS.sidePixels);
  wholeNumber("height", scene.height, 1, LIMITS.sidePixels);
  wholeNumber("samples", scene.samples, 1, LIMITS.samples);
  wholeNumber("maxIterations", scene.maxIterations, 1, LIMITS.maxIterations);
  // Below 1e-13 neighbouring pixels fall on the same double: a picture of blocks.
  if (!(scene.span > 1e-13 && scene.span <= 16)) {
    throw invalidScene(`span must be above 1e-13 and at most 16; got ${scene.span}.`);
  }
  const { re, im } = scene.center;
  if (!(Math.abs(re) <= 4 && Math.abs(im) <= 4)) {
    throw invalidScene(`center must lie within 4 of the origin; got ${re}, ${im}.`);
  }
}

function wholeNumber(name: string, value: number, min: number, max: number): void {
  if (!Number.isInteger(value) || value < min || value > max) {
    throw invalidScene(`${name} must be a whole number from ${min} to ${max}; got ${value}.`);
  }
}

export function invalidScene(message: string): ConvexError<{ code: string; message: string }> {
  return new ConvexError({ code: "invalidScene", message });
}

import { ConvexError } from "convex/values";
import { describe, expect, test } from "vitest";
import { checkScene, cutIntoTiles, LIMITS, MAX_TILES, type Scene } from "./scene.js";

const scene: Scene = {
  fractal: { kind: "mandelbrot" },
  center: { re: -0.6, im: 0 },
  span: 3.2,
  width: 768,
  height: 576,
  samples: 2,
  maxIterations: 1000,
  palette: "ember",
};

describe("a scene that no worker should be asked to draw is refused with the rule, the value and the way out", () => {
  const max = LIMITS.sidePixels;
  test.each<[string, Partial<Scene>]>([
    [`width must be a whole number from 1 to ${max}; got 0.`, { width: 0 }],
    [`height must be a whole number from 1 to ${max}; got ${max + 1}.`, { height: max + 1 }],
    [`width must be a whole number from 1 to ${max}; got 10.5.`, { width: 10.5 }],
    ["samples must be a whole number from 1 to 4; got NaN.", { samples: NaN }],
    [
      "maxIterations must be a whole number from 1 to 5000; got Infinity.",
      { maxIterations: Infinity },
    ],
    ["span must be above 1e-13 and at most 16; got 0.", { span: 0 }],
    ["span must be above 1e-13 and at most 16; got NaN.", { span: NaN }],
    ["center must lie within 4 of the origin; got NaN, 0.", { center: { re: NaN, im: 0 } }],
  ])("%s", (message, change) => {
    expect(() => checkScene({ ...scene, ...change })).toThrow(
      new ConvexError({ code: "invalidScene", message }),
    );
  });
});

test("the largest picture allowed has as many tiles as one transaction is planned for", () => {
  const side = LIMITS.sidePixels;
  expect(cutIntoTiles({ width: side, height: side })).toHaveLength(MAX_TILES);
});

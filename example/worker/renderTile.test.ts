import { describe, expect, test } from "vitest";
import { cutIntoTiles, type Region, type Scene } from "../convex/scene.js";
import { renderTile } from "./renderTile.js";

const scene: Scene = {
  fractal: { kind: "mandelbrot" },
  center: { re: -0.6, im: 0 },
  span: 3.2,
  width: 200,
  height: 130,
  samples: 2,
  maxIterations: 120,
  palette: "ember",
};

function draw(what: Scene, region: Region): { rgb: Uint8Array; rows: number } {
  const work = renderTile(what, region);
  for (let rows = 0; ; rows++) {
    const next = work.next();
    if (next.done === true) return { rgb: next.value, rows };
  }
}

describe("a tile", () => {
  test("joins its neighbours without a seam: all tiles together are the picture drawn at once", () => {
    const whole = draw(scene, { x: 0, y: 0, width: scene.width, height: scene.height }).rgb;
    const joined = new Uint8Array(whole.length);
    for (const region of cutIntoTiles(scene)) {
      const { rgb } = draw(scene, region);
      for (let y = 0; y < region.height; y++) {
        const row = rgb.subarray(y * region.width * 3, (y + 1) * region.width * 3);
        joined.set(row, ((region.y + y) * scene.width + region.x) * 3);
      }
    }
    expect(joined).toEqual(whole);
  });

  test("has three bytes a pixel and pauses after each row, so that the process stays responsive", () => {
    const { rgb, rows } = draw(scene, { x: 96, y: 96, width: 50, height: 34 });
    expect(rgb.length).toBe(50 * 34 * 3);
    expect(rows).toBe(34);
  });

  test("is the same twice, so a tile drawn again after a lost lease changes nothing", () => {
    const region = { x: 40, y: 20, width: 64, height: 40 };
    expect(draw(scene, region).rgb).toEqual(draw(scene, region).rgb);
  });

  test("mirrors about the real axis, because the set does", () => {
    const { rgb } = draw(scene, { x: 0, y: 0, width: scene.width, height: scene.height });
    const rowBytes = scene.width * 3;
    let differing = 0;
    for (let y = 0; y < scene.height / 2; y++) {
      const mirrored = scene.height - 1 - y;
      for (let i = 0; i < rowBytes; i++) {
        if (rgb[y * rowBytes + i] !== rgb[mirrored * rowBytes + i]) differing++;
      }
    }
    // Above and below, the coordinate differs in its last bit; at the set's very edge that can turn a pixel.
    expect(differing / rgb.length).toBeLessThan(0.005);
  });

  test("of another palette or set is another image, so no parameter is dropped on the way", () => {
    const region = { x: 60, y: 40, width: 48, height: 48 };
    const julia: Scene = { ...scene, fractal: { kind: "julia", c: { re: -0.8, im: 0.156 } } };
    const images = [scene, { ...scene, palette: "lagoon" as const }, julia].map((one) =>
      Buffer.from(draw(one, region).rgb).toString("base64"),
    );
    expect(new Set(images).size).toBe(3);
  });
});

test("tiles cover a picture exactly once, also where its sides are no multiple of a tile's", () => {
  const covered = new Uint8Array(scene.width * scene.height);
  for (const { x, y, width, height } of cutIntoTiles(scene)) {
    for (let row = y; row < y + height; row++) {
      for (let column = x; column < x + width; column++) covered[row * scene.width + column]!++;
    }
  }
  expect(covered.every((count) => count === 1)).toBe(true);
});

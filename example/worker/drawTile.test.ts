import { expect, test } from "vitest";
import type { Scene } from "../convex/scene.js";
import { drawTile } from "./drawTile.js";

const scene: Scene = {
  fractal: { kind: "julia", c: { re: -0.8, im: 0.156 } },
  center: { re: 0, im: 0 },
  span: 3,
  width: 96,
  height: 96,
  samples: 1,
  maxIterations: 200,
  palette: "plum",
};
const payload = { scene, region: { x: 0, y: 0, width: 96, height: 96 }, fragile: false };
const tools = { signal: new AbortController().signal, progress: () => undefined };

test("a drawn tile's result is its pixels, three bytes each, and the time they took", async () => {
  const { rgb, computeMs } = await drawTile({ ...tools, payload, attempt: 1 });
  expect(rgb.byteLength).toBe(96 * 96 * 3);
  expect(new Set(new Uint8Array(rgb)).size).toBeGreaterThan(20);
  expect(computeMs).toBeGreaterThan(0);
});

test("a fragile tile fails on its first attempt only, so that a retry heals it", async () => {
  const fragile = { ...payload, fragile: true };
  await expect(drawTile({ ...tools, payload: fragile, attempt: 1 })).rejects.toThrow("fail once");
  expect((await drawTile({ ...tools, payload: fragile, attempt: 2 })).rgb.byteLength).toBe(27_648);
});

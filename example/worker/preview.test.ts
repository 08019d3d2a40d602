import { expect, test } from "vitest";
import { PREVIEW_SIDE } from "../convex/scene.js";
import { previewOf } from "./preview.js";

test("a preview keeps its places: left half dark, right half light", () => {
  const region = { x: 0, y: 0, width: 96, height: 96 };
  const rgb = new Uint8Array(96 * 96 * 3).map((_, i) => (Math.floor(i / 3) % 96 < 48 ? 10 : 200));
  const preview = previewOf(rgb, region);
  const row = [...preview.slice(0, PREVIEW_SIDE * 3)];
  expect(row).toEqual([
    ...Array<number>((PREVIEW_SIDE / 2) * 3).fill(10),
    ...Array<number>((PREVIEW_SIDE / 2) * 3).fill(200),
  ]);
});

test("a tile smaller than its preview still fills it, so edges of odd pictures have thumbnails too", () => {
  const rgb = new Uint8Array(3 * 2 * 3).fill(77);
  expect([...previewOf(rgb, { x: 0, y: 0, width: 3, height: 2 })]).toEqual(
    Array<number>(PREVIEW_SIDE * PREVIEW_SIDE * 3).fill(77),
  );
});

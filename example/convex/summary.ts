/** A summary of a picture, and how it is computed. Pure: no context, no clock. */
import { v, type Infer } from "convex/values";
import { PREVIEW_SIDE } from "./scene.js";

export const vSummary = v.object({
  /** The colours that cover most of it, most first: at most `COLOURS_MAX`. */
  colours: v.array(v.object({ colour: v.string(), share: v.number() })),
  /** Indices of tiles. */
  brightest: v.number(),
  darkest: v.number(),
  /** The tile with the longest computation. */
  slowest: v.number(),
  workers: v.number(),
  computeMs: v.number(),
});
export type Summary = Infer<typeof vSummary>;

/** More would be too thin in a strip as wide as a phone. */
export const COLOURS_MAX = 5;

export interface DrawnTile {
  index: number;
  worker: string;
  computeMs: number;
  /** Three bytes a pixel. */
  preview: ArrayBuffer;
}

/** Throws if there is no tile: then there is nothing to say. */
export function summarize(tiles: readonly DrawnTile[]): Summary {
  const [first] = tiles;
  if (first === undefined) throw new Error("A picture without tiles cannot be summarized.");
  const light = new Map(tiles.map((tile) => [tile, lightOf(tile.preview)]));
  const most = (of: (tile: DrawnTile) => number) =>
    tiles.reduce((best, tile) => (of(tile) > of(best) ? tile : best), first).index;
  return {
    colours: coloursOf(tiles),
    brightest: most((tile) => light.get(tile)!),
    darkest: most((tile) => -light.get(tile)!),
    slowest: most(({ computeMs }) => computeMs),
    workers: new Set(tiles.map(({ worker }) => worker)).size,
    computeMs: tiles.reduce((sum, { computeMs }) => sum + computeMs, 0),
  };
}

function lightOf(preview: ArrayBuffer): number {
  return new Uint8Array(preview).reduce((sum, byte) => sum + byte, 0);
}

/** Pixels are counted by the upper bits of their three bytes; a group's colour is the mean of its pixels. */
const GROUP_BITS = 2;

function coloursOf(tiles: readonly DrawnTile[]): Summary["colours"] {
  const groups = new Map<number, { count: number; sum: [number, number, number] }>();
  for (const { preview } of tiles) {
    const bytes = new Uint8Array(preview);
    for (let at = 0; at + 2 < bytes.length; at += 3) {
      const [r, g, b] = [bytes[at]!, bytes[at + 1]!, bytes[at + 2]!];
      const name = [r, g, b].reduce(
        (bits, byte) => (bits << GROUP_BITS) | (byte >> (8 - GROUP_BITS)),
        0,
      );
      const group = groups.get(name) ?? { count: 0, sum: [0, 0, 0] };
      groups.set(name, {
        count: group.count + 1,
        sum: [group.sum[0] + r, group.sum[1] + g, group.sum[2] + b],
      });
    }
  }
  const total = tiles.length * PREVIEW_SIDE ** 2;
  return [...groups.values()]
    .sort((a, b) => b.count - a.count)
    .slice(0, COLOURS_MAX)
    .map(({ count, sum }) => ({
      colour: hex(sum.map((part) => part / count)),
      share: count / total,
    }));
}

function hex(parts: readonly number[]): string {
  return `#${parts.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;
}

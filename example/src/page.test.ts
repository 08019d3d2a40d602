import { describe, expect, test } from "vitest";
import { checkScene, TILE_SIZE } from "../convex/scene.js";
import { wordsFor } from "./components/Announcer.js";
import { ago } from "./clock.js";
import { moodOf } from "./components/WorkerCard.js";
import type { Tile, WorkerRow } from "./data.js";
import { toRgba } from "./pixels.js";
import { PALETTES, QUALITIES, sceneOf, SIZES, VIEWS, type Quality, type Size } from "./presets.js";
import { tallyOf } from "./tally.js";
import { tileName } from "./tileNames.js";
import { hueOf } from "./workerColor.js";

describe("presets", () => {
  test("every choice of the form is within the backend's bounds", () => {
    for (const view of VIEWS) {
      for (const palette of PALETTES) {
        for (const size of Object.keys(SIZES) as Size[]) {
          for (const quality of Object.keys(QUALITIES) as Quality[]) {
            expect(() => checkScene(sceneOf({ view, palette, size, quality }))).not.toThrow();
          }
        }
      }
    }
  });

  test("sides are multiples of a tile's, so that previews have one scale", () => {
    for (const { width, height } of Object.values(SIZES)) {
      expect([width % TILE_SIZE, height % TILE_SIZE]).toEqual([0, 0]);
    }
  });
});

test("tiles are named like squares of a map", () => {
  expect(tileName({ x: 0, y: 0 })).toBe("A1");
  expect(tileName({ x: 7 * TILE_SIZE, y: 5 * TILE_SIZE })).toBe("F8");
});

test("the farm's workers have colours that can be told apart", () => {
  const hues = ["anvil", "bellows", "hammer", "forge"].map(hueOf).sort((a, b) => a - b);
  const gaps = hues.map((hue, i) => (hues[(i + 1) % hues.length]! - hue + 360) % 360);
  expect(Math.min(...gaps)).toBeGreaterThan(40);
});

test("a beat is never in the future, though the browser's clock may be behind the backend's", () => {
  expect(ago(5_000, 2_000)).toBe("now");
  expect(ago(0, 3_200)).toBe("3 s ago");
  expect(ago(0, 600_000)).toBe("10 min ago");
});

describe("a worker's mood", () => {
  const worker = (state: WorkerRow["state"]) => ({ state, lastSeenAt: 0 }) as WorkerRow;

  test("is ready between two beats of an idle worker, which come once a minute", () => {
    expect(moodOf(worker("waiting"), 60_000)).toBe("ready");
    expect(moodOf(worker("waiting"), 149_000)).toBe("ready");
  });

  test("is silent once an idle worker has missed two beats: it may have been killed", () => {
    expect(moodOf(worker("waiting"), 151_000)).toBe("silent");
  });

  test("of one that holds something is silent after seconds, and gone is gone", () => {
    expect(moodOf(worker("working"), 3_000)).toBe("working");
    expect(moodOf(worker("working"), 4_500)).toBe("silent");
    expect(moodOf(worker("stopped"), 0)).toBe("gone");
  });

  test("of a lane is never silent: it has no beat, and Convex knows by itself whether it runs", () => {
    const lane = (state: WorkerRow["state"]) => ({ ...worker(state), isLane: true });
    expect(moodOf(lane("waiting"), 300_000)).toBe("asleep");
    expect(moodOf(lane("working"), 300_000)).toBe("working");
  });
});

test("three bytes a pixel become four, opaque", () => {
  expect([...toRgba(new Uint8Array([1, 2, 3, 4, 5, 6]).buffer)]).toEqual([
    1, 2, 3, 255, 4, 5, 6, 255,
  ]);
});

describe("a tally", () => {
  const tile = (status: string, worker?: string) => ({ status, worker, computeMs: 10 }) as Tile;

  test("counts the tiles on the page, without a counter in the database", () => {
    const tally = tallyOf([
      tile("succeeded", "b"),
      tile("succeeded", "a"),
      tile("succeeded", "a"),
      tile("failed", "a"),
      tile("canceled"),
      tile("unfinished"),
    ]);
    expect(tally).toMatchObject({ total: 6, succeeded: 3, unfinished: 1, failed: 1, canceled: 1 });
    expect(tally.byWorker).toEqual([
      ["a", 2],
      ["b", 1],
    ]);
  });

  test("is announced with its failed and its canceled jobs, each by name", () => {
    const tiles = [tile("failed"), tile("canceled"), tile("canceled"), tile("succeeded")];
    expect(wordsFor("It", tallyOf(tiles))).toBe("It is incomplete. 1 failed. 2 canceled.");
  });

  test("is announced once a quarter and at the end, so that a screen reader is not flooded", () => {
    const said = new Set<string>();
    for (let done = 0; done <= 48; done++) {
      const tiles = Array.from({ length: 48 }, (_, i) =>
        tile(i < done ? "succeeded" : "unfinished"),
      );
      said.add(wordsFor("It", tallyOf(tiles)));
    }
    expect([...said]).toEqual([
      "It: 0 percent drawn.",
      "It: 25 percent drawn.",
      "It: 50 percent drawn.",
      "It: 75 percent drawn.",
      "It is complete.",
    ]);
  });
});

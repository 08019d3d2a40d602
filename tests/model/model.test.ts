/** The component against a naive queue: a fixed seed and as many lives as a few seconds have room for. See `tests/deep`. */
import { expect, test } from "vitest";
import { life } from "./commands.js";
import { playLives } from "./play.js";

test("random lives of fifty steps and more go as a naive queue says", async () => {
  const played = await playLives(life, { seed: 2, numRuns: 40, withinMs: 6_000 });
  expect(played.lives).toBeGreaterThan(0);
}, 120_000);

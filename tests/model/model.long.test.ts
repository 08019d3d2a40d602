/**
 * The component against a naive queue: a fixed seed and as many lives as a few seconds have room for, and then at length. There
 * the lives are the same each time, `MODEL_LIVES` of them (as far as `MODEL_MS` milliseconds suffice, if that is given) from the
 * seed `MODEL_SEED` on, or from a new one where that says `random`. A failure names the seed that plays it first, and the
 * smallest part of it that still fails.
 */
import { expect, test } from "vitest";
import { counts } from "../../local/counts.js";
import { seedFrom } from "../support/seeds.js";
import { life } from "./commands.js";
import { expectWalked, playLives, tableOf } from "./play.js";

const LIVES = Number(process.env.MODEL_LIVES ?? counts(8, 100));
const WITHIN_MS = Number(process.env.MODEL_MS ?? Infinity);
/** By far more than they take where nothing is wrong. */
const LIFE_MS = 6_000;

// Shows WP-08, N5.
test("random lives of fifty steps and more go as a naive queue says", async () => {
  const played = await playLives(life, { seed: 2, numRuns: 40, withinMs: 6_000 });
  expect(played.lives).toBeGreaterThan(0);
}, 120_000);

// Shows WP-08, N5.
test(
  "every edge of a job's life is walked, and goes as a naive queue says",
  async () => {
    const seed = seedFrom("MODEL_SEED", 1_000);
    const played = await playLives(life, { seed, numRuns: LIVES, withinMs: WITHIN_MS });
    console.log(`seed ${seed}: ${tableOf(played)}`);
    // Only a job that cannot be made claimable is postponed: nothing that people can ask for brings that about here.
    if (played.lives >= 100) expectWalked(played, ["postpone", "releaseLater", "resetLater"]);
  },
  LIVES * LIFE_MS + 60_000,
);

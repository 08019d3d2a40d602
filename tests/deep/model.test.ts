/**
 * The component against a naive queue at length: random lives from a random seed, until the time is over. A failure names
 * the seed that plays it again (`MODEL_SEED`) and the smallest part of it that still fails. See `tests/model`.
 */
import { expect, test } from "vitest";
import { life } from "../model/commands.js";
import { expectWalked, playLives, tableOf } from "../model/play.js";

const WITHIN_MS = Number(process.env.MODEL_MS ?? 100_000);

test("every edge of a job's life is walked, and goes as a naive queue says", async () => {
  const seed = Number(process.env.MODEL_SEED ?? Date.now() % 2 ** 31);
  const numRuns = process.env.MODEL_SEED === undefined ? 100_000 : 1_000;
  const played = await playLives(life, { seed, numRuns, withinMs: WITHIN_MS });
  console.log(`seed ${seed}: ${tableOf(played)}`);
  expect(played.lives).toBeGreaterThan(0);
  // Only a job that cannot be made claimable is postponed: nothing that people can ask for brings that about here.
  expectWalked(played, ["postpone"]);
}, 900_000);

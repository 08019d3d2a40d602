/**
 * The component's races on the engine, interleaved at every database call by a seed: a round that failed fails again with the
 * same seed. Each pair is played over a few seeds, with snapshot queries as old as their transactions (even seeds) and up to
 * three commits older (odd ones). Many seeds, and the controls that show that violations are found, are in
 * `tests/races/races.long.test.ts`; small pairs are played in every order in `tests/interleavings`.
 */
import { expect, test } from "vitest";
import { deploymentOf } from "./deployment.js";
import { PAIRS, type PairName } from "./pairs.js";
import { playRound, search } from "./play.js";
import { Stage } from "./stage.js";

const SEEDS = 6;

const sound = await deploymentOf([]);

test.each(Object.keys(PAIRS) as PairName[])("%s: nothing is lost or done twice", async (name) => {
  expect(await search(sound, name, SEEDS)).toBeNull();
});

test("a seed plays the same round again, commit for commit", async () => {
  const stage = new Stage(sound);
  const traces: string[][] = [];
  for (const seed of [0, 1, 2, 1]) {
    await playRound(stage, "calls that tend and the janitor's sweep", seed, {});
    traces.push(stage.commits.map(({ commit: { ts, source } }) => `${ts} ${source}`));
  }
  stage.close();
  expect(traces[3]).toEqual(traces[1]);
  expect(traces[2]).not.toEqual(traces[1]);
});

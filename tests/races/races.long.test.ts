/**
 * The races of `tests/races` over many seeds, interleaved at every database call, with snapshot queries as old as their
 * transactions (even seeds) and up to three commits older (odd ones). Small pairs are played in every order in
 * `tests/interleavings`. And the controls: without one guard, or on an engine that does not validate, some
 * seed must find the guard's violation, or these rounds prove nothing.
 *
 * The seeds are the same each time: of the races `RACES_SEEDS` from `RACES_SEED` on, or from a new one where that says `random`.
 * A failure names its seed: with that as `RACES_SEED`, one seed, and `-t` with the pair's name it is played again.
 */
import { expect, test } from "vitest";
import { counts } from "../../local/counts.js";
import { seedFrom } from "../support/seeds.js";
import { CONTROLS } from "./controls.js";
import { deploymentOf } from "./deployment.js";
import { PAIRS, type PairName } from "./pairs.js";
import { playRound, search } from "./play.js";
import { Stage } from "./stage.js";

const SEEDS = Number(process.env.RACES_SEEDS ?? counts(1, 20));
const FIRST = seedFrom("RACES_SEED", 1);
/** By far more than a round takes, and than a machine that does something else holds up a few of them. */
const ROUND_MS = 2_000;
/** A control stops at its first find; one that finds nothing in so many has lost its point. */
const CONTROL_SEEDS = 60;

/** Each shows that its race would be found. In CI some of them do. */
const some = <T>(of: readonly T[]) => of.filter((_, i) => i % counts(3, 1) === 0);

test.each(some(CONTROLS))("control: without $without, a seed finds it", async (control) => {
  const broken = await deploymentOf([{ name: control.without, changes: control.changes }]);
  const found = await search(broken, control.pair, CONTROL_SEEDS, control.options);
  expect(found?.violation).toMatch(control.finds);
});

/** Two transactions that write over each other: the violations of the pairs when neither has to retry. */
const UNVALIDATED: readonly PairName[] = [
  "beat and the sweep that expires its session",
  "complete and the sweep that expires its session",
  "claim and claim of the same jobs",
  "claim and cancel",
  "retry and retry",
  "callback: plan, try, and a retry of the job",
];

test.each(some(UNVALIDATED))(
  "control: on an engine that does not validate, %s do conflict",
  async (name) => {
    expect(await search(sound, name, CONTROL_SEEDS, { skipValidation: true })).not.toBeNull();
  },
);

const sound = await deploymentOf([]);

test.each(Object.keys(PAIRS) as PairName[])(
  "%s: nothing is lost or done twice",
  async (name) => {
    expect(await search(sound, name, SEEDS, { first: FIRST })).toBeNull();
  },
  Math.max(60_000, SEEDS * ROUND_MS),
);

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

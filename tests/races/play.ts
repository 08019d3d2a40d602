/** One round of a pair on a stage, and the search through many seeds for one that goes wrong. */
import type { Deployment } from "../../local/functions/types.js";
import { checkCommits, checkEnd } from "./invariants.js";
import { PAIRS, type PairName } from "./pairs.js";
import type { RoundOptions } from "./stage.js";
import { Stage } from "./stage.js";
import { Violation, World } from "./world.js";

/** How many commits a snapshot query lags behind, in every second seed. */
const LAG = 3;

export async function playRound(stage: Stage, name: PairName, seed: number, options: RoundOptions) {
  await stage.begin(seed, { snapshotLag: seed % 2 === 0 ? 0 : LAG, ...options });
  const world = new World(stage);
  await world.open();
  await PAIRS[name](world);
  // Before the end, and even if that is reached with a violation: the first wrong commit says more than its consequences.
  await checkCommits(world);
  try {
    await checkEnd(world);
  } finally {
    await checkCommits(world);
  }
  await stage.rest();
}

/** The first violation that any of so many seeds finds, from the first one on, or `null`. */
export async function search(
  deployment: Deployment,
  name: PairName,
  seeds: number,
  { first = 1, ...options }: RoundOptions & { first?: number } = {},
): Promise<{ seed: number; violation: string } | null> {
  const stage = new Stage(deployment);
  // Seed 0 always comes first: in a stage's first round the runner scans for old scheduled functions.
  let seed = 0;
  try {
    await playRound(stage, name, seed, options);
    for (seed = first; seed < first + seeds; seed += 1) await playRound(stage, name, seed, options);
    return null;
  } catch (error) {
    if (error instanceof Violation) return { seed, violation: error.message };
    throw new Error(`The round of seed ${seed} could not be played`, { cause: error });
  } finally {
    stage.close();
  }
}

/**
 * Every order in which the transactions of a pair can begin and commit, on the real component and the local backend's
 * own engine; and the same without one of the component's guards, where some order must go wrong, or that guard is not
 * what keeps the pair.
 */
import { expect, test } from "vitest";
import { deploymentOf, withoutGuards } from "../races/deployment.js";
import { Violation } from "../races/world.js";
import { documentationOf, documentedPairs } from "./documented.js";
import { play, type Mutant, type Pair } from "./pair.js";
import { LARGE, PAIRS } from "./pairs/all.js";

const sound = await deploymentOf([]);

const SMALL = PAIRS.filter((pair) => !LARGE.includes(pair));

test.each(SMALL)("$of: whatever the order, nothing is lost or done twice", async (pair) => {
  const { orders } = await play(sound, pair);
  expect(orders).toBeGreaterThanOrEqual(pair.orders);
});

test("ARCHITECTURE.md has every pair, how many orders it has, and which guards are taken out", () => {
  const documented = documentedPairs();
  const said = PAIRS.map(({ of }) => ({ of, ...documented.get(of) }));
  expect(said).toEqual(PAIRS.map((pair) => ({ of: pair.of, ...documentationOf(pair) })));
});

const MUTANTS = PAIRS.flatMap((pair) =>
  pair.mutants.map((mutant) => ({ pair, mutant, of: pair.of, without: mutant.without })),
);

test.each(MUTANTS)("$of, without $without: an order shows it", async ({ pair, mutant }) => {
  expect(await violation(pair, mutant)).toMatch(mutant.finds);
});

async function violation(pair: Pair, { replace, unvalidated }: Mutant): Promise<string> {
  const deployment = replace === undefined ? sound : await withoutGuards(sound, replace);
  try {
    const { orders } = await play(deployment, pair, { validates: unvalidated !== true });
    return `nothing was found in ${orders} orders`;
  } catch (error) {
    if (error instanceof Violation) return error.message;
    throw error;
  }
}

/**
 * Every order in which the transactions of a small pair can begin and commit, on the real component and the local backend's own engine;
 * and the same without one of the component's guards, where some order must go wrong: else the pair does not depend on that
 * guard.
 */
import { expect, test } from "vitest";
import { deploymentOf } from "../races/deployment.js";
import { documentationOf, documentedPairs } from "./documented.js";
import { QUICK, violation } from "./mutants.js";
import { play } from "./pair.js";
import { PAIRS, SMALL } from "./pairs/all.js";

const sound = await deploymentOf([]);

test.each(SMALL)("$of: in every order nothing is lost or done twice", async (pair) => {
  const { orders } = await play(sound, pair);
  expect(orders).toBeGreaterThanOrEqual(pair.orders);
});

test("the page of pairs has every pair, how many orders it has, and which guards are taken out", () => {
  const documented = documentedPairs();
  const said = PAIRS.map(({ of }) => ({ of, ...documented.get(of) }));
  expect(said).toEqual(PAIRS.map((pair) => ({ of: pair.of, ...documentationOf(pair) })));
});

test.each(QUICK)("$of, without $without: an order shows it", async ({ pair, mutant }) => {
  expect(await violation(sound, pair, mutant)).toMatch(mutant.finds);
});

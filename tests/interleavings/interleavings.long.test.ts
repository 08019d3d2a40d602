/**
 * At length: pairs of many orders, three overlapping transactions, in every order, and pairs with different clocks. See
 * `tests/interleavings`.
 */
import { expect, test } from "vitest";
import { counts } from "../../local/counts.js";
import { MUTANTS, QUICK, violation } from "./mutants.js";
import { play, withSkew } from "./pair.js";
import { LARGE } from "./pairs/all.js";
import { CLAIMS } from "./pairs/claims.js";
import { LEASES } from "./pairs/leases.js";
import { TRIPLES } from "./pairs/triples.js";
import { deploymentOf } from "../races/deployment.js";

const sound = await deploymentOf([]);

/** Thousands of orders of lanes, on a machine that does something else besides. */
const LARGEST_MS = 180_000;

test.each([...LARGE, ...TRIPLES.filter((_, i) => i % counts(6, 1) === 0)])(
  "$of: in every order nothing is lost or done twice",
  async (meeting) => {
    const { orders } = await play(sound, meeting);
    console.log(`${meeting.of}: ${orders} orders`);
    expect(orders).toBeGreaterThanOrEqual(meeting.orders);
  },
  LARGEST_MS,
);

/** More than the machines of one deployment are apart, and less than a lease or the tolerance of a timer. */
const SKEWS_MS = counts([300], [-300, 300]);

/** In CI every sixth of the small ones. */
const SKEWED = [...LEASES, ...CLAIMS]
  .filter((pair) => counts(!LARGE.includes(pair), true))
  .filter((_, i) => i % counts(6, 1) === 0);

test.each(SKEWS_MS.flatMap((skewMs) => SKEWED.map((pair) => ({ ...pair, skewMs }))))(
  "$of, the first with a clock that is $skewMs ms ahead: nothing is lost or done twice",
  async ({ skewMs, ...pair }) => {
    await play(sound, withSkew(pair, skewMs));
  },
);

/** Each bundles the component anew. */
const PART = counts(96, 1);

test.each(MUTANTS.filter((one) => !QUICK.includes(one)).filter((_, i) => i % PART === 0))(
  "$of, without $without: an order shows it",
  async ({ pair, mutant }) => {
    expect(await violation(sound, pair, mutant)).toMatch(mutant.finds);
  },
);

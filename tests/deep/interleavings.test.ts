/** Three transactions that meet, in every order: see `tests/interleavings`. */
import { expect, test } from "vitest";
import { play } from "../interleavings/pair.js";
import { TRIPLES } from "../interleavings/pairs/triples.js";
import { deploymentOf } from "../races/deployment.js";

const sound = await deploymentOf([]);

test.each(TRIPLES)("$of: whatever the order, nothing is lost or done twice", async (triple) => {
  const { orders } = await play(sound, triple);
  console.log(`${triple.of}: ${orders} orders`);
  expect(orders).toBeGreaterThanOrEqual(triple.orders);
});

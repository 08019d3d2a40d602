/**
 * Fifty claims of fifty jobs at once, on the real component and the local backend in virtual time: no job twice, and
 * fewer conflicts than a naive queue has. With two controls: the same written with a plain `first()` does conflict, and
 * an engine that does not validate hands the same row out twice, so that this test would notice.
 */
import { expect, test } from "vitest";
import { counts } from "../../local/counts.js";
import { bundleClaimed, compare, takeNaively } from "./claimers.js";

const app = await bundleClaimed();

// Shows LF-12, CR-03, C1.
// Rules out D2, D12.
test("50 concurrent claims of 50 jobs take no job twice, with fewer conflicts than a plain first() has", async () => {
  await compare(app, 1);
});

test.skipIf(counts(true, false)).each([2])(
  "50 concurrent claims of 50 jobs take no job twice, with fewer conflicts than a plain first() has (seed %i)",
  async (seed) => await compare(app, seed),
);

test("control: an engine that skips validation hands rows out twice, and this shows it", async () => {
  const { taken } = await takeNaively(app, 1, { skipValidation: true });
  expect(new Set(taken).size).toBeLessThan(taken.length);
});

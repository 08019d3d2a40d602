/** The claims of `tests/races/claims.test.ts` with other seeds. */
import { test } from "vitest";
import { bundleClaimed, compare } from "../races/claimers.js";

const SEEDS = [2, 3];

const app = await bundleClaimed();

test.each(SEEDS)(
  "50 concurrent claims of 50 jobs take no job twice, with fewer conflicts than a plain first() has (seed %i)",
  async (seed) => await compare(app, seed),
);

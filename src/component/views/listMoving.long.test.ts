/** Pinned pages in more runs: this many find a planted page that begins at the last row's commit instead of behind its whole key. */
import { test } from "vitest";
import { movesUnderPages } from "./listMoving.test.js";

test("pinned pages hold the rows of the whole list, in many orders of moves", async () => {
  await movesUnderPages(50);
});

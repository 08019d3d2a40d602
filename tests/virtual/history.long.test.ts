/** That a queue's past and future do not make its claims dearer: counts, in virtual time. `npm run bench:claims` has it large. */
import { expect, test } from "vitest";
import { claimsOverHistory, emptyClaim } from "../support/history.js";
import { JANITOR_PERIOD_MS } from "../../src/shared/index.js";

/** More rows than that are looked at near the end of a backlog, of which sixteen claims have a part; a timer. */
const READ_MORE = 4;
/** Rows that earlier calls have just deleted. */
const PASSED_MORE = 6;

// Shows SG-47, WP-04, WP-15, B2.
// Rules out P16.
test("a claim passes by no finished and no future job, however many there are", async () => {
  const size = 1_000;
  const { before, after } = await claimsOverHistory({ finished: size, future: size });
  for (const who of ["known", "newcomer"] as const) {
    const [then, now] = [before[who], after[who]];
    expect(now.documentsRead, who).toBeLessThanOrEqual(then.documentsRead + READ_MORE);
    expect(now.tombstones, who).toBeLessThanOrEqual(then.tombstones + PASSED_MORE);
  }
});

test("a claim that finds nothing passes no trace of other calls", async () => {
  const [few, many] = await Promise.all([emptyClaim(20), emptyClaim(120)]);
  // Jobs that were taken since the janitor last said where to begin, one a second: it says so of the sweep before.
  const taken = (2 * JANITOR_PERIOD_MS) / 1_000;
  expect(many.documentsRead).toBeLessThanOrEqual(few.documentsRead + READ_MORE);
  expect(many.tombstones).toBeLessThanOrEqual(few.tombstones + taken + PASSED_MORE);
});

/** That a queue's past and future do not make its claims dearer: counts, in virtual time. `npm run bench:claims` has it large. */
import { expect, test } from "vitest";
import { claimsOverHistory } from "../../harness/history.js";

/** A sample is of sixteen claims: more rows than that are looked at near the end of a backlog. */
const READ_MORE = 4;
/** A call moves the row of its session in one index, to `active` and to `idle`. */
const TRACES_OF_CALL = 2;

test("a claim passes by no finished and no future job, however many there are", async () => {
  const size = 1_000;
  const { before, after, calls } = await claimsOverHistory({ finished: size, future: size });
  // Or the traces of calls would hide those of jobs.
  expect(TRACES_OF_CALL * calls).toBeLessThan(size / 5);
  for (const who of ["known", "newcomer"] as const) {
    const [then, now] = [before[who], after[who]];
    expect(now.documentsRead, who).toBeLessThanOrEqual(then.documentsRead + READ_MORE);
    expect(now.tombstones, who).toBeLessThanOrEqual(then.tombstones + TRACES_OF_CALL * calls);
  }
});

/** Push queues, with faults at random; many more seeds are played in `tests/virtual/push.long.test.ts`. */
import { expect, test } from "vitest";
import { play } from "./pushFaults.js";

// Shows WP-11.
test("while the backend is restarted and scheduled functions are canceled, every job ends, nothing runs too often, and in the end all sleeps", async () => {
  const { restarts, canceled, most } = await play(2, { restarts: true, cancels: true });
  expect(restarts + canceled.length).toBeGreaterThan(2);
  expect(most).toBeGreaterThan(1);
});

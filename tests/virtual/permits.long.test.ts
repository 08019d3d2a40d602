/**
 * The app's own actions have all but one of the places that the smallest class has for actions: a lane runs in that one,
 * and its handlers find none. In virtual time.
 */
import { expect, test } from "vitest";
import { api } from "../support/app/convex/_generated/api.js";
import { startVirtualApp } from "../support/virtualApp.js";
import { CLASS_LIMITS } from "../../local/functions/classes.js";

const BUSY_MS = 25_000;
/** How long an action waits for its place before the platform refuses it. */
const REFUSED_AFTER_MS = 10_000;

interface Job {
  status: string;
  attempt: number;
  failures: number;
  resets: number;
}

// Rules out D13, P23.
test("handlers for which there is no place are put off without a failure, and run when there is one", async () => {
  const { world } = await startVirtualApp({ seed: 1, class: "s16" });
  try {
    const client = world.httpClient();
    const own = Promise.all(
      Array.from({ length: CLASS_LIMITS.s16.v8Actions - 1 }, () =>
        client.action(api.odd.busy, { ms: BUSY_MS }),
      ),
    );
    await world.advance(1_000);
    const queue = "odd";
    // No retries: one failure would be the end.
    const payloads = ["returns", "returns", "returns"];
    const ids = await world.run(client.mutation(api.odd.enqueueLong, { queue, payloads }));
    const look = async () => (await world.run(client.query(api.odd.look, { queue, ids }))) as Job[];
    await world.advance(REFUSED_AFTER_MS - 1_000);
    const waiting = { status: "running", attempt: 1 };
    expect(await look()).toMatchObject([waiting, waiting, waiting]);

    // One of them may be left to a lane that scans, while that lane's process waits for a place itself.
    await world.advance(REFUSED_AFTER_MS + 2_000);
    for (const { attempt, status, failures, resets } of await look()) {
      expect(status).toMatch(/scheduled|pending|running/);
      expect([failures, resets]).toEqual([0, 0]);
      expect(attempt).toBeGreaterThan(1);
    }
    await world.run(own);
    await world.advance(2 * REFUSED_AFTER_MS);
    const done = { status: "succeeded", failures: 0, resets: 0, result: "fine" };
    expect(await look()).toMatchObject([done, done, done]);
    for (const id of ids) {
      const attempts = await world.run(client.query(api.odd.attempts, { queue, id }));
      const outcomes = (attempts as { outcome: string }[]).map(({ outcome }) => outcome);
      expect(outcomes).toEqual([...outcomes.slice(1).map(() => "snoozed"), "succeeded"]);
      expect(outcomes.length).toBeGreaterThan(1);
    }
  } finally {
    await world.close();
  }
});

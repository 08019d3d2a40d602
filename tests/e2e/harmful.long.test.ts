/**
 * Handlers inside Convex that never end, or take all memory, with other jobs in the same lane: on the local backend with
 * functions in threads, which ends them as the platform does.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { api } from "../support/app/convex/_generated/api.js";
import { startApp, type TestApp } from "../support/testApp.js";
import { until } from "../../local/until.js";

let app: TestApp;
beforeAll(async () => {
  // In Node an action has 10 minutes on the platform. That long a loop need not burn here.
  app = await startApp({ runner: { actionTimeoutMs: { node: 6_000 } } });
});
afterAll(() => app?.close());

interface Harm {
  does: "waits" | "loops" | "takes all memory";
  ms?: number;
  inNode?: boolean;
  timeoutMs?: number;
  maxResets?: number;
}
type Job = Record<"status" | "error" | "worker", string> & Record<string, unknown>;
type Attempt = { attempt: number; outcome: string; worker: string; error?: string };

const isOver = ({ status }: Job) => /succeeded|failed|timedOut|canceled/.test(status);

/** Until all have ended, under any load of the machine. */
async function play(queue: string, jobs: Harm[]): Promise<Job[]> {
  const ids = await app.client.mutation(api.harmful.enqueue, { queue, jobs });
  return await until(
    async () => (await app.client.query(api.harmful.look, { queue, ids })) as Job[],
    (all) => all.every(isOver),
    90_000,
  );
}

const attemptsOf = async (queue: string, { id }: Job): Promise<Attempt[]> =>
  await app.client.query(api.harmful.attempts, { queue, id: id as string });

// Shows D18.
// Rules out D20.
test("by reference, a handler that loops for ever or takes all memory costs its own attempt, and its lane goes on", async () => {
  const [memory, tooLong, ended, ...others] = await play("harmful", [
    { does: "takes all memory" },
    // Its lane waits no longer than this; the platform lets it run on to its own limit.
    { does: "loops", timeoutMs: 3_000 },
    // No timeout ends it before the platform does.
    { does: "loops", inNode: true },
    ...[0, 2_000, 5_000].map((ms) => ({ does: "waits" as const, ms })),
  ]);
  expect(memory).toMatchObject({
    ...{ status: "failed", attempt: 1, failures: 1 },
    error: expect.stringMatching(/ran out of memory/),
  });
  expect(tooLong).toMatchObject({
    ...{ status: "timedOut", attempt: 1 },
    error: expect.stringMatching(/longer than its timeoutMs, 3000 ms/),
  });
  expect(ended).toMatchObject({
    ...{ status: "failed", attempt: 1 },
    error: expect.stringMatching(/execution timed out/),
  });
  const done = { status: "succeeded", attempt: 1, resets: 0, result: "waited" };
  expect(others).toMatchObject([done, done, done]);
  // They were in one lane, which ended none of them and has gone on to the last.
  const all = [memory, tooLong, ended, ...others].map((job) => job!.worker);
  expect(new Set(all).size).toBe(1);
  expect(await play("harmful", [{ does: "waits" }])).toMatchObject([done]);
}, 180_000);

// Beside each other: both wait for as long as a lost lane is waited for.
test.concurrent.each([
  ["harmfulInline", "takes all memory"],
  ["harmfulInNode", "loops"],
] as const)(
  "inline in %s, one that %s ends its lane: the other jobs lose their attempt, by rule, and pending jobs go on",
  async (queue, does) => {
    const [guilty, lost, again] = await play(queue, [
      { does },
      { does: "waits", ms: 120_000 },
      // Its app has said that it may be run twice.
      { does: "waits", ms: 3_000, maxResets: 3 },
    ]);
    const over = {
      ...{ status: "timedOut", attempt: 1, failures: 0 },
      error: expect.stringMatching(/^The lane .* ended while it ran the job.*maxResets is 0/),
    };
    expect([guilty, lost]).toMatchObject([over, over]);
    const [first] = await attemptsOf(queue, again!);
    expect(first).toMatchObject({ outcome: "lost", worker: guilty!.worker });
    expect(again).toMatchObject({ status: "succeeded", attempt: 2, failures: 0, resets: 1 });
    // No trace of it remains: the next job is run, and jobs of other queues were never hurt.
    expect(await play(queue, [{ does: "waits" }])).toMatchObject([
      { status: "succeeded", attempt: 1 },
    ]);
  },
  240_000,
);

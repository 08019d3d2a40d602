/**
 * Handlers inside Convex that do what no handler should, many in one lane: each costs its own attempt, and the others in the
 * same lane succeed. In virtual time, on the deployment class with the least room.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { api } from "../../harness/app/convex/_generated/api.js";
import { startVirtualApp, type VirtualApp } from "../../harness/virtualApp.js";

let app: VirtualApp;
let client: ReturnType<VirtualApp["world"]["httpClient"]>;
beforeAll(async () => {
  app = await startVirtualApp({ seed: 7 });
  client = app.world.httpClient();
});
afterAll(async () => await app.world.close());

type Job = {
  status: string;
  error?: string;
  result?: unknown;
  failures: number;
  lastError?: string;
};
type Which = "odd" | "inlined" | "ledger";

async function look(queue: Which, ids: string[]): Promise<Job[]> {
  return (await app.world.run(client.query(api.odd.look, { queue, ids }))) as Job[];
}

/** Enqueues them together, lets them end or be put off, and says what became of each. */
async function play<What extends string>(
  queue: Which,
  payloads: readonly What[],
  ms = 12_000,
): Promise<Record<What, Job & { id: string }>> {
  const ids = await app.world.run(
    client.mutation(api.odd.enqueue, { queue, payloads: [...payloads] }),
  );
  await app.world.advance(ms);
  const jobs = await look(queue, ids);
  return Object.fromEntries(
    payloads.map((what, i) => [what, { ...jobs[i]!, id: ids[i]! }]),
  ) as Record<What, Job & { id: string }>;
}

const ODD = [
  "returns",
  "returns nothing",
  "returns too much",
  "returns a cycle",
  "returns a function",
  "returns depth",
  "throws a string",
  "throws undefined",
  "throws much",
  "throws a cycle",
  "throws a ConvexError",
  "never again",
  "later",
  "snoozes",
  "never settles",
  "talks",
] as const;

describe.each(["odd", "inlined"] as const)("in the queue %s", (queue) => {
  let jobs: Record<(typeof ODD)[number], Job & { id: string }>;
  beforeAll(async () => {
    jobs = await play(queue, ODD);
  });

  test("those that end well succeed, whatever goes on beside them in their lane", () => {
    expect(jobs.returns).toMatchObject({ status: "succeeded", result: "fine" });
    expect(jobs["returns nothing"]).toMatchObject({ status: "succeeded", result: null });
    expect(jobs.talks).toMatchObject({ status: "succeeded" });
  });

  test.each([
    ["returns too much", /./],
    ["returns a cycle", /./],
    ["returns a function", /./],
    ["returns depth", /./],
    ["throws a string", /a string/],
    ["throws undefined", /./],
    ["throws much", /xxx/],
    ["throws a cycle", /./],
    ["throws a ConvexError", /odd/],
    ["never again", /^It would fail again\./],
  ] as const)("one that %s fails, and says why", (what, error) => {
    expect(jobs[what]).toMatchObject({ status: "failed", error: expect.stringMatching(error) });
    expect(jobs[what].error!.length).toBeLessThan(5_000);
  });

  test("one that never settles is failed when its time is over, and keeps nobody's place", () => {
    expect(jobs["never settles"]).toMatchObject({
      status: expect.stringMatching(/failed|timedOut/),
      error: expect.stringMatching(/longer than its timeoutMs/),
    });
  });

  test("one that snoozes comes back later, without a failure", () => {
    expect(jobs.snoozes).toMatchObject({ status: "scheduled", failures: 0 });
  });

  test("what a handler says is there when its job has ended", async () => {
    const { id } = jobs.talks;
    expect(await app.world.run(client.query(api.odd.heard, { queue, id }))).toEqual({
      logs: ["begun, and changed"],
      output: "a line\nand the rest",
    });
  });
});

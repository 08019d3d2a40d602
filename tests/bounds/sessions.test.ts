/** Sessions of the largest rows: no function that reads many of them reads more than it may. */
import { expect, test } from "vitest";
import { PLATFORM_LIMITS } from "../../local/limits.js";
import {
  LEASES_MAX,
  OUTPUT_PART_MAX_BYTES,
  OVERVIEW_QUEUES_MAX,
  SESSION_MAX_BYTES,
} from "../../src/shared/index.js";
import { mutation } from "../interleavings/line.js";
import { Transactions, type Call } from "../interleavings/transactions.js";
import { Worker } from "../interleavings/worker.js";
import { deploymentOf } from "../races/deployment.js";
import { LargeWorld, usedBy } from "./largeWorld.js";

const deployment = await deploymentOf([]);
/** In place of all that makes such a row so large: `fatSessions.test.ts` holds that none is larger. */
const FILLER = "c".repeat(SESSION_MAX_BYTES);
const query = (path: string, args: object): Call => ({ ...mutation(path, args), kind: "query" });

const world = new LargeWorld(new Transactions(deployment));
await world.line.open();
await world.line.enqueue();
const { now } = world.transactions;
for (const state of ["active", "idle", "gone"]) {
  const rows = Array.from({ length: 300 }, (_, i) => ({
    ...{ sessionKey: `${state}${i}`, name: "fat", state, lastSeenAt: now, queues: ["tiles"] },
    ...{ expiresAt: now + 5_000, leases: [], callSeq: 1, acknowledged: true },
    reply: { answers: [], cursor: FILLER },
  }));
  await world.plant("sessions", rows);
}
const [job] = world.line.rows("jobs");
const [token] = world.line.rows("tokens");
await world.plant(
  "sessions",
  Array.from({ length: 300 }, (_, i) => ({
    ...{
      sessionKey: `token${i}`,
      name: "fat",
      state: "active",
      lastSeenAt: now,
      queues: ["tiles"],
    },
    ...{ token: token!._id, expiresAt: now + 6_000, leases: [], callSeq: 1, acknowledged: true },
    reply: { answers: [], cursor: FILLER },
  })),
);

test.each([
  ["workers of a queue", query("lib:workers", { queue: "tiles" })],
  ["workers of all queues", query("lib:workers", {})],
  ["why a job waits", query("observe:why", { id: job!._id })],
  ["the count of a fleet", query("claim/fleet:fleetMembers", { queue: "tiles", now })],
  ["the first look of a sweep", query("tend/sweepPlan:findLostLeases", { now })],
  [
    "the first look of a sweep, when more has run out than it ends and it is another token's turn",
    query("tend/sweepPlan:findLostLeases", { now: now + 7_000, after: null }),
  ],
  ["the second look of a sweep", query("tend/sweepPlan:planSweep", { now })],
])("%s: under half of the bytes that it may read", async (_, call) => {
  const begun = await world.transactions.run(world.line.point, call);
  expect(begun.result).toMatchObject({ ok: true });
  expect(usedBy(begun).bytesRead).toBeLessThan(PLATFORM_LIMITS.bytesRead / 2);
});

test("a sweep that ends leases of workers with a part of output for each job, and no other word, reads one part of each session", async () => {
  const one = new LargeWorld(new Transactions(deployment));
  await one.line.open();
  for (const name of ["a", "b"]) {
    await one.line.enqueue(LEASES_MAX);
    const worker = new Worker(one.line, name);
    const jobs = await worker.claim(LEASES_MAX);
    expect(jobs).toHaveLength(LEASES_MAX);
    const text = "o".repeat(OUTPUT_PART_MAX_BYTES);
    await one.plant(
      "chunks",
      jobs.map(({ id, attempt }) => ({ job: id, attempt, index: 0, text, total: text.length })),
    );
  }
  await one.line.untilSweep();
  const [sweep] = one.transactions
    .due(one.line.point)
    .filter(({ row }) => row!.target.path.startsWith("tend/janitor"));
  const begun = await one.transactions.run(one.line.point, sweep!);
  one.line.point = one.line.point.commit(begun.transaction, "sweep")!;
  expect(one.line.rows("jobs").every(({ resets }) => resets === 1)).toBe(true);
  expect(usedBy(begun).bytesRead).toBeLessThan(PLATFORM_LIMITS.bytesRead / 2);
});

test("one queue of an overview of as many as may be: its share of the bytes, with the largest sessions", async () => {
  const beside = OVERVIEW_QUEUES_MAX;
  const args = { queue: "tiles", beside };
  const begun = await world.transactions.run(world.line.point, query("observe:overview", args));
  expect(begun.result).toMatchObject({ ok: true });
  expect(usedBy(begun).bytesRead).toBeLessThan(PLATFORM_LIMITS.bytesRead / beside);
});

/** Repairs cover all queues: their reads are bounded for all of them together, and every queue has its turn. */
import { expect, test } from "vitest";
import { Transactions } from "../interleavings/transactions.js";
import { Worker } from "../interleavings/worker.js";
import { deploymentOf } from "../races/deployment.js";
import { type ClaimedJob } from "../../src/shared/index.js";
import { LargeWorld } from "./largeWorld.js";

const deployment = await deploymentOf([]);

async function newWorld(): Promise<LargeWorld> {
  const world = new LargeWorld(new Transactions(deployment));
  await world.line.open();
  return world;
}

test("the last sweep counts the jobs of all workers that have become idle, of however many queues", async () => {
  const world = await newWorld();
  const { line } = world;
  const busy = new Worker(line, "busy");
  await line.enqueue();
  const held = await busy.claim();
  for (let i = 0; i < 150; i += 1) {
    const queue = line.declare(`pull${i}`, {});
    await line.do(line.enqueues(1, queue));
    const worker = new Worker(line, `worker${String(i).padStart(3, "0")}`);
    const { jobs } = await line.do<{ jobs: ClaimedJob[] }>(worker.claims(1, [queue]));
    await line.do(worker.completes(jobs));
    await line.pass(1);
  }
  await busy.complete(held);
  await line.pass(120_000);
  const counted = new Set(line.rows("periods").map(({ queue }) => queue));
  expect(counted.size).toBe(151);
});

/** The calls and transactions of small jobs whose worker takes them in batches, beside one that takes them one by one. */
import path from "node:path";
import { expect, test } from "vitest";
import { counts } from "../../local/counts.js";
import { api } from "../support/app/convex/_generated/api.js";
import { root } from "../support/paths.js";
import { startVirtualApp } from "../support/virtualApp.js";
import { jobCalls } from "../../src/shared/index.js";

const races = jobCalls(api.races);
const WORKER = path.join(root, "tests/support/app/batchWorker.ts");
const JOBS = 1_000;
const [TRANSACTIONS, CALLS] = [40, 25];

/** Calls of the worker, and its transactions that wrote, until all jobs have succeeded. */
async function costOf(size: number) {
  const { world, token } = await startVirtualApp({ seed: 3, class: "s256" });
  try {
    const payloads = Array.from({ length: JOBS }, (_, n) => ({ n }));
    const ids = await world.run(
      world.httpClient().mutation(...races.enqueueMany("races", payloads)),
    );
    world.stats.reset();
    const env = {
      ...{ CONVEX_URL: world.url, CONVEYOR_TOKEN: token },
      ...{ WORKER_NAME: "batcher", BATCH_SIZE: String(size) },
    };
    await world.program(WORKER, { name: "batcher", env });
    const last = () => world.run(world.httpClient().query(...races.statuses(ids.slice(-100))));
    while ((await last()).some((job) => job?.status !== "succeeded")) await world.advance(2_000);
    const { functions } = world.stats.snapshot();
    const of = Object.entries(functions).filter(([name]) => name.startsWith("work:"));
    const statuses = await last();
    return {
      calls: of.reduce((sum, [, { billed }]) => sum + billed, 0),
      transactions: of
        .filter(([, { io }]) => io.documentsWritten > 0)
        .reduce((sum, [, { billed }]) => sum + billed, 0),
      squares: statuses.map((job) => (job?.status === "succeeded" ? job.result.square : null)),
    };
  } finally {
    await world.close();
  }
}

// In CI `batches.long.test.ts` has what batches do.
test.skipIf(counts(true, false))(
  "small jobs in batches of 50 cost a worker a fortieth of the transactions of single ones, and a twenty-fifth of the calls",
  async () => {
    const [batched, single] = [await costOf(50), await costOf(0)];
    const last = Array.from({ length: 100 }, (_, i) => (JOBS - 100 + i) ** 2);
    expect(batched.squares).toEqual(last);
    expect(single.squares).toEqual(last);
    expect(batched.transactions * TRANSACTIONS).toBeLessThanOrEqual(single.transactions);
    expect(batched.calls * CALLS).toBeLessThanOrEqual(single.calls);
  },
  400_000,
);

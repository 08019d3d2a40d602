import { expect, test } from "vitest";
import { newLeaseBatch, take } from "./leaseBatch.js";
import { findQueue } from "../rows/queues.js";
import { newWorld } from "../setup.test.js";

test("a job that has moved since it was seen is left at its present place, behind other jobs", async () => {
  const world = await newWorld();
  const id = await world.enqueue();
  const worker = world.worker("w");
  await worker.heartbeat([]);
  await worker
    .claim()
    .then((jobs) =>
      worker.complete(
        jobs.map((job) => ({ id: job.id, attempt: job.attempt, outcome: { kind: "released" } })),
      ),
    );
  const seen = (await world.job(id)).seq as bigint;
  const session = await worker.session();
  const took = async (seq: bigint) =>
    await world.t.run(async (ctx) => {
      const queue = (await findQueue(ctx.db, "tiles"))!;
      const offer = { labels: [], maxCost: undefined, groups: [] };
      const by = {
        ...{ session, callSeq: 9, queues: new Map([["tiles", queue]]), offer },
        ...{ max: 1, now: Date.now(), carries: Infinity, endsAt: Infinity },
      };
      const batch = newLeaseBatch(by);
      await take(ctx, batch, id, seq);
      const leased = batch.leases.length;
      // Nothing of this is to stand: the session's row knows nothing of the lease.
      if (leased > 0) throw new Error("taken");
      return [leased, batch.dealtWith.has(id)];
    });
  expect(await took(seen - 1n)).toEqual([0, true]);
  await expect(took(seen)).rejects.toThrow("taken");
});

/** A purge reads few ranges, however the rows of its jobs fall into its pages. */
import { expect, test } from "vitest";
import { PLATFORM_LIMITS } from "../../local/limits.js";
import { REMOVE_JOBS } from "../../src/shared/index.js";
import { mutation } from "../interleavings/line.js";
import { Transactions } from "../interleavings/transactions.js";
import { deploymentOf } from "../races/deployment.js";
import { plantOldEnds } from "./fullUpkeep.js";
import { many } from "./fullShapes.js";
import { LargeWorld, PRIORITIES, usedBy } from "./largeWorld.js";

const deployment = await deploymentOf([]);
/** Half of what one transaction may read is 2,048. */
const RANGES = 1_536;
const DAY = 24 * 60 * 60_000;

/** Jobs that ended long ago, each with so many rows in these tables: as many as a first page. */
async function plantEnded(world: LargeWorld, name: string): Promise<void> {
  const ended = { status: "failed", order: 0, attempt: 1, finishedAt: 0 };
  const jobs = await world.plant(
    "jobs",
    many(REMOVE_JOBS, (n) => ({
      ...world.waiting(name, 0, 0, 90 * DAY),
      ...ended,
      key: `k${n}`,
      tags: ["t"],
    })),
  );
  const entry = { attempt: 1, level: "info", message: "", at: 0, total: 0 };
  await world.plant(
    "logs",
    jobs.flatMap((job) => many(8, (n) => ({ job, entry: n, ...entry }))),
  );
  await world.plant(
    "chunks",
    jobs.flatMap((job) => many(2, (n) => ({ job, attempt: 1, index: n, text: "", total: 0 }))),
  );
}

test("a purge of jobs whose rows fill its first pages takes fewer of them", async () => {
  const world = new LargeWorld(new Transactions(deployment));
  await world.line.open();
  const name = "tiles2";
  const config = { leaseMs: 10_000, maxResets: 3, shards: 8 };
  await world.plantQueue({ name, config }, { routes: 8, priorities: PRIORITIES });
  await plantEnded(world, name);
  const seq = world.seqOf(DAY);
  const upTo = ["succeeded", "failed", "canceled", "timedOut"];
  await world.plant("counted", [
    { queue: name, upTo: upTo.map((status) => ({ status, seq, creationTime: 0 })) },
  ]);
  const dueAt = world.transactions.now;
  const [timer] = await world.plant("timers", [{ kind: "purge", queue: name, dueAt }]);
  const purge = mutation("count/purge:purgeQueue", { timer });
  const begun = await world.transactions.run(world.line.point, purge);
  expect(begun.result).toMatchObject({ ok: true });
  expect(usedBy(begun).databaseQueries).toBeLessThan(RANGES);
});

test("a purge that finds the first job of each status still to be delivered reads few of the rows behind it", async () => {
  const world = new LargeWorld(new Transactions(deployment));
  await world.line.open();
  const queue = "tiles3";
  await world.plantQueue({ name: queue, config: { leaseMs: 10_000, maxResets: 3, shards: 8 } });
  const timer = await plantOldEnds(world, queue);
  const purge = mutation("count/purge:purgeQueue", { timer });
  const begun = await world.transactions.run(world.line.point, purge);
  expect(begun.result).toMatchObject({ ok: true });
  expect(usedBy(begun).bytesRead).toBeLessThan(PLATFORM_LIMITS.bytesRead / 2);
  const left = world.line.rows("jobs").length;
  for (let run = 0; run < 3; run += 1) await world.line.do(purge);
  expect(world.line.rows("jobs").length, "and goes on with the status that has none").toBeLessThan(
    left,
  );
});

/** Many jobs are changed, a step at a time, while workers move them between two steps. */
import { describe, expect, test } from "vitest";
import { BULK_SCANNED, isFinished } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import { failed, leaseOf, newWorld, released, succeeded, type World } from "../setup.test.js";

const many = (count: number) => Array.from({ length: count }, (_, n) => n);

const meant = {
  queue: "tiles",
  ...{ filter: { tags: ["mine"] }, goOn: false },
};

async function cancelAll(world: World, between: (steps: number) => Promise<void>) {
  let changed = 0;
  let cursor: string | undefined;
  for (let steps = 1; ; steps += 1) {
    const from = cursor === undefined ? {} : { cursor };
    const reply = await world.t.mutation(api.operate.cancelMany, { ...meant, ...from });
    changed += reply.changed;
    if (reply.isDone) return { changed, steps };
    cursor = reply.cursor!;
    await between(steps);
  }
}

/** So many jobs, of which every other one is canceled, in more than so many steps. */
export async function cancelAmong(count: number, leastSteps: number): Promise<void> {
  const world = await newWorld({ shards: 4, logLevel: "error" });
  const options = (n: number) => ({ tags: [n % 2 === 0 ? "mine" : "others"] });
  const jobs = (from: number, of: number) =>
    many(of).map((n) => ({ payload: from + n, options: options(from + n) }));
  await world.enqueueJobs(jobs(0, count));
  const worker = world.worker("a");
  let held: Awaited<ReturnType<typeof worker.claim>> = [];
  const { steps } = await cancelAll(world, async (step) => {
    const done = held.map(
      (job, n) => [released(job), failed(job), succeeded(job)][(n + step) % 3]!,
    );
    if (done.length > 0) await worker.complete(done);
    held = await worker.claim(16);
    if (step < 6) await world.enqueueJobs(jobs(2_000 + step * 10, 10));
  });
  expect(steps).toBeGreaterThan(leastSteps);
  await worker.complete(held.map((job) => released(job)));
  const left = (await world.all("jobs")).filter(
    ({ tags, status }) => tags![0] === "mine" && !isFinished(status),
  );
  expect(left).toEqual([]);
  const others = (await world.all("jobs")).filter(({ tags }) => tags![0] === "others");
  expect(others.filter(({ status }) => status === "canceled")).toEqual([]);
}

describe("canceling among jobs that are worked on", () => {
  test("finds the one that moved back to where the first pass had been", async () => {
    const world = await newWorld({ logLevel: "error" });
    const [mine] = await world.enqueueBatch([0], { tags: ["mine"] });
    await world.enqueueBatch(many(BULK_SCANNED + 50), { runAfter: 3_600_000 });
    const worker = world.worker("a");
    const [job] = await worker.claim();
    expect(job!.id).toBe(mine);
    const snoozed = { kind: "snoozed" as const, runAfter: 7_200_000 };
    const { changed } = await cancelAll(world, async (steps) => {
      if (steps === 1) await worker.complete([{ ...leaseOf(job!), outcome: snoozed }]);
    });
    expect(changed).toBe(1);
    expect(await world.status(mine!)).toMatchObject({ status: "canceled" });
  });

  // Shows F16.
  test("ends every one of hundreds while workers take, give back and finish them and new ones come in", async () => {
    await cancelAmong(240, 1);
  });
});

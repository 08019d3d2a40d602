/** A queue that had several shards and is given one: its order is strict from then on. */
import { describe, expect, test } from "vitest";
import { api } from "../_generated/api.js";
import { newWorld, succeeded, type World } from "../setup.test.js";

/** Workers that have claimed before, so that each has a place among the others. */
async function workersOf(world: World, names: string[]) {
  const workers = names.map((name) => world.worker(name));
  for (const worker of workers) await worker.claim();
  return workers;
}

const PAYLOADS = Array.from({ length: 12 }, (_, n) => n);

describe("a queue that had eight shards and has one now", () => {
  test.each(["deploy", "override"])(
    "gives several workers its jobs in the order of their enqueue: by %s",
    async (how) => {
      const world = await newWorld({ shards: 8 });
      const workers = await workersOf(world, ["a", "b", "c"]);
      await world.enqueueBatch(PAYLOADS);
      await world.advance(20_000);
      if (how === "deploy") world.queue.config = { ...world.queue.config, shards: 1 };
      else
        await world.t.mutation(api.operate.configureQueue, {
          queue: world.queue.name,
          overrides: { shards: 1 },
        });
      await world.enqueueBatch(PAYLOADS.map((n) => PAYLOADS.length + n));
      const given: unknown[] = [];
      for (let i = 0; i < 6; i += 1)
        for (const worker of [...workers, world.worker(`newcomer-${i}`)])
          given.push(...(await worker.claim()).map(({ payload }) => payload));
      expect(given).toEqual([...given.keys()]);
      expect(given).toHaveLength(24);
    },
  );

  test("gives out the items of a ring that it has become, the least recently worked on first", async () => {
    const world = await newWorld({ shards: 8 });
    const workers = await workersOf(world, ["a", "b", "c"]);
    await world.advance(20_000);
    world.queue.config = { ...world.queue.config, shards: 1, circular: true };
    await world.enqueueBatch(PAYLOADS);
    const given: unknown[] = [];
    for (let i = 0; i < 8; i += 1)
      for (const worker of workers) {
        const [job] = await worker.claim();
        given.push(job?.payload);
        await worker.complete([succeeded(job!)]);
      }
    expect(given).toEqual([...PAYLOADS, ...PAYLOADS]);
  });
});

/** Queues of more places (routes × priorities × shards) than one scan may read. */
import { describe, expect, test } from "vitest";
import { LOOK_RANGES_MAX, PRIORITY_MAX, PRIORITY_MIN, SHARDS_MAX } from "../../shared/index.js";
import { newWorld, type World } from "../setup.test.js";

const LABELS = ["a", "b", "c", "d"];
const PRIORITIES = Array.from(
  { length: PRIORITY_MAX - PRIORITY_MIN + 1 },
  (_, i) => PRIORITY_MIN + i,
);

/** 21 priorities in four routes and 64 shards: 10,752 places. */
async function vast(): Promise<World> {
  const world = await newWorld({ shards: SHARDS_MAX });
  // The queue is declared; no other session is live, to which young jobs would be left.
  await world.cancel(await world.enqueue());
  await world.t.run(async (ctx) => {
    for (const [i, label] of LABELS.entries()) {
      const route = {
        queue: "tiles",
        key: `0:${label}`,
        labels: [label],
        costClass: 0,
        number: i + 1,
      };
      await ctx.db.insert("routes", { ...route, priorities: PRIORITIES });
    }
  });
  expect(LABELS.length * PRIORITIES.length * SHARDS_MAX).toBeGreaterThan(LOOK_RANGES_MAX);
  return world;
}

const payloads = (jobs: { payload?: unknown }[]) => jobs.map((job) => job.payload);
const all = { labels: LABELS };

describe("a queue of more places than one scan may read", () => {
  test("gives out the highest priority first, wherever it lies, and hides nothing", async () => {
    const world = await vast();
    for (const [i, priority] of [-10, 3, -9, 10, 3, 0].entries()) {
      await world.enqueue(priority, { priority, labels: [LABELS[i % 4]!] });
    }
    const got: unknown[] = [];
    const worker = world.worker("w");
    expect(payloads(await worker.peek(all))).toEqual([10, 3, 3, 0, -9, -10]);
    for (let i = 0; i < 6; i += 1) got.push(...payloads(await worker.claim(1, all)));
    expect(got).toEqual([10, 3, 3, 0, -9, -10]);
  });

  test("has no work once it is empty, or holds only jobs for other workers, and idle workers sleep", async () => {
    const world = await vast();
    const worker = world.worker("w");
    expect(await worker.hasWork(all)).toBe(false);
    for (const priority of PRIORITIES) await world.enqueue(0, { priority, labels: ["other"] });
    expect(await worker.hasWork(all)).toBe(false);
    expect(await worker.claim(1, all)).toEqual([]);
    await world.enqueue("mine", { priority: -10, labels: ["d"] });
    expect(await worker.hasWork(all)).toBe(true);
    expect(payloads(await worker.claim(1, all))).toEqual(["mine"]);
  });

  test("does not show paused items, which lie behind every band", async () => {
    const world = await vast();
    const id = await world.enqueue("job", { labels: ["a"], priority: 10 });
    await world.t.run(async (ctx) => {
      await ctx.db.patch("jobs", id, { order: 1_000, shard: 0, paused: true });
    });
    expect(await world.worker("w").hasWork(all)).toBe(false);
  });
});

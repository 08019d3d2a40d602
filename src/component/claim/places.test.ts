/** Queues of as many places (routes × priorities × shards) as a queue may have. */
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  LOOK_RANGES_MAX,
  PLACES_MAX,
  PRIORITY_MAX,
  PRIORITY_MIN,
  SHARDS_DEFAULT,
  type JobOptions,
} from "../../shared/index.js";
import { api } from "../_generated/api.js";
import { newWorld, type World } from "../setup.test.js";

const LABELS = ["a", "b"];
const OTHER = "other";
const PRIORITIES = Array.from(
  { length: PRIORITY_MAX - PRIORITY_MIN + 1 },
  (_, i) => PRIORITY_MIN + i,
);
const QUEUES = Array.from({ length: 4 }, (_, i) => `tiles${i}`);
const all = { labels: LABELS };

afterEach(() => {
  vi.restoreAllMocks();
});

/** 21 priorities in three routes, the plain one, and eight shards: one place more would be refused. */
async function vast(queues = ["tiles"], shards = SHARDS_DEFAULT): Promise<World> {
  const world = await newWorld({ shards });
  for (const name of queues) {
    // The queue is declared; no other session is live, to which young jobs would be left.
    const [first] = await enqueueIn(world, name, {});
    await world.cancel(first!.id);
    await world.t.run(async (ctx) => {
      for (const [i, label] of [...LABELS, OTHER].entries()) {
        const needs = { labels: [label], costClass: 0, number: i + 1, priorities: PRIORITIES };
        await ctx.db.insert("routes", { queue: name, key: `0:${label}`, ...needs });
      }
    });
  }
  return world;
}

const enqueueIn = (world: World, name: string, options: JobOptions) =>
  world.t.mutation(api.lib.enqueue, {
    queue: { ...world.queue, name },
    jobs: [{ payload: "mine", options }],
  });
const payloads = (jobs: { payload?: unknown }[]) => jobs.map((job) => job.payload);

test("are read by one claim, at two ranges each", () => {
  expect(2 * SHARDS_DEFAULT * (1 + (LABELS.length + 1) * PRIORITIES.length)).toBe(PLACES_MAX);
  expect(2 * PLACES_MAX).toBeLessThanOrEqual(LOOK_RANGES_MAX);
});

/** The order of jobs in the places of so many shards. */
export async function givesHighestFirst(shards: number): Promise<void> {
  const world = await vast(["tiles"], shards);
  for (const [i, priority] of [-10, 3, -9, 10, 3, 0].entries()) {
    await world.enqueue(priority, { priority, labels: [LABELS[i % 2]!] });
  }
  const got: unknown[] = [];
  const worker = world.worker("w");
  expect(payloads(await worker.peek(all))).toEqual([10, 3, 3, 0, -9, -10]);
  for (let i = 0; i < 6; i += 1) got.push(...payloads(await worker.claim(1, all)));
  expect(got).toEqual([10, 3, 3, 0, -9, -10]);
}

/** An idle worker beside the places of so many shards. */
export async function sleepsWhileEmpty(shards: number): Promise<void> {
  const world = await vast(["tiles"], shards);
  const worker = world.worker("w");
  expect(await worker.hasWork(all)).toBe(false);
  for (const priority of PRIORITIES) await world.enqueue(0, { priority, labels: [OTHER] });
  expect(await worker.hasWork(all)).toBe(false);
  expect(await worker.claim(1, all)).toEqual([]);
  await world.enqueue("mine", { priority: -10, labels: ["b"] });
  expect(await worker.hasWork(all)).toBe(true);
  expect(payloads(await worker.claim(1, all))).toEqual(["mine"]);
}

describe("a queue of jobs in all routes and priorities", () => {
  test("gives out the highest priority first, wherever it lies, and hides nothing", async () => {
    await givesHighestFirst(1);
  });

  test("has no work once it is empty, or holds only jobs for other workers, and idle workers sleep", async () => {
    await sleepsWhileEmpty(1);
  });
});

describe("a queue of as many places as it may have", () => {
  test("does not show paused items, which lie behind every band", async () => {
    const world = await vast();
    const id = await world.enqueue("job", { labels: ["a"], priority: 10 });
    await world.t.run(async (ctx) => {
      await ctx.db.patch("jobs", id, { order: 1_000, shard: 0, paused: true });
    });
    expect(await world.worker("w").hasWork(all)).toBe(false);
  });
});

test("several such queues are more than one claim reads: it begins at a random one, and so finds the job of each", async () => {
  const world = await vast(QUEUES);
  const queues = QUEUES.map((name) => ({ ...world.queue, name }));
  const worker = world.worker("w");
  const claimFrom = async (first: number) => {
    vi.spyOn(Math, "random").mockReturnValue(first / QUEUES.length);
    return payloads(await worker.claim(1, { ...all, queues } as typeof all));
  };
  for (const name of QUEUES) await enqueueIn(world, name, { priority: -10, labels: ["b"] });
  const jobs = await world.all("jobs");
  await world.cancel(
    jobs.find(({ queue, status }) => queue === QUEUES[0] && status === "pending")!._id,
  );
  expect(await claimFrom(3)).toEqual(["mine"]);
  expect(await claimFrom(3)).toEqual([]);
  for (const first of [1, 2]) expect(await claimFrom(first)).toEqual(["mine"]);
});

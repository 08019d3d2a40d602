import { describe, expect, test, vi } from "vitest";
import { newWorld } from "../setup.test.js";

/** So that a few hundred rows exceed one scan's budget. */
vi.mock("../../shared/limits.js", async (original) => ({
  ...(await original<object>()),
  LOOK_ROWS_MAX: 100,
}));
vi.hoisted(() => vi.resetModules());

const payloads = (jobs: { payload: unknown }[]) => jobs.map((job) => job.payload);

describe("groups", () => {
  const fill = async (world: Awaited<ReturnType<typeof newWorld>>, others: number) => {
    await world.enqueueBatch(Array<string>(others).fill("other"), { group: "b" });
    await world.enqueue("none");
    return await world.enqueue("mine", { group: "a" });
  };

  // Shows SG-04, C16.
  test("a worker gets jobs of its groups only, and one that names none gets all", async () => {
    const world = await newWorld();
    await fill(world, 3);
    expect(payloads(await world.worker("w").claim(9, { groups: ["a", "c"] }))).toEqual(["mine"]);
    expect(await world.worker("v").claim(9)).toHaveLength(4);
  });

  test("rows of other groups are passed for good, so that a claim that finds nothing gets on", async () => {
    const world = await newWorld();
    await fill(world, 230);
    const worker = world.worker("w");
    const tries: unknown[][] = [];
    while (tries.length < 5 && tries.at(-1)?.length !== 1) {
      tries.push(payloads(await worker.claim(9, { groups: ["a"] })));
      vi.advanceTimersByTime(100);
    }
    expect(tries.at(-1)).toEqual(["mine"]);
    expect(tries.length).toBeGreaterThan(1);
  });

  // Rules out D6a.
  test("other groups find the jobs that these have passed: the cursor is dropped with its conditions", async () => {
    const world = await newWorld();
    await fill(world, 2);
    const worker = world.worker("w");
    expect(await worker.claim(9, { groups: ["a"] })).toHaveLength(1);
    expect(payloads(await worker.claim(1, { groups: ["b"] }))).toEqual(["other"]);
    expect(payloads(await worker.claim(9))).toEqual(["other", "none"]);
  });

  test("hasWork from the claim's cursor is false once only jobs of other groups are left", async () => {
    const world = await newWorld();
    await fill(world, 230);
    const worker = world.worker("w");
    while ((await worker.claim(9, { groups: ["a"] })).length === 0);
    await worker.claim(9, { groups: ["a"] });
    expect(await worker.hasWork({ groups: ["a"] }, { on: true })).toBe(false);
    await world.enqueue("more", { group: "a" });
    expect(await worker.hasWork({ groups: ["a"] }, { on: true })).toBe(true);
  });

  test("rows of others in such numbers that a look may read no further are work for a claim: an idle worker never sleeps before them", async () => {
    const world = await newWorld({ shards: 4 });
    await world.enqueueBatch(Array<string>(130).fill("other"), { group: "b", priority: 1 });
    await world.enqueue("mine", { group: "a" });
    const worker = world.worker("w");
    const groups = ["a"];
    expect(await worker.hasWork({ groups })).toBe(true);
    expect(await worker.waiting({ groups })).toEqual({ jobs: [], more: true });
    expect(await worker.peek({ groups })).toEqual([]);
    await worker.claim(1, { groups });
    expect(await worker.hasWork({ groups }, { on: true })).toBe(true);
  });
});

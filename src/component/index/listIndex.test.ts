import { describe, expect, test } from "vitest";
import {
  BATCH_MAX_ROWS,
  type JobOptions,
  type ListFilter,
  type QueueConfig,
} from "../../shared/index.js";
import { api } from "../_generated/api.js";
import { newWorld, refusal, succeeded, type World } from "../setup.test.js";

const BOTH: Partial<QueueConfig> = { listBy: ["tag", "group"] };

async function listed(world: World, filter: ListFilter, order: "next" | "newest" = "newest") {
  const names: (string | undefined)[] = [];
  let cursor: string | null = null;
  for (;;) {
    const reply: { page: { name?: string }[]; isDone: boolean; continueCursor: string } =
      await world.t.query(api.observe.list, {
        ...{ queue: world.queue.name, filter, order },
        paginationOpts: { numItems: 2, cursor },
      });
    names.push(...reply.page.map(({ name }) => name));
    if (reply.isDone) return names;
    cursor = reply.continueCursor;
  }
}

async function rowsIn(world: World, tables: readonly Parameters<World["all"]>[0][]) {
  const all = await Promise.all(tables.map((table) => world.all(table)));
  return all.reduce((sum, rows) => sum + rows.length, 0);
}

const named = (name: string, options: JobOptions = {}) => ({
  payload: {},
  options: { ...options, name },
});

describe("a queue that lists by tag and group", () => {
  // Shows A19.
  test("shows the jobs of a tag or group as they were created, in every status", async () => {
    const world = await newWorld({ ...BOTH, shards: 4 });
    await world.enqueueJobs([
      named("a", { tags: ["x", "y"], group: "g" }),
      named("b", { tags: ["y"], priority: 9 }),
      named("c", { group: "g", runAfter: 60_000 }),
      named("d"),
    ]);
    await world.enqueueJobs([named("e", { tags: ["x", "x"], group: "h" })]);
    expect(await listed(world, { tag: "y" })).toEqual(["b", "a"]);
    expect(await listed(world, { tag: "x" })).toEqual(["e", "a"]);
    expect(await listed(world, { tag: "x" }, "next")).toEqual(["a", "e"]);
    expect(await listed(world, { group: "g" })).toEqual(["c", "a"]);
    expect(await listed(world, { tag: "none" })).toEqual([]);
    const worker = world.worker("w");
    const [b] = await worker.claim();
    expect(b!.name).toBe("b");
    await worker.complete([succeeded(b!)]);
    expect(await listed(world, { tag: "y" })).toEqual(["b", "a"]);
    expect(await listed(world, { tag: "y", status: "pending" })).toEqual(["a"]);
    expect(await listed(world, { tag: "x", group: "g" })).toEqual(["a"]);
    expect(await listed(world, { tag: "y", name: "b", worker: "w" })).toEqual(["b"]);
  });

  test("writes a row more for each tag of a job and for its group, and none when the job moves", async () => {
    const tables = ["jobs", "marks", "payloads", "keys", "expiries", "jobRules", "routes"] as const;
    const written: number[] = [];
    for (const config of [{}, { listBy: ["tag" as const] }, BOTH]) {
      const world = await newWorld(config);
      await world.enqueueBatch([1, 2, 3, 4], { tags: ["a", "b", "b"], group: "g" });
      await world.enqueueBatch([5], {});
      const before = await world.all("marks");
      const worker = world.worker("w");
      const [job] = await worker.claim();
      await worker.complete([succeeded(job!)]);
      await world.t.mutation(api.operate.retryJob, { id: job!.id });
      expect(await world.all("marks")).toEqual(before);
      written.push(await rowsIn(world, tables));
    }
    // 5 jobs; two tags of each of 4; their groups as well.
    expect(written).toEqual([5, 5 + 8, 5 + 12]);
  });

  test("forgets a job's marks with the job, also when it asks for them no more", async () => {
    const world = await newWorld(BOTH);
    const [a, b] = await world.enqueueBatch([1, 2], { tags: ["x"], group: "g" });
    await world.enqueueJobs([named("kept", { tags: ["x"] })]);
    await world.t.mutation(api.operate.deleteJob, { id: a! });
    expect(await rowsIn(world, ["marks"])).toBe(3);
    await world.advance(11_000);
    delete world.queue.config.listBy;
    await world.enqueue({}, { tags: ["x"], name: "unmarked" });
    expect(await rowsIn(world, ["marks"])).toBe(3);
    await world.t.mutation(api.operate.deleteJob, { id: b! });
    expect(await rowsIn(world, ["marks"])).toBe(1);
    // From now on the jobs themselves are scanned, with or without rows in `marks`.
    expect(await listed(world, { tag: "x" })).toEqual(["unmarked", "kept"]);
  });

  test("does not list by tag jobs that were enqueued before it asked", async () => {
    const world = await newWorld();
    await world.enqueueJobs([named("before", { tags: ["x"] })]);
    await world.advance(11_000);
    world.queue.config.listBy = ["tag"];
    await world.enqueueJobs([named("after", { tags: ["x"], group: "g" })]);
    expect(await listed(world, { tag: "x" })).toEqual(["after"]);
    expect(await listed(world, { tag: "x", status: "pending" })).toEqual(["after"]);
    // By group it has not asked.
    expect(await listed(world, { group: "g" })).toEqual(["after"]);
    expect(await rowsIn(world, ["marks"])).toBe(1);
  });

  test("keeps queues apart", async () => {
    const world = await newWorld(BOTH);
    await world.enqueueJobs([named("of tiles", { tags: ["x"] })]);
    world.queue.name = "other";
    await world.enqueueJobs([named("of the other", { tags: ["x"] })]);
    expect(await listed(world, { tag: "x" })).toEqual(["of the other"]);
  });

  test("refuses a call with tags that would write more than half of a transaction, before it writes any", async () => {
    const world = await newWorld(BOTH);
    const tags = Array.from({ length: 16 }, (_, n) => `t${n}`);
    const count = Math.floor(BATCH_MAX_ROWS / 17) + 1;
    const jobs = Array.from({ length: count }, () => named("n", { tags }));
    expect(await refusal(world.enqueueJobs(jobs))).toMatchObject({
      code: "invalidArgument",
      ...{ argument: "rows", got: 17 * count, max: BATCH_MAX_ROWS },
    });
    expect(await world.all("jobs")).toEqual([]);
  });

  test("is refused a definition that names one of them twice", async () => {
    const world = await newWorld({ listBy: ["tag", "tag"] });
    expect((await refusal(world.enqueue())).message).toContain("listBy");
  });
});

/** Jobs read back: their status, many at once, and the outcomes of their attempts. */
import { describe, expect, test } from "vitest";
import { api } from "../_generated/api.js";
import { failed, newWorld, refusal, succeeded, T0 } from "../setup.test.js";

describe("status", () => {
  test("has the options that a job was enqueued with, in any status", async () => {
    const world = await newWorld();
    const options = {
      ...{ name: "weekly", priority: 3, group: "acme", tags: ["a"], labels: ["gpu"], cost: 4 },
      ...{ key: { value: "k" }, expiresAfterMs: 60_000 },
    };
    const jobs = [{ payload: 1, options }];
    const [enqueued] = await world.t.mutation(api.lib.enqueue, { queue: world.queue, jobs });
    const { id } = enqueued!;
    const { key, expiresAfterMs: _, ...same } = options;
    const all = { ...same, key: key.value, expiresAt: T0 + 60_000, releases: 0 };
    expect(await world.status(id)).toMatchObject({ status: "pending", ...all });
    await world.t.mutation(api.operate.cancelJob, { id, reason: "no need" });
    expect(await world.status(id)).toMatchObject({
      status: "canceled",
      reason: "no need",
      ...same,
    });
  });

  test("has no field for options that a plain job was not given", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    expect(await world.status(id)).toEqual({
      ...{ id, queue: "tiles", status: "pending", enqueuedAt: T0 },
      ...{ attempt: 0, failures: 0, resets: 0, releases: 0 },
    });
  });

  // Shows DE-02.
  test("of a job that backs off says when it is due, and has the error", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    await world.t.run((ctx) =>
      ctx.db.patch("jobs", id, {
        ...{ status: "scheduled", order: T0 + 5_000, attempt: 1, failures: 1, error: "boom" },
      }),
    );
    expect(await world.status(id)).toMatchObject({
      ...{ status: "scheduled", dueAt: T0 + 5_000, lastError: "boom", failures: 1 },
    });
  });

  test("of a running job that is to end says since when", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    await world.worker("a").claim();
    await world.t.mutation(api.operate.cancelJob, { id });
    expect(await world.status(id)).toMatchObject({ status: "running", cancelRequestedAt: T0 });
  });
});

describe("status of many", () => {
  // Shows WP-28, K1.
  test("comes in the order of the ids, with null for an id of another queue", async () => {
    const world = await newWorld();
    const [one, two] = await world.enqueueBatch([1, 2]);
    const [job] = await world.worker("a").claim();
    const ids = [two!, "nonsense", one!, two!];
    const jobs = await world.t.query(api.lib.statusBatch, { ids, queue: "tiles" });
    expect(jobs.map((each) => each?.id ?? null)).toEqual([two, null, one, two]);
    expect(jobs.find((each) => each?.id === job!.id)).toMatchObject({ status: "running" });
    const none = await world.t.query(api.lib.statusBatch, { ids: [one!], queue: "other" });
    expect(none).toEqual([null]);
  });

  // Rules out D27.
  test("is of up to 100, and refuses results that together fit into no query", async () => {
    const world = await newWorld();
    const ids = Array.from({ length: 101 }, () => "x");
    const many = world.t.query(api.lib.statusBatch, { ids });
    expect(await refusal(many)).toMatchObject({ code: "invalidArgument" });
    const id = await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await worker.complete([succeeded(job!, "r".repeat(1_000_000))]);
    const five = Array.from({ length: 5 }, () => id);
    expect(await world.t.query(api.lib.statusBatch, { ids: five })).toHaveLength(5);
    const six = world.t.query(api.lib.statusBatch, { ids: [...five, id] });
    expect(await refusal(six)).toMatchObject({ code: "payloadTooLarge", fit: 5 });
  });
});

describe("attempts", () => {
  const attempts = async (world: Awaited<ReturnType<typeof newWorld>>, id: string, limit = 100) =>
    (await world.t.query(api.lib.attempts, { id, limit }))!;

  test("of a job that has not begun are none", async () => {
    const world = await newWorld();
    expect(await attempts(world, await world.enqueue())).toEqual([]);
  });

  test("end with the one that runs, and then succeeds", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    const begun = { attempt: 1, worker: "a", startedAt: T0 };
    expect(await attempts(world, id)).toEqual([{ ...begun, outcome: "running" }]);
    await world.advance(100);
    await worker.complete([succeeded(job!)]);
    expect(await attempts(world, id)).toEqual([
      { ...begun, outcome: "succeeded", endedAt: T0 + 100 },
    ]);
  });

  // Shows LF-33, DE-21, CR-16, E13.
  test("that failed are listed once each, with their errors, whether or not they have rows", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    const worker = world.worker("a");
    for (const error of ["one", "two"]) {
      const [job] = await worker.claim();
      await worker.complete([failed(job!, error)]);
      await world.t.mutation(api.operate.retryJob, { id });
    }
    await worker.claim();
    const rows = await attempts(world, id);
    expect(rows.at(-1)).toMatchObject({ attempt: 3, outcome: "running" });
    const [job] = [{ id, attempt: 3 }];
    await worker.complete([failed(job, "three")]);
    expect((await attempts(world, id)).at(-1)).toMatchObject({
      ...{ attempt: 3, outcome: "failed", error: "three", worker: "a" },
    });
    const numbers = (await attempts(world, id)).map(({ attempt }) => attempt);
    expect(new Set(numbers).size).toBe(numbers.length);
  });

  test("are the last ones, in order, where there are more than were asked for", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    await world.t.run(async (ctx) => {
      for (let attempt = 1; attempt <= 5; attempt++) {
        const row = { job: id, attempt, outcome: "released" as const, endedAt: T0 };
        await ctx.db.insert("attempts", row);
      }
      await ctx.db.patch("jobs", id, { attempt: 5 });
    });
    await world.worker("a").claim();
    expect((await attempts(world, id, 3)).map(({ attempt }) => attempt)).toEqual([4, 5, 6]);
  });
});

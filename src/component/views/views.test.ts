import { describe, expect, test } from "vitest";
import { RETRY_OFF } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import { failed, newWorld, refusal, succeeded, T0, type World } from "../setup.test.js";

describe("progress", () => {
  // Shows DE-06, D6.
  test("is shown while the job runs, the latest of it, and no more when it has ended", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    expect(await worker.progress([{ id, attempt: 1, value: 0.1 }])).toEqual(["ok"]);
    await worker.progress([{ id, attempt: 1, value: { done: 2, of: 8 } }]);
    expect(await world.status(id)).toMatchObject({ progress: { done: 2, of: 8 } });
    expect(await world.all("progress")).toHaveLength(1);
    await worker.complete([succeeded(job!)]);
    expect(await world.status(id)).not.toHaveProperty("progress");
  });

  test("reported twice for one job in one call is one row", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    const worker = world.worker("a");
    await worker.claim();
    const update = { id, attempt: 1 };
    await worker.progress([
      { ...update, value: 1 },
      { ...update, value: 2 },
    ]);
    expect((await world.all("progress")).map((row) => row.value)).toEqual([2]);
  });

  test("of a lease that is lost is answered so, and the rest of the batch stands", async () => {
    const world = await newWorld();
    const [one, two] = await world.enqueueBatch([1, 2]);
    const worker = world.worker("a");
    await worker.claim(2);
    const answers = await worker.progress([
      { id: one!, attempt: 7, value: 1 },
      { id: two!, attempt: 1, value: 1 },
    ]);
    expect(answers).toEqual(["leaseLost", "ok"]);
    expect(await world.status(one!)).not.toHaveProperty("progress");
  });

  test("of an attempt before is not shown for the next", async () => {
    const world = await newWorld({ maxResets: 3 });
    const id = await world.enqueue();
    const worker = world.worker("a");
    await worker.claim();
    await worker.progress([{ id, attempt: 1, value: 0.9 }]);
    await world.advance(10_500);
    await world.worker("b").claim();
    expect(await world.status(id)).not.toHaveProperty("progress");
  });

  test("renews no lease: only a beat says that the worker lives", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    const worker = world.worker("a");
    await worker.claim();
    await world.advance(5_000);
    await worker.progress([{ id, attempt: 1, value: 1 }]);
    await world.advance(5_500);
    expect(await world.status(id)).toMatchObject({ status: "pending" });
  });

  // Shows D6.
  test("over 8 KiB is refused", async () => {
    const world = await newWorld();
    const updates = [{ id: "x", attempt: 1, value: "x".repeat(9_000) }];
    const refused = await refusal(world.worker("a").progress(updates));
    expect(refused).toMatchObject({ code: "payloadTooLarge" });
  });
});

describe("counts", () => {
  // Shows SG-40, WP-33, K6.
  test("are bounded, and say when there is more", async () => {
    const world = await newWorld();
    await world.enqueueBatch([1, 2, 3, 4]);
    await world.worker("a").claim(1);
    const counts = await world.t.query(api.lib.counts, { queue: "tiles", limit: 2 });
    expect(counts).toMatchObject({
      pending: { count: 2, more: true },
      running: { count: 1, more: false },
      succeeded: { count: 0, more: false },
    });
  });

  test("of a queue that nothing was ever put into are zero: a page may watch it before its first job", async () => {
    const world = await newWorld();
    const counts = await world.t.query(api.lib.counts, { queue: "later" });
    expect(counts.pending).toEqual({ count: 0, more: false });
  });

  test.each([0, -1, 1_001, 1.5])("up to a limit of %s are refused", async (limit) => {
    const world = await newWorld();
    const refused = await refusal(world.t.query(api.lib.counts, { queue: "tiles", limit }));
    expect(refused).toMatchObject({ code: "invalidArgument" });
  });
});

describe("workers", () => {
  // Shows LF-16, K16.
  test("are listed with the jobs that they hold, the one seen last first", async () => {
    const world = await newWorld();
    const id = await world.enqueue({}, { name: "a tile" });
    await world.worker("busy").claim(1, { labels: ["gpu"] });
    await world.advance(1_000);
    await world.worker("idle").claim();
    const workers = await world.t.query(api.lib.workers, {});
    const queues = ["tiles"];
    expect(workers.map(({ session: _, id: _id, ...worker }) => worker)).toEqual([
      {
        ...{ name: "idle", isLane: false, state: "waiting", lastSeenAt: T0 + 1_000, queues },
        ...{ holding: [], since: T0 + 1_000, done: 0 },
      },
      {
        ...{ name: "busy", isLane: false, state: "working", lastSeenAt: T0, since: T0, done: 0 },
        ...{ queues, labels: ["gpu"] },
        holding: [{ id, queue: "tiles", attempt: 1, name: "a tile", startedAt: T0 }],
      },
    ]);
    expect(await world.t.query(api.lib.workers, { limit: 1 })).toHaveLength(1);
  });

  // Shows LF-16.
  test("have been seen with their last claim, beat or completion", async () => {
    const world = await newWorld();
    await world.enqueue();
    const worker = world.worker("a");
    const seenAt = async () => (await world.t.query(api.lib.workers, {}))[0]!.lastSeenAt;
    const [job] = await worker.claim();
    expect(await seenAt()).toBe(T0);
    await world.advance(4_000);
    await worker.heartbeat([job!]);
    expect(await seenAt()).toBe(T0 + 4_000);
    await world.advance(4_000);
    await worker.complete([succeeded(job!)]);
    expect(await seenAt()).toBe(T0 + 8_000);
  });

  test("of one queue are the workers that last claimed from it", async () => {
    const world = await newWorld();
    await world.worker("tiler").claim();
    world.queue.name = "other";
    await world.worker("another").claim();
    const named = async (queue: string) =>
      (await world.t.query(api.lib.workers, { queue })).map(({ name }) => name);
    expect(await named("tiles")).toEqual(["tiler"]);
    expect(await named("other")).toEqual(["another"]);
    expect(await named("none")).toEqual([]);
  });

  test("that hold more than is looked up are listed with all the ids", async () => {
    const world = await newWorld();
    for (const name of ["a", "b", "c", "d", "e"]) {
      await world.enqueueBatch(Array.from({ length: 64 }, (_, n) => n));
      await world.worker(name).claim(64);
    }
    const holding = (await world.t.query(api.lib.workers, {})).flatMap((one) => one.holding);
    expect(holding).toHaveLength(320);
    expect(holding.filter(({ startedAt }) => startedAt !== undefined)).toHaveLength(256);
  });

  test.each([0, -1, 101, 1.5])(
    "are not listed %s at a time: the list is bounded",
    async (limit) => {
      const world = await newWorld();
      const asked = world.t.query(api.lib.workers, { limit });
      expect((await refusal(asked)).code).toBe("invalidArgument");
    },
  );

  test("that only beat are seen under their token's name until they claim", async () => {
    const world = await newWorld();
    const worker = world.worker("a");
    await worker.heartbeat([]);
    expect((await worker.session()).name).toBe("test token");
    await worker.claim();
    expect((await worker.session()).name).toBe("a");
  });
});

describe("has work", () => {
  const hasWork = async (world: World, queues = ["tiles"]) =>
    await world.t.query(api.lib.hasWork, { token: world.token, queues });

  // Shows C22.
  test("is false before the first job, true while one is pending, false when all are taken", async () => {
    const world = await newWorld({ shards: 8 });
    expect(await hasWork(world)).toBe(false);
    await world.enqueue();
    expect(await hasWork(world)).toBe(true);
    await world.worker("a").claim();
    expect(await hasWork(world)).toBe(false);
  });

  // Rules out D6f.
  test("is true for a job that came back, though cursors have passed its first place", async () => {
    const world = await newWorld();
    await world.enqueue();
    const worker = world.worker("a");
    await worker.claim();
    await world.sweep();
    expect(await hasWork(world)).toBe(false);
    await world.advance(10_500);
    expect(await hasWork(world)).toBe(true);
  });

  test("checks every queue of the call", async () => {
    const world = await newWorld();
    await world.enqueue();
    expect(await hasWork(world, ["other", "tiles"])).toBe(true);
    expect(await hasWork(world, ["other"])).toBe(false);
  });
});

describe("status", () => {
  test("of a running job reads no session, so that beats wake no page", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    await world.worker("a").claim();
    await world.t.run(async (ctx) => {
      const session = (await ctx.db.query("sessions").first())!;
      await ctx.db.delete("sessions", session._id);
      await ctx.db.patch("jobs", id, {
        status: "succeeded",
        finishedAt: T0,
        result: { inline: 1 },
      });
    });
    expect(await world.status(id)).toMatchObject({ status: "succeeded", worker: "a", result: 1 });
  });
});

test("an error is cut to its first 200 characters in a list and a reason, and none of these is half", async () => {
  const world = await newWorld({ retry: RETRY_OFF });
  await world.enqueue({});
  const worker = world.worker("w");
  const [leased] = await worker.claim();
  await worker.complete([failed(leased!, `x${"🙂".repeat(200)}`)]);
  const paginationOpts = { numItems: 10, cursor: null };
  const [job] = (await world.t.query(api.observe.list, { queue: "tiles", paginationOpts })).page;
  expect(job!.error).toMatch(/^x(🙂){99}/u);
  expect(job!.error).not.toMatch(/\p{Surrogate}/u);
  expect(job!.error!.length).toBeLessThanOrEqual(200);
  const why = await world.t.query(api.observe.why, { id: job!.id });
  expect(JSON.stringify(why)).toMatch(/(🙂){99}/u);
  expect(JSON.stringify(why)).not.toContain("\\ud83d");
});

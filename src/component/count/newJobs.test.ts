/** The options of a new job: every option where it is kept, and every wrong one refused before anything is written. */
import { describe, expect, test } from "vitest";
import { RETRY_DEFAULT, type JobOptions } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import { newToldWorld, newWorld, refusal, succeeded, T0 } from "../setup.test.js";

const DAY = 24 * 60 * 60_000;

describe("a job's row", () => {
  // Shows DE-23, WP-20, A19.
  test("has every option of the call, labels and tags each once; a default takes no bytes", async () => {
    const world = await newWorld();
    const full = await world.enqueue(1, {
      ...{ name: "Nightly", priority: -10, group: "acme", cost: 512 },
      ...{ tags: ["b", "a", "b"], labels: ["gpu", "cuda-12.4", "gpu"] },
    });
    expect(await world.job(full)).toMatchObject({
      ...{ name: "Nightly", priority: -10, group: "acme", cost: 512 },
      ...{ tags: ["b", "a"], labels: ["cuda-12.4", "gpu"] },
    });
    const plain = await world.enqueue(1, {
      priority: -0,
      cost: 1,
      tags: [],
      labels: [],
      rules: {},
    });
    const fields = Object.keys(await world.job(plain));
    for (const absent of ["priority", "cost", "tags", "labels", "handler", "context", "key"]) {
      expect(fields).not.toContain(absent);
    }
  });

  // Shows WP-23, D13.
  test("a context is kept as payloads are: in the row, or apart if it is large", async () => {
    const world = await newToldWorld();
    const small = await world.enqueue(1, { context: { viewer: "ann" } });
    const large = await world.enqueue(1, { context: "x".repeat(1_000) });
    expect((await world.job(small)).context).toEqual({ inline: { viewer: "ann" } });
    expect((await world.job(large)).context).toHaveProperty("row");
  });

  // Rules out D19.
  test("rules that mean the same are one row, however they are written", async () => {
    const world = await newWorld();
    const retry = { ...RETRY_DEFAULT };
    const one = await world.enqueue(1, {
      rules: { retry, leaseMs: 5_000, onCompleteExclude: ["failed", "canceled"] },
    });
    const two = await world.enqueue(1, {
      rules: { leaseMs: 5_000, onCompleteExclude: ["canceled", "failed", "failed"], retry },
    });
    const other = await world.enqueue(1, { rules: { leaseMs: 6_000 } });
    expect((await world.job(one)).rules).toBe((await world.job(two)).rules);
    expect((await world.job(one)).rules).not.toBe((await world.job(other)).rules);
    expect(await world.all("jobRules")).toHaveLength(2);
  });

  // Shows F6.
  test("a job's own lease reaches its worker", async () => {
    const world = await newWorld();
    await world.enqueue(1, { rules: { leaseMs: 5_000 } });
    expect(await world.worker("a").claim()).toMatchObject([{ leaseMs: 5_000 }]);
  });
});

describe("when a job falls due", () => {
  test.each<[string, JobOptions]>([
    ["now", {}],
    ["a time in the past", { runAt: T0 - 300 * DAY }],
    ["this very millisecond", { runAt: T0 }],
    ["in no time", { runAfter: 0 }],
  ])("%s: it is claimable at once", async (_when, options) => {
    const world = await newWorld();
    const id = await world.enqueue(1, options);
    expect(await world.job(id)).toMatchObject({ status: "pending" });
    expect(await world.all("timers")).toEqual([]);
  });

  test("later: it waits, and an alarm is there for it", async () => {
    const world = await newWorld();
    const at = await world.enqueue(1, { runAt: T0 + 1_500.25 });
    const after = await world.enqueue(1, { runAfter: 3 * 366 * DAY });
    expect(await world.job(at)).toMatchObject({ status: "scheduled", order: T0 + 1_501, shard: 0 });
    expect(await world.job(after)).toMatchObject({ order: T0 + 3 * 366 * DAY });
    expect(await world.worker("a").claim()).toEqual([]);
    expect(await world.all("timers")).toHaveLength(2);
    await world.advance(2_000);
    expect(await world.job(at)).toMatchObject({ status: "pending" });
  });

  // Rules out D34.
  test("a thousand jobs due at about the same time share their alarms", async () => {
    const world = await newWorld();
    const jobs = Array.from({ length: 1_000 }, (_, n) => ({
      payload: n,
      options: { runAfter: 30 * DAY + n },
    }));
    await world.enqueueJobs(jobs);
    expect((await world.all("timers")).length).toBeLessThanOrEqual(2);
  });

  // Rules out D34, P28.
  test("a mutation that enqueues them one by one schedules one function, not one each", async () => {
    const world = await newWorld();
    await world.t.mutation(api.lib.declare, { queues: [world.queue] });
    await world.t.run(async (ctx) => {
      for (let n = 0; n < 200; n += 1) {
        const jobs = [{ payload: n, options: { runAfter: 60_000, expiresAfterMs: 60_000 } }];
        await ctx.runMutation(api.lib.enqueue, { queue: world.queue, jobs });
      }
    });
    expect(await world.all("jobs")).toHaveLength(200);
    expect((await world.all("timers")).map(({ kind }) => kind).sort()).toEqual([
      "dispatcher",
      "expiry",
    ]);
    const scheduled = await world.t.run((ctx) =>
      ctx.db.system.query("_scheduled_functions").collect(),
    );
    expect(scheduled).toHaveLength(2);
  });

  test("at a higher priority: it is in its band from then on", async () => {
    const world = await newWorld();
    await world.enqueue("plain", { runAfter: 100 });
    await world.enqueue("urgent", { runAfter: 100, priority: 10 });
    await world.advance(500);
    const jobs = await world.worker("a").claim(2);
    expect(jobs.map((job) => job.payload)).toEqual(["urgent", "plain"]);
  });
});

describe("how long a job may wait", () => {
  test("it is counted from when the job falls due, by the job's own bound before its queue's", async () => {
    const world = await newWorld({ expiresAfterMs: 60_000 });
    const own = await world.enqueue(1, { expiresAfterMs: 5_000 });
    const late = await world.enqueue(1, { runAfter: 10_000 });
    expect(await world.job(own)).toMatchObject({ expiresAt: T0 + 5_000 });
    expect(await world.job(late)).toMatchObject({ expiresAt: T0 + 70_000 });
    expect(await world.all("expiries")).toHaveLength(2);
    await world.advance(7_000);
    expect(await world.status(own)).toMatchObject({ status: "failed" });
    expect(await world.status(late)).toMatchObject({ status: "scheduled" });
  });

  test("a job that was begun in time does not expire", async () => {
    const world = await newWorld({ leaseMs: 60_000 });
    const id = await world.enqueue(1, { expiresAfterMs: 5_000 });
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await world.advance(7_000);
    await worker.complete([succeeded(job!)]);
    expect(await world.status(id)).toMatchObject({ status: "succeeded" });
    expect(await world.all("expiries")).toEqual([]);
  });
});

describe("a queue that is being drained", () => {
  test("takes no new jobs, and says so", async () => {
    const world = await newWorld();
    await world.enqueue();
    await world.t.run(async (ctx) => {
      const queue = await ctx.db.query("queues").first();
      await ctx.db.patch("queues", queue!._id, { drainingAt: T0 });
    });
    const refused = await refusal(world.enqueue());
    expect(refused).toMatchObject({ code: "queueDraining", queue: "tiles" });
  });
});

describe("many jobs of one kind", () => {
  test("make sure of their route once, and of the priorities in use", async () => {
    const world = await newWorld();
    const jobs = [5, 5, 0, 5].map((priority) => ({
      payload: priority,
      options: { labels: ["gpu"], priority },
    }));
    await world.enqueueJobs(jobs);
    const [route, ...others] = await world.all("routes");
    expect(others).toEqual([]);
    expect(route).toMatchObject({ labels: ["gpu"], priorities: [5, 0] });
  });

  test("may differ within one call: each route has its number", async () => {
    const world = await newWorld();
    const jobs = ["a", "b", "a"].map((label) => ({ payload: label, options: { labels: [label] } }));
    await world.enqueueJobs(jobs);
    const shards = (await world.all("jobs")).map((job) => job.shard);
    expect(shards[0]).toBe(shards[2]);
    expect(shards[0]).not.toBe(shards[1]);
  });

  test("of more kinds than a queue has routes are refused, all of them", async () => {
    const world = await newWorld();
    const jobs = Array.from({ length: 64 }, (_, n) => ({
      payload: n,
      options: { labels: [`user-${n}`] },
    }));
    expect(await refusal(world.enqueueJobs(jobs))).toMatchObject({ code: "tooManyRoutes" });
    expect(await world.all("jobs")).toEqual([]);
  });
});

// Shows WP-19, B5.
describe("a wrong option is refused with its name, and nothing of the call is enqueued", () => {
  test.each<[string, JobOptions]>([
    ["priority", { priority: 11 }],
    ["priority", { priority: -11 }],
    ["priority", { priority: 0.5 }],
    ["priority", { priority: NaN }],
    ["runAt", { runAt: T0 + 1, runAfter: 1 }],
    ["runAt", { runAt: Math.floor(T0 / 1_000) }],
    ["runAt", { runAt: T0 * 1_000 }],
    ["runAt", { runAt: NaN }],
    ["runAfter", { runAfter: Infinity }],
    ["runAfter", { runAfter: -5 }],
    ["The key of a job", { key: { value: "" } }],
    ["The key of a job", { key: { value: "x".repeat(257) } }],
    ["windowMs of a key", { key: { value: "k", windowMs: 0 } }],
    ["windowMs of a key", { key: { value: "k", windowMs: 1e15 } }],
    ["The name of a job", { name: " " }],
    ["The group of a job", { group: "x".repeat(129) }],
    ["The tags of a job", { tags: Array.from({ length: 17 }, (_, n) => `${n}`) }],
    ["A tag", { tags: [""] }],
    ["The labels of a job", { labels: Array.from({ length: 17 }, (_, n) => `${n}`) }],
    ["labels", { labels: ["a,b"] }],
    ["labels", { labels: ["größe"] }],
    ["cost", { cost: 0 }],
    ["cost", { cost: 1.5 }],
    ["cost", { cost: 1_000_000_001 }],
    ["expiresAfterMs", { expiresAfterMs: 999 }],
    ["maxResets", { rules: { maxResets: -1 } }],
    ["leaseMs", { rules: { leaseMs: 0 } }],
    ["timeoutMs", { rules: { timeoutMs: 999 } }],
    ["maxAttempts of retry", { rules: { retry: { ...RETRY_DEFAULT, maxAttempts: 0 } } }],
    ["base of retry", { rules: { retry: { ...RETRY_DEFAULT, base: 0.5 } } }],
    ["maxBackoffMs of retry", { rules: { retry: { ...RETRY_DEFAULT, maxBackoffMs: Infinity } } }],
  ])("%s: %o", async (argument, options) => {
    const world = await newWorld();
    const call = world.enqueueJobs([{ payload: "innocent" }, { payload: 1, options }]);
    expect(await refusal(call)).toMatchObject({ code: "invalidArgument", argument });
    expect(await world.all("jobs")).toEqual([]);
  });

  test.each([
    ["payloadTooLarge", "x".repeat(1_100_000)],
    ["invalidPayload", Array.from({ length: 8_193 }, () => 0)],
  ])("a context that no row can hold: %s", async (code, context) => {
    const world = await newWorld();
    // Wide values are refused by the platform itself where they cross into the component.
    const call = world.t.mutation(api.lib.enqueue, {
      queue: world.queue,
      jobs: [{ payload: 1, options: { context } }],
    });
    const error = await call.then(
      () => "was accepted",
      (thrown: any) => thrown.data?.code ?? thrown.message,
    );
    expect(error).toMatch(new RegExp(`${code}|Array length`));
  });
});

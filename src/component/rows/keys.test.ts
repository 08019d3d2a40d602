/** Uniqueness keys: the job that gets one, the fate of a second job, and that every way out frees it. */
import { describe, expect, test } from "vitest";
import type { UniqueKey } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import {
  app,
  failed,
  newToldWorld,
  newWorld,
  refusal,
  succeeded,
  type World,
} from "../setup.test.js";

/** Some time: longer than a lease's end is noticed, and short for a clock that goes in steps. */
const SPAN = 20_000;

/** One job with the key `k`. */
async function take(world: World, key: Partial<UniqueKey> = {}, payload: string = "p") {
  const [one] = await world.enqueueJobs([{ payload, options: { key: { value: "k", ...key } } }]);
  return one!;
}

describe("a key is taken while its job is active", () => {
  // Shows LF-35, DE-04, A4, A11.
  test("a second job gets the id of the first, while it waits and while it runs", async () => {
    const world = await newWorld();
    const first = await take(world);
    expect(first.isNew).toBe(true);
    expect(await take(world)).toEqual({ id: first.id, isNew: false });
    await world.worker("a").claim();
    expect(await take(world)).toEqual({ id: first.id, isNew: false });
    expect(await world.all("jobs")).toHaveLength(1);
  });

  test("also while it is due later", async () => {
    const world = await newWorld();
    const key = { value: "k" };
    const [first] = await world.enqueueJobs([{ payload: 1, options: { key, runAfter: SPAN } }]);
    expect(await take(world)).toEqual({ id: first!.id, isNew: false });
  });

  test("two jobs of one call with one key are one job", async () => {
    const world = await newWorld();
    const options = { key: { value: "k" } };
    const jobs = ["a", "b", "c"].map((payload) => ({ payload, options }));
    const enqueued = await world.enqueueJobs(jobs);
    expect(enqueued.map(({ isNew }) => isNew)).toEqual([true, false, false]);
    expect(new Set(enqueued.map(({ id }) => id)).size).toBe(1);
  });

  // Shows M5.
  test("another key, and the same key in another queue, are free", async () => {
    const world = await newWorld();
    await take(world);
    expect((await take(world, { value: "other" })).isNew).toBe(true);
    world.queue.name = "others";
    expect((await take(world)).isNew).toBe(true);
    expect(await world.all("keys")).toHaveLength(3);
  });

  test("`refuse` names the owner, and the whole call is undone", async () => {
    const world = await newWorld();
    const { id } = await take(world);
    const refused = world.enqueueJobs([
      { payload: "innocent" },
      { payload: 2, options: { key: { value: "k", onConflict: "refuse" } } },
    ]);
    expect(await refusal(refused)).toMatchObject({ code: "duplicateKey", id, key: "k" });
    expect(await world.all("jobs")).toHaveLength(1);
  });
});

describe("every way out gives the key back", () => {
  const ways: Record<string, (world: World, id: string) => Promise<void>> = {
    succeed: async (world) => {
      const worker = world.worker("a");
      const [job] = await worker.claim();
      await worker.complete([succeeded(job!)]);
    },
    fail: async (world) => {
      const worker = world.worker("a");
      const [job] = await worker.claim();
      await worker.complete([failed(job!)]);
    },
    timeOut: async (world) => {
      const worker = world.worker("a");
      const [job] = await worker.claim();
      await worker.heartbeat([job!]);
      await world.advance(11_000);
    },
    "cancel while it waits": async (world, id) => {
      await world.t.mutation(api.operate.cancelJob, { id });
    },
    "cancel while it runs": async (world, id) => {
      const worker = world.worker("a");
      const [job] = await worker.claim();
      await world.t.mutation(api.operate.cancelJob, { id });
      await worker.complete([failed(job!)]);
    },
    expire: async (world) => {
      await world.advance(SPAN + 5_000);
    },
    "delete while it waits": async (world, id) => {
      await world.t.mutation(api.operate.deleteJob, { id });
    },
    "delete while it runs": async (world, id) => {
      await world.worker("a").claim();
      await world.t.mutation(api.operate.deleteJob, { id });
    },
    purge: async (world) => {
      const worker = world.worker("a");
      const [job] = await worker.claim();
      await worker.complete([succeeded(job!)]);
      for (let i = 0; i < 20 && (await world.all("jobs")).length > 0; i += 1) {
        await world.advance(SPAN);
      }
      expect(await world.all("jobs")).toEqual([]);
    },
  };

  test.each(Object.keys(ways))("%s", async (way) => {
    const retention = { succeededMs: 0, failedMs: SPAN, canceledMs: SPAN, timedOutMs: SPAN };
    const world = await newWorld({ maxResets: 0, expiresAfterMs: SPAN, retention });
    const { id } = await take(world);
    await ways[way]!(world, id);
    expect(await world.all("keys")).toEqual([]);
    const next = await take(world);
    expect(next.isNew).toBe(true);
    expect(next.id).not.toBe(id);
  });

  test("but a job that is put back keeps it: it is still to be done", async () => {
    const world = await newWorld({ maxResets: 3 });
    const { id } = await take(world);
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await worker.heartbeat([job!]);
    await world.advance(11_000);
    expect(await world.status(id)).toMatchObject({ status: "pending", resets: 1 });
    expect(await take(world)).toEqual({ id, isNew: false });
  });

  test("a job that ends late leaves the key to its present owner", async () => {
    const world = await newWorld();
    const first = await take(world, { windowMs: 1_000 });
    await world.advance(1_000);
    const second = await take(world);
    expect(second.isNew).toBe(true);
    await world.t.mutation(api.operate.cancelJob, { id: first.id });
    expect(await take(world)).toEqual({ id: second.id, isNew: false });
  });
});

describe("`replace`", () => {
  test("cancels a job that waits, and onComplete receives the reason", async () => {
    const world = await newToldWorld();
    const first = await take(world);
    const second = await take(world, { onConflict: "replace" }, "newer");
    expect(second.isNew).toBe(true);
    expect(await world.status(first.id)).toMatchObject({ status: "canceled" });
    const told = await world.all("told");
    expect(told).toMatchObject([{ id: first.id, status: "canceled" }]);
    expect(told[0]!.error).toContain("replaced");
    expect(await world.all("keys")).toMatchObject([{ job: second.id }]);
    expect((await world.worker("a").claim(5)).map((job) => job.payload)).toEqual(["newer"]);
  });

  test("cancels one that is due later or backing off, too", async () => {
    const world = await newWorld();
    const options = { key: { value: "k" }, runAfter: SPAN };
    const [first] = await world.enqueueJobs([{ payload: 1, options }]);
    expect((await take(world, { onConflict: "replace" })).isNew).toBe(true);
    expect(await world.status(first!.id)).toMatchObject({ status: "canceled" });
  });

  test("leaves a job that runs, and returns it: it says that it came too late", async () => {
    const world = await newWorld();
    const { id } = await take(world);
    await world.worker("a").claim();
    const answer = { id, isNew: false, tooLate: true };
    expect(await take(world, { onConflict: "replace" })).toEqual(answer);
    expect(await world.status(id)).toMatchObject({ status: "running" });
    expect(await world.all("jobs")).toHaveLength(1);
  });

  // Rules out P30.
  test("within one call: the last one stays, and the key's one row is written over", async () => {
    const world = await newWorld();
    const options = { key: { value: "k", onConflict: "replace" as const } };
    const jobs = ["a", "b", "c"].map((payload) => ({ payload, options }));
    const enqueued = await world.enqueueJobs(jobs);
    expect(enqueued.map(({ isNew }) => isNew)).toEqual([true, true, true]);
    expect((await world.worker("a").claim(5)).map((job) => job.payload)).toEqual(["c"]);
    expect(await world.all("keys")).toMatchObject([{ job: enqueued[2]!.id }]);
  });

  test("a callback that enqueues the same key itself finds it taken, and nothing is there twice", async () => {
    const world = await newToldWorld();
    await take(world);
    const again: unknown[] = [];
    app.onComplete = async (ctx) => {
      const jobs = [{ payload: "from the callback", options: { key: { value: "k" } } }];
      again.push(...(await ctx.runMutation(api.lib.enqueue, { queue: world.queue, jobs })));
    };
    const second = await take(world, { onConflict: "replace" }, "newer");
    expect(again).toEqual([{ id: second.id, isNew: false }]);
  });
});

describe("a key with a window", () => {
  test("stays taken until then, however its job ends, and is free from then on", async () => {
    const world = await newWorld();
    const first = await take(world, { windowMs: SPAN });
    await world.t.mutation(api.operate.cancelJob, { id: first.id });
    await world.advance(SPAN - 1);
    expect(await take(world, { windowMs: SPAN })).toEqual({ id: first.id, isNew: false });
    await world.advance(1);
    const second = await take(world, { windowMs: SPAN });
    expect(second.isNew).toBe(true);
    expect(await world.all("keys")).toHaveLength(1);
  });

  test("`replace` begins the window anew, and returns a job that ended within it", async () => {
    const world = await newWorld();
    const key = { windowMs: SPAN, onConflict: "replace" as const };
    await take(world, key);
    await world.advance(SPAN / 2);
    const second = await take(world, key);
    expect(second.isNew).toBe(true);
    expect(await world.all("keys")).toMatchObject([{ until: Date.now() + SPAN }]);
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await worker.complete([succeeded(job!)]);
    expect(await take(world, key)).toEqual({ id: second.id, isNew: false, tooLate: true });
  });
});

// Rules out D31c.
describe("a job that is retried takes its key again", () => {
  async function retry(world: World, id: string): Promise<boolean> {
    return (await world.t.mutation(api.operate.retryJob, { id })).retried;
  }

  // Rules out D31c.
  test("if no other job has it: never are two with one key active", async () => {
    const world = await newWorld();
    const { id } = await take(world);
    await world.t.mutation(api.operate.cancelJob, { id });
    expect(await retry(world, id)).toBe(true);
    expect(await take(world)).toEqual({ id, isNew: false });
    await world.t.mutation(api.operate.cancelJob, { id });
    const { id: other } = await take(world);
    const answer = await world.t.mutation(api.operate.retryJob, { id });
    expect(answer).toEqual({ retried: false, status: "canceled", keyTakenBy: other });
    expect(await world.status(id)).toMatchObject({ status: "canceled" });
    expect(await world.all("keys")).toMatchObject([{ job: other }]);
  });

  test("a window is not begun again: once it is over, the job has none", async () => {
    const world = await newWorld();
    const { id } = await take(world, { windowMs: SPAN });
    const { until } = (await world.all("keys"))[0]!;
    await world.t.mutation(api.operate.cancelJob, { id });
    await world.advance(SPAN / 2);
    expect(await retry(world, id)).toBe(true);
    expect(await world.all("keys")).toMatchObject([{ job: id, until }]);
    await world.t.mutation(api.operate.cancelJob, { id });
    await world.advance(SPAN / 2);
    expect(await retry(world, id)).toBe(true);
    expect((await take(world)).isNew).toBe(true);
  });
});

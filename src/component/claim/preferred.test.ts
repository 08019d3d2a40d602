import { describe, expect, test } from "vitest";
import type { JobOptions } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import { pass } from "../edges/scheduled.test.js";
import { failed, newWorld, refusal, released, type World } from "../setup.test.js";

type Prefer = NonNullable<JobOptions["prefer"]>;

const payloads = (jobs: { payload?: unknown }[]) => jobs.map((job) => job.payload);
const gpu = { labels: ["gpu"] };
const forGpu: Prefer = { labels: ["gpu"], forMs: 10_000 };
const forA: Prefer = { worker: "a", forMs: 10_000 };

/** How many jobs are named to a worker of this name with these labels, and the ones that it gets. */
async function asks(world: World, name: string, labels: string[] = []) {
  const worker = world.worker(name);
  const offer = { labels };
  const { jobs } = await worker.waiting(offer);
  const named = jobs.filter(({ worker = name }) => worker === name).map(({ id }) => id);
  return {
    named: named.length,
    got: payloads(await worker.claim(9, { ...offer, named } as never)),
  };
}

describe("a job that prefers workers for a time", () => {
  // Shows C19, G15.
  test("goes at once to one that fits, by labels, numbers and name", async () => {
    const world = await newWorld({ shards: 4 });
    await world.enqueue("labels", { prefer: forGpu });
    await world.enqueue("number", { prefer: { labels: ["vramGb>=24"], forMs: 10_000 } });
    await world.enqueue("name", { prefer: forA });
    await world.enqueue("both", { prefer: { ...forGpu, ...forA } });
    expect(await asks(world, "b")).toEqual({ named: 0, got: [] });
    expect(await asks(world, "b2", ["vramGb=23"])).toEqual({ named: 0, got: [] });
    expect(await asks(world, "c", ["vramGb=24"])).toEqual({ named: 1, got: ["number"] });
    expect(await asks(world, "d", ["gpu"])).toEqual({ named: 1, got: ["labels"] });
    const { got } = await asks(world, "a", ["gpu"]);
    expect(got.sort()).toEqual(["both", "name"]);
  });

  // Shows C19.
  test("is left alone by others, which learn of it when the time is over, and goes before new jobs", async () => {
    const world = await newWorld();
    await world.enqueue("preferring", { prefer: forGpu });
    await world.enqueue("a number", { prefer: { labels: ["vramGb>=24"], forMs: 10_000 } });
    const other = world.worker("other");
    expect(await other.claim(9)).toEqual([]);
    expect([await other.hasWork(), await other.peek()]).toEqual([false, []]);
    await pass(world, 9_000);
    await world.enqueue("plain");
    expect(payloads(await other.peek())).toEqual(["plain"]);
    expect(await other.hasWork({}, { on: true })).toBe(true);
    await pass(world, 2_100);
    expect(payloads(await other.peek())).toEqual(["preferring", "a number", "plain"]);
    // Its cursor had passed these jobs before.
    expect(payloads(await other.claim(9))).toEqual(["preferring", "a number", "plain"]);
    expect(await world.all("expiries")).toEqual([]);
    expect((await world.all("jobs")).filter(({ prefer }) => prefer !== undefined)).toEqual([]);
  });

  test("of another name is no work for a worker that says its own, until the time is over", async () => {
    const world = await newWorld({ shards: 2 });
    for (let i = 0; i < 3; i += 1)
      await world.enqueueBatch(
        Array.from({ length: 50 }, () => "a"),
        { prefer: forA },
      );
    const other = world.worker("other");
    expect(await other.hasWork()).toBe(true);
    expect(await other.hasWork({ worker: "other" })).toBe(false);
    expect(await other.peek({ worker: "other", limit: 1 })).toEqual([]);
    expect(await other.hasWork({ worker: "a" })).toBe(true);
    await world.enqueue("mine");
    expect(await other.hasWork({ worker: "other" })).toBe(true);
    expect(payloads(await other.peek({ worker: "other" }))).toEqual(["mine"]);
    expect(payloads(await other.claim(9))).toEqual(["mine"]);
    expect(await other.hasWork({ worker: "other" })).toBe(false);
    await pass(world, 11_100);
    expect(await other.hasWork({ worker: "other" })).toBe(true);
  });

  test.each([[""], [" "], ["w".repeat(2 ** 20)]])(
    "is not looked for by a worker called %o",
    async (worker) => {
      const world = await newWorld();
      const asked = refusal(world.worker("other").hasWork({ worker }));
      expect(await asked).toMatchObject({ code: "invalidArgument" });
    },
  );

  test("holds up no other job, however many wait before", async () => {
    const world = await newWorld();
    for (let i = 0; i < 8; i += 1)
      await world.enqueueBatch(
        Array.from({ length: 50 }, () => "theirs"),
        { prefer: forA },
      );
    await world.enqueue("mine");
    const other = world.worker("other");
    expect(payloads(await other.claim(5))).toEqual(["mine"]);
    await world.enqueue("next");
    expect(payloads(await other.claim(5))).toEqual(["next"]);
    expect(await other.hasWork({}, { on: true })).toBe(false);
  });

  test("is its worker's by name with the first claim, also where that comes after a beat", async () => {
    const world = await newWorld();
    const id = await world.enqueue("job", { prefer: { worker: "a", forMs: 60_000 } });
    const a = world.worker("a");
    await a.heartbeat([]);
    expect(await a.claim()).toHaveLength(1);
    expect((await world.job(id)).worker).toBe("a");
  });

  test("goes to a session that passed it under other labels, by the cursor of that claim", async () => {
    const world = await newWorld();
    await world.enqueue("job", { prefer: forGpu });
    const worker = world.worker("a");
    expect(await worker.claim(1, { labels: ["cpu"] })).toEqual([]);
    expect(await worker.hasWork({ labels: ["cpu"] }, { on: true })).toBe(false);
    expect(await worker.hasWork(gpu, { on: true })).toBe(true);
    expect(await worker.claim(1, gpu)).toHaveLength(1);
  });

  test("that falls due later prefers them from then on", async () => {
    const world = await newWorld();
    await world.enqueue("job", { runAfter: 60_000, prefer: forGpu });
    await pass(world, 60_200);
    const other = world.worker("other");
    expect(await other.claim()).toEqual([]);
    await pass(world, 11_000);
    expect(await other.claim()).toHaveLength(1);
  });

  test("whose preferred worker is gone ends up with another, and keeps no preference for its retry", async () => {
    const world = await newWorld({ leaseMs: 10_000 });
    await world.enqueue("job", { prefer: { worker: "a", forMs: 60_000 } });
    // It takes the job and is never heard of again.
    const a = world.worker("a");
    await a.heartbeat(await a.claim());
    await pass(world, 15_000);
    const b = world.worker("b");
    const [job] = await b.claim();
    expect(job).toMatchObject({ attempt: 2, resets: 1 });
    await b.complete([released(job!)]);
    expect(await world.worker("c").claim()).toHaveLength(1);
    await pass(world, 60_000);
    expect(await world.all("expiries")).toEqual([]);
  });

  // Shows LF-31.
  test("and has failed is left to a worker that has not failed it, preferred or not", async () => {
    const retry = { maxAttempts: 3, initialBackoffMs: 0, base: 1, maxBackoffMs: 0 };
    const world = await newWorld();
    await world.enqueue("job", { prefer: forA, rules: { retry } });
    const [a, b] = [world.worker("a"), world.worker("b")];
    await b.claim();
    const [job] = await a.claim();
    await a.complete([failed(job!)]);
    await pass(world, 1_200);
    expect(await a.claim()).toEqual([]);
    expect(await b.claim()).toMatchObject([{ attempt: 2 }]);
  });

  test("is paused and resumed without losing its preference, or getting it back", async () => {
    const world = await newWorld();
    const { t } = world;
    const id = await world.enqueue("job", { prefer: forGpu });
    await t.mutation(api.operate.pauseJob, { id });
    await t.mutation(api.operate.resumeJob, { id });
    const other = world.worker("other");
    expect(await other.claim()).toEqual([]);
    await t.mutation(api.operate.pauseJob, { id });
    await pass(world, 11_000);
    expect(await world.worker("w").claim(1, gpu)).toEqual([]);
    await t.mutation(api.operate.resumeJob, { id });
    expect(await other.claim()).toHaveLength(1);
  });

  test("is canceled in that time, and retried by hand afterwards for any worker", async () => {
    const world = await newWorld();
    const id = await world.enqueue("job", { prefer: forGpu });
    await world.cancel(id);
    await pass(world, 11_000);
    await world.t.mutation(api.operate.retryJob, { id });
    expect(await world.worker("other").claim()).toHaveLength(1);
  });

  test("still needs its own labels, group and budget when the time is over", async () => {
    const world = await newWorld();
    await world.enqueue("job", { labels: ["eu"], cost: 4, group: "g", prefer: forGpu });
    expect(await world.worker("a").claim(1, gpu)).toEqual([]);
    await pass(world, 11_000);
    expect(await world.worker("b").claim(1, { labels: ["eu"], maxCost: 3 })).toEqual([]);
    expect(await world.worker("c").claim(1, { labels: ["eu"], groups: ["h"] })).toEqual([]);
    expect(await world.worker("d").claim(1, { labels: ["eu"] })).toHaveLength(1);
  });

  test("says so where it waits, and until when", async () => {
    const world = await newWorld();
    const id = await world.enqueue("job", { prefer: { ...forGpu, worker: "a" } });
    await world.worker("other").claim();
    const why = await world.t.query(api.observe.why, { id });
    const [job] = await world.all("jobs");
    expect(why!.reasons).toMatchObject([{ kind: "preferred", until: job!.prefer!.until }]);
    expect(why!.reasons[0]!.text).toContain("the name a and 1 label (gpu)");
  });

  test.each<[string, unknown]>([
    ["nothing", { forMs: 1_000 }],
    ["no label", { labels: [], forMs: 1_000 }],
    ["too many labels", { labels: Array.from({ length: 17 }, (_, i) => `l${i}`), forMs: 1_000 }],
    ["a label with a comma", { labels: ["a,b"], forMs: 1_000 }],
    ["a worker of a megabyte", { worker: "w".repeat(2 ** 20), forMs: 1_000 }],
    ["no time", { worker: "w", forMs: 0 }],
    ["half a millisecond", { worker: "w", forMs: 1_000.5 }],
    ["for ever", { worker: "w", forMs: Infinity }],
    ["more than an hour", { worker: "w", forMs: 3_600_001 }],
    [
      "more than 512 bytes",
      { labels: Array.from({ length: 16 }, (_, i) => `${"l".repeat(31)}${i}`), forMs: 1_000 },
    ],
  ])("is refused where it prefers %s, and nothing is written", async (_, prefer) => {
    const world = await newWorld();
    const refused = await refusal(world.enqueueBatch(["good", "bad"], { prefer } as never));
    expect(refused.code).toBe("invalidArgument");
    expect(await world.all("jobs")).toEqual([]);
  });
});

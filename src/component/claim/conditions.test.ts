import { describe, expect, test, vi } from "vitest";
import { placeOf, ROUTES_MAX, type Conditions } from "../../shared/index.js";
import { failed, newWorld, refusal, released, type Worker, type World } from "../setup.test.js";

const payloads = (jobs: { payload?: unknown }[]) => jobs.map((job) => job.payload);

describe("labels", () => {
  // Shows C19.
  test("a job that needs so much of a number goes only to a worker that has it, or more", async () => {
    const world = await newWorld();
    for (const least of ["8", "24", "24.5", "80"])
      await world.enqueue(least, { labels: ["gpu", `vramGb>=${least}`] });
    const worker = world.worker("w");
    const claim = async (...labels: string[]) => payloads(await worker.claim(9, { labels })).sort();
    const offers = [["vramGb=80"], ["gpu"], ["gpu", "vramGb"], ["gpu", "vramGb=7.99"]];
    const odd = ["-90", "", "Infinity", "9e9", "0x99", "80 ", "=80"].map((one) => `vramGb=${one}`);
    for (const labels of [...offers, ["gpu", ...odd], ["gpu", "xvramGb=99", "vramG=99"]]) {
      expect(await worker.hasWork({ labels })).toBe(false);
      expect(await claim(...labels)).toEqual([]);
    }
    expect(await worker.hasWork({ labels: ["gpu", "vramGb=8"] })).toBe(true);
    expect(payloads(await worker.peek({ labels: ["gpu", "vramGb=24"] }))).toHaveLength(2);
    expect(await claim("gpu", "vramGb=24")).toEqual(["24", "8"]);
    expect(await claim("gpu", "vramGb=16", "vramGb=40")).toEqual(["24.5"]);
    expect(await claim("gpu", "vramGb=80")).toEqual(["80"]);
  });

  test.each([
    "vramGb>=",
    "vramGb>=x",
    "vramGb>=-1",
    ">=1",
    "vramGb>1",
    "a>=1>=2",
    "a>=1e9",
    `${"a".repeat(62)}>=1`,
  ])("the label %s is refused", async (label) => {
    const world = await newWorld();
    const refused = await refusal(world.enqueue("job", { labels: [label] }));
    expect(refused.code).toBe("invalidArgument");
  });

  // Shows LF-42, SG-04, C16, C19, G15.
  test("a job goes only to a worker that has all of its labels", async () => {
    const world = await newWorld();
    await world.enqueue("both", { labels: ["gpu", "eu"] });
    await world.enqueue("gpu", { labels: ["gpu"] });
    expect(payloads(await world.worker("plain").claim(5))).toEqual([]);
    expect(payloads(await world.worker("gpu").claim(5, { labels: ["gpu"] }))).toEqual(["gpu"]);
    const able = world.worker("able");
    expect(payloads(await able.claim(5, { labels: ["ssd", "eu", "gpu"] }))).toEqual(["both"]);
  });

  // Shows WP-04, M7.
  // Rules out D6a.
  test("a job that no worker here may have holds up no cursor: the next claim does not read it", async () => {
    const world = await newWorld();
    await world.enqueue("theirs", { labels: ["gpu"] });
    const worker = world.worker("plain");
    await worker.claim(5);
    await world.enqueue("mine");
    expect(payloads(await worker.claim(5))).toEqual(["mine"]);
    const [route] = await world.all("routes");
    const place = `,${placeOf(route!.number, 0)}]`;
    expect(worker.cursor).not.toContain(place);
    await worker.claim(5, { labels: ["gpu"] });
    expect(worker.cursor).toContain(place);
  });

  test("a job comes back although its route was dropped while it ran, and newer routes have used up the queue's limit", async () => {
    const world = await newWorld();
    const id = await world.enqueue("job", { labels: ["gpu"] });
    const worker = world.worker("w");
    const [job] = await worker.claim(1, { labels: ["gpu"] });
    await world.t.run(async (ctx) => {
      for (const { _id } of await ctx.db.query("routes").collect()) {
        await ctx.db.delete("routes", _id);
      }
      for (let number = 1; number < ROUTES_MAX; number += 1) {
        const route = { queue: "tiles", key: `0:l${number}`, labels: [`l${number}`] };
        await ctx.db.insert("routes", { ...route, costClass: 0, number, priorities: [0] });
      }
    });
    for (let number = 1; number < ROUTES_MAX; number += 1) {
      await world.enqueue(number, { labels: [`l${number}`] });
    }
    await worker.complete([released(job!)]);
    expect(await world.status(id)).toMatchObject({ status: "pending" });
    expect(payloads(await worker.claim(1, { labels: ["gpu"] }))).toEqual(["job"]);
    // A new one is still refused: it blocks no worker.
    expect(await refusal(world.enqueue("new", { labels: ["ssd"] }))).toMatchObject({
      code: "tooManyRoutes",
    });
  });

  test("hasWork agrees with a claim about them", async () => {
    const world = await newWorld();
    await world.enqueue("job", { labels: ["gpu"] });
    const worker = world.worker("w");
    expect(await worker.hasWork()).toBe(false);
    expect(await worker.hasWork({ labels: ["eu"] })).toBe(false);
    expect(await worker.hasWork({ labels: ["gpu", "eu"] })).toBe(true);
  });
});

describe("maxCost", () => {
  test("bounds the total cost of a claim's jobs", async () => {
    const world = await newWorld();
    for (const cost of [4, 4, 4, 1]) await world.enqueue(cost, { cost });
    expect(payloads(await world.worker("w").claim(9, { maxCost: 9 }))).toEqual([4, 4, 1]);
  });

  test("shuts out a job that alone is dearer, and passes it by without leaving it behind", async () => {
    const world = await newWorld();
    // Of one class of costs, so that they lie in one place.
    for (const cost of [7, 4]) await world.enqueue(cost, { cost });
    const worker = world.worker("w");
    expect(payloads(await worker.claim(9, { maxCost: 5 }))).toEqual([4]);
    expect(await worker.hasWork({ maxCost: 5 })).toBe(false);
    expect(await worker.hasWork({ maxCost: 7 })).toBe(true);
    expect(payloads(await worker.claim(9, { maxCost: 7 }))).toEqual([7]);
  });

  test("spends nothing on a job that has expired, which no worker gets and its alarm ends", async () => {
    const world = await newWorld();
    const late = await world.enqueue("late", { priority: 2, cost: 6, expiresAfterMs: 1_000 });
    await world.enqueue("dear", { priority: 1, cost: 6 });
    await world.enqueue("cheap", { cost: 1 });
    // Its alarm rings up to a second later.
    vi.setSystemTime(Date.now() + 1_001);
    expect(payloads(await world.worker("w").claim(3, { maxCost: 7 }))).toEqual(["dear", "cheap"]);
    expect(await world.status(late)).toMatchObject({ status: "pending" });
    await world.advance(2_100);
    expect(await world.status(late)).toMatchObject({ status: "failed" });
  });
});

describe("jobs that have expired and wait for their alarm", () => {
  test("hold up none behind them, however many they are, and are read by a session once", async () => {
    const world = await newWorld();
    const options = { expiresAfterMs: 1_000 };
    await world.enqueueJobs(Array.from({ length: 700 }, () => ({ payload: "late", options })));
    await world.enqueue("in time");
    vi.setSystemTime(Date.now() + 1_001);
    const worker = world.worker("w");
    expect(await worker.hasWork()).toBe(true);
    const got: unknown[] = [];
    for (let claims = 0; claims < 3; claims += 1) got.push(...payloads(await worker.claim(1)));
    expect(got).toEqual(["in time"]);
    expect(await worker.hasWork({}, { on: true })).toBe(false);
    expect(new Set((await world.all("jobs")).map(({ status }) => status))).toEqual(
      new Set(["pending", "running"]),
    );
  });
});

describe("jobs that are too dear", () => {
  test("hide none that fits, however many lie before it", async () => {
    const world = await newWorld();
    await world.enqueueJobs(tooDear(400));
    await world.enqueue("fits", { cost: 4 });
    const worker = world.worker("w");
    expect(await worker.hasWork({ maxCost: 5 })).toBe(true);
    expect(payloads(await worker.claim(9, { maxCost: 5 }))).toEqual(["fits"]);
    expect(await worker.hasWork({ maxCost: 5 })).toBe(false);
  });

  test("have been passed only for budgets up to that of the claim which passed them", async () => {
    const world = await newWorld();
    await world.enqueueJobs(tooDear(30));
    const worker = world.worker("w");
    expect(await worker.claim(9, { maxCost: 5 })).toEqual([]);
    await world.enqueue("fits", { cost: 5 });
    await claimBehind(world, worker);
  });
});

export const tooDear = (count: number) =>
  Array.from({ length: count }, () => ({ payload: "dear", options: { cost: 7 } }));

/** A claim with a budget of 5 has found nothing among jobs that cost 7. */
export async function claimBehind(world: World, worker: Worker): Promise<void> {
  // Another budget in between, as where a job of its own has ended meanwhile: it takes the very first job.
  expect(payloads(await worker.claim(1, { maxCost: 7 }))).toEqual(["dear"]);
  expect(await worker.hasWork({ maxCost: 5 }, { on: true })).toBe(true);
  expect(payloads(await worker.claim(9, { maxCost: 5 }))).toEqual(["fits"]);
  expect(await worker.hasWork({ maxCost: 5 }, { on: true })).toBe(false);
  expect(await worker.hasWork({ maxCost: 7 }, { on: true })).toBe(true);
  expect(payloads(await worker.claim(1, { maxCost: 7 }))).toEqual(["dear"]);
  const begun = (await world.all("jobs")).filter(({ attempt, cost }) => attempt > 0 && cost === 7);
  expect(begun).toHaveLength(2);
}

describe("a retry", () => {
  async function failedOnce(): Promise<[Worker, Awaited<ReturnType<typeof newWorld>>]> {
    const world = await newWorld();
    await world.enqueue("job", {
      rules: { retry: { maxAttempts: 5, initialBackoffMs: 0, base: 1, maxBackoffMs: 0 } },
    });
    const a = world.worker("a");
    const [job] = await a.claim();
    await a.complete([failed(job!)]);
    // Due again, regardless of the backoff: only the taker matters here.
    const { _id, queue } = await world.job(job!.id);
    await world.t.run(async (ctx) => {
      await ctx.db.patch("jobs", _id, {
        ...{ status: "pending", order: 20, shard: 0, seq: ctx.db.vars.commitTs },
        failedBy: ["a"],
        queue,
      });
    });
    return [a, world];
  }

  /** Another worker that serves the queue and has been seen, and has claimed nothing yet. */
  async function another(world: Awaited<ReturnType<typeof newWorld>>): Promise<Worker> {
    const b = world.worker("b");
    await b.heartbeat([]);
    await world.t.run(async (ctx) => {
      const session = (await ctx.db.query("sessions").collect()).find((one) => one.name !== "a")!;
      await ctx.db.patch("sessions", session._id, { name: "b", queues: ["tiles"] });
    });
    return b;
  }

  // Shows LF-31, LF-32, C24.
  test("is left to a worker that has not failed it, for two seconds while there is one", async () => {
    const [a, world] = await failedOnce();
    await another(world);
    expect(await a.claim()).toEqual([]);
    vi.advanceTimersByTime(2_001);
    expect(await a.claim()).toHaveLength(1);
  });

  // Shows LF-31, C24.
  test("goes to a worker that has not failed it, though the one that has asks first", async () => {
    const [a, world] = await failedOnce();
    const b = await another(world);
    expect(await a.claim()).toEqual([]);
    expect(await b.claim()).toMatchObject([{ payload: "job", attempt: 2 }]);
  });

  // Shows LF-32.
  test("is taken at once by the one that failed it where there is no other", async () => {
    const [a] = await failedOnce();
    expect(await a.claim()).toHaveLength(1);
  });
});

describe("a paused queue", () => {
  // Shows WP-16, F18.
  test("gives out nothing, has no work and shows none, until it is resumed", async () => {
    const world = await newWorld();
    await world.enqueue("job");
    const pausedAt = async (at: number | undefined) =>
      await world.t.run(async (ctx) => {
        const [queue] = await ctx.db.query("queues").collect();
        await ctx.db.patch("queues", queue!._id, { pausedAt: at });
      });
    await pausedAt(1);
    const worker = world.worker("w");
    expect(await worker.claim(5)).toEqual([]);
    expect([await worker.hasWork(), await worker.peek()]).toEqual([false, []]);
    await pausedAt(undefined);
    expect(await worker.claim(5)).toHaveLength(1);
  });
});

describe("peek", () => {
  // Shows LF-07, C23.
  test("shows the first jobs that a worker could claim, in that order, and takes none", async () => {
    const world = await newWorld({ shards: 4 });
    await world.enqueue("low", { priority: -3 });
    await world.enqueueBatch(["a", "b"]);
    await world.enqueue("high", { priority: 3, cost: 4, name: "first", group: "g" });
    await world.enqueue("gpu", { priority: 9, labels: ["gpu"] });
    await world.enqueue("x".repeat(600), { priority: -4 });
    const worker = world.worker("w");
    const seen = await worker.peek();
    expect(payloads(seen)).toEqual(["high", "a", "b", "low", undefined]);
    expect(seen[0]).toMatchObject({ priority: 3, cost: 4, name: "first", group: "g", attempt: 0 });
    expect(payloads(await worker.peek({ limit: 2, maxCost: 3 }))).toEqual(["a", "b"]);
    expect(payloads(await worker.peek({ limit: 1, labels: ["gpu"] }))).toEqual(["gpu"]);
    expect((await world.all("jobs")).every(({ status }) => status === "pending")).toBe(true);
  });

  test("shows no more than its limit of jobs in many shards and priorities, in commit order", async () => {
    const world = await newWorld({ shards: 4 });
    const ids: string[] = [];
    for (const priority of [1, 1, 1, 0, 0, 0]) ids.push(await world.enqueue(0, { priority }));
    await world.t.run(async ({ db }) => {
      for (const [i, id] of ids.entries())
        await db.patch("jobs", id as never, { shard: [3, 1, 2, 0][i % 4]! });
    });
    for (const limit of [2, 3, 4, 5])
      expect((await world.worker("w").peek({ limit })).map(({ id }) => id)).toEqual(
        ids.slice(0, limit),
      );
  });

  test.each([0, 65, 1.5])("limit %s is refused", async (limit) => {
    const world = await newWorld();
    const refused = await refusal(world.worker("w").peek({ limit }));
    expect(refused.code).toBe("invalidArgument");
  });
});

describe("a claimed job's fields for the worker", () => {
  test("all that people said of it, its own lease and timeout, and the session's id", async () => {
    const world = await newWorld({ graceMs: 500 });
    const options = { name: "n", priority: 2, group: "g", tags: ["t"], labels: ["l"], cost: 3 };
    await world.enqueue("job", { ...options, rules: { leaseMs: 7_000, timeoutMs: 60_000 } });
    const worker = world.worker("w");
    const [job] = await worker.claim(1, { labels: ["l"] });
    expect(job).toMatchObject({ ...options, leaseMs: 7_000, timeoutMs: 60_000 });
    const { leases } = await worker.session();
    const timeoutAt = Date.now() + 60_000;
    expect(leases).toEqual([expect.objectContaining({ leaseMs: 7_000, graceMs: 500, timeoutAt })]);
  });
});

describe("bad conditions", () => {
  test.each<[string, Conditions]>([
    ["a budget of nothing", { maxCost: 0 }],
    ["half a cost", { maxCost: 1.5 }],
    ["groups, and none in them", { groups: [] }],
    ["a group without a name", { groups: [""] }],
    ["too many labels", { labels: Array.from({ length: 65 }, (_, i) => `l${i}`) }],
  ])("%s is refused by all who look", async (_, conditions) => {
    const world = await newWorld();
    const worker = world.worker("w");
    await worker.claim();
    for (const call of [
      worker.claim(1, conditions),
      worker.hasWork(conditions),
      worker.peek(conditions),
    ]) {
      expect((await refusal(call)).code).toBe("invalidArgument");
    }
  });
});

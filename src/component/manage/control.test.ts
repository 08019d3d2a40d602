import { describe, expect, test } from "vitest";
import { api } from "../_generated/api.js";
import { newWorld, refusal, succeeded, type World } from "../setup.test.js";

const queue = "tiles";

async function state(world: World) {
  return await world.t.query(api.operate.queueState, { queue });
}

async function started(config = {}): Promise<World> {
  const world = await newWorld(config);
  await world.enqueue();
  return world;
}

describe("a paused queue", () => {
  test("gives out no job, takes new jobs, and records the outcomes of running jobs", async () => {
    const world = await started();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    expect(await world.t.mutation(api.operate.pauseQueue, { queue })).toEqual({ changed: true });
    await world.enqueue();
    expect(await worker.claim()).toEqual([]);
    expect((await worker.complete([succeeded(job!)], { claim: 1 })).jobs).toEqual([]);
    expect((await state(world)).pausedAt).toBe(Date.now());
    await world.t.mutation(api.operate.resumeQueue, { queue });
    expect(await worker.claim()).toHaveLength(1);
  });

  // Rules out D16.
  test("has no work for its watchers, and has it with the resume, which wakes them", async () => {
    const world = await started();
    const watch = { token: world.token, queues: [queue] };
    await world.t.mutation(api.operate.pauseQueue, { queue });
    expect(await world.t.query(api.lib.hasWork, watch)).toBe(false);
    await world.t.mutation(api.operate.resumeQueue, { queue });
    expect(await world.t.query(api.lib.hasWork, watch)).toBe(true);
  });

  test("that is paused again stays paused since the first time", async () => {
    const world = await started();
    await world.t.mutation(api.operate.pauseQueue, { queue });
    const { pausedAt } = await state(world);
    await world.advance(1_000);
    const again = await world.t.mutation(api.operate.pauseQueue, { queue });
    expect(again).toEqual({ changed: false });
    expect((await state(world)).pausedAt).toBe(pausedAt);
  });
});

describe("a draining queue", () => {
  test("refuses new jobs with a code, processes its remaining jobs, and says when it is drained", async () => {
    const world = await started();
    await world.t.mutation(api.operate.drainQueue, { queue });
    expect(await refusal(world.enqueue())).toMatchObject({ code: "queueDraining" });
    expect(await state(world)).toMatchObject({ drained: false });
    const worker = world.worker("a");
    const [job] = await worker.claim();
    expect(await state(world)).toMatchObject({ drained: false });
    await worker.complete([succeeded(job!)]);
    expect(await state(world)).toMatchObject({ drained: true });
    await world.t.mutation(api.operate.resumeQueue, { queue });
    expect(await state(world)).not.toHaveProperty("drained");
    await world.enqueue();
  });
});

describe("overrides", () => {
  // Shows WP-16, WP-33, F6, H12, H13.
  test("apply at once, override declared values, and survive a deploy that declares something else", async () => {
    const world = await started({ leaseMs: 10_000 });
    const overrides = { leaseMs: 3_000 };
    await world.t.mutation(api.operate.configureQueue, { queue, overrides });
    const worker = world.worker("a");
    expect((await worker.claim())[0]).toMatchObject({ leaseMs: 3_000 });
    await world.advance(11_000);
    world.queue.config = { ...world.queue.config, leaseMs: 20_000, maxResets: 7 };
    await world.enqueue();
    expect(await state(world)).toMatchObject({
      declared: { leaseMs: 20_000, maxResets: 7 },
      overrides,
      inForce: { leaseMs: 3_000, maxResets: 7, logLevel: "warn" },
      sources: { leaseMs: "override", maxResets: "code", shards: "code", logLevel: "default" },
    });
  });

  test("are added up, and reset one by one or all together", async () => {
    const world = await started();
    const configure = async (overrides: object) =>
      await world.t.mutation(api.operate.configureQueue, { queue, overrides });
    await configure({ leaseMs: 3_000, maxResets: 5 });
    await configure({ leaseMs: 4_000, logLevel: "debug" });
    expect((await state(world)).overrides).toEqual({
      leaseMs: 4_000,
      maxResets: 5,
      logLevel: "debug",
    });
    expect(await configure({ leaseMs: 4_000 })).toEqual({ changed: false });
    await world.t.mutation(api.operate.resetConfig, { queue, fields: ["leaseMs"] });
    expect((await state(world)).overrides).toEqual({ maxResets: 5, logLevel: "debug" });
    await world.t.mutation(api.operate.resetConfig, { queue });
    expect((await state(world)).overrides).toEqual({});
    expect(await world.t.mutation(api.operate.resetConfig, { queue })).toEqual({ changed: false });
  });

  test("with fewer shards leave none of the jobs behind that lie in other shards", async () => {
    const world = await newWorld({ shards: 8 });
    await world.enqueueBatch(Array.from({ length: 40 }, (_, n) => n));
    await world.t.mutation(api.operate.configureQueue, { queue, overrides: { shards: 1 } });
    await world.advance(1_000);
    const worker = world.worker("a");
    let claimed = 0;
    for (let i = 0; i < 10; i += 1) claimed += (await worker.claim(10)).length;
    expect(claimed).toBe(40);
  });

  test.each([
    ["a lease of no time", { leaseMs: 0 }],
    ["shards beyond the index", { shards: 65 }],
    ["a rest in a queue that is no ring", { restMs: 1_000 }],
    [
      "retention below zero",
      { retention: { succeededMs: -1, failedMs: 0, canceledMs: 0, timedOutMs: 0 } },
    ],
  ])("with %s are refused like a declaration, and nothing is changed", async (_, overrides) => {
    const world = await started();
    const before = await state(world);
    const call = world.t.mutation(api.operate.configureQueue, { queue, overrides });
    expect(await refusal(call)).toMatchObject({ code: "invalidArgument" });
    expect(await state(world)).toEqual(before);
  });

  const numbers = ["leaseMs", "graceMs", "maxResets", "shards", "timeoutMs", "expiresAfterMs"];
  const values = [NaN, Infinity, -1, 0.5, Number.MAX_SAFE_INTEGER];
  test.each(numbers)("take no %s that is out of its bounds, and no half of one", async (field) => {
    const world = await started();
    for (const value of values) {
      const overrides = { [field]: value };
      const call = world.t.mutation(api.operate.configureQueue, { queue, overrides });
      expect(await refusal(call), `${value}`).toMatchObject({ code: "invalidArgument" });
    }
    expect((await state(world)).overrides).toEqual({});
  });

  test("under a name that no field has are not reset but refused: nothing would happen", async () => {
    const world = await started();
    const call = world.t.mutation(api.operate.resetConfig, { queue, fields: ["leasMs"] });
    expect(await refusal(call)).toMatchObject({ code: "invalidArgument", got: "leasMs" });
  });

  // Shows K10.
  test("are recorded as events, with the queue's other events", async () => {
    const world = await started();
    await world.t.mutation(api.operate.pauseQueue, { queue });
    await world.t.mutation(api.operate.configureQueue, { queue, overrides: { leaseMs: 3_000 } });
    const events = await world.t.query(api.operate.events, { queue });
    expect(events.map(({ kind }) => kind)).toEqual(["queueConfigured", "queuePaused"]);
    expect(events[0]!.details).toEqual({ overrides: { leaseMs: 3_000 } });
    expect(await world.t.query(api.operate.events, { queue: "others" })).toEqual([]);
  });
});

test("a queue that no code has defined is unknown to every call", async () => {
  const world = await newWorld();
  const { pauseQueue, drainQueue, resumeQueue, resetConfig } = api.operate;
  const calls = [
    ...[pauseQueue, drainQueue, resumeQueue, resetConfig].map((call) =>
      world.t.mutation(call, { queue: "nobody" }),
    ),
    world.t.mutation(api.operate.configureQueue, { queue: "nobody", overrides: {} }),
    world.t.query(api.operate.queueState, { queue: "nobody" }),
    world.t.mutation(api.operate.cancelMany, { queue: "nobody", filter: {} }),
  ];
  const codes = (await Promise.all(calls.map(refusal))).map(({ code }) => code);
  expect(new Set(codes)).toEqual(new Set(["unknownQueue"]));
});

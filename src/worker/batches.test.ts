/** Handlers of batches: when a batch begins and with which jobs, and its cost in slots and calls. */
import { describe, expect, expectTypeOf, test, vi } from "vitest";
import { isConveyorError } from "../shared/index.js";
import { caught, startManual, threeRunning } from "./batchFakes.test.js";
import { startLoop } from "./fakes.test.js";
import type { LoopOptions } from "./parts.js";
import type { Handlers } from "./types.js";
import { Worker } from "./worker.js";

describe("a batch begins", () => {
  // Shows D22.
  // Shows C7.
  test("at once when `size` jobs are there, in the order of their claims", async () => {
    const { ids, batch } = await threeRunning();
    expect(batch.ids).toEqual(ids);
    expect(batch.jobs.map(({ payload }) => payload as unknown)).toEqual([
      { n: 0 },
      { n: 1 },
      { n: 2 },
    ]);
    expect(batch.at).toBeLessThan(100);
  });

  // Shows D22.
  test("with fewer when its oldest job has waited `waitMs` since its claim, and no sooner", async () => {
    const { clock, begun, enqueue, callsOf } = startManual();
    await clock.advance(1_000);
    enqueue(1);
    await clock.advance(300);
    enqueue(1);
    await clock.advance(150);
    const claimedAt = callsOf("claim").find(({ at }) => at >= 1_000)!.at + 5;
    expect(begun).toHaveLength(0);
    await clock.advance(500);
    expect(begun).toMatchObject([{ at: claimedAt + 500, ids: ["job1", "job2"] }]);
  });

  test("with all jobs of one answer where `waitMs` is 0", async () => {
    const { clock, begun, enqueue } = startManual({ batch: { waitMs: 0 } });
    enqueue(2);
    await clock.advance(100);
    expect(begun.map(({ ids }) => ids)).toEqual([["job1", "job2"]]);
  });

  // Shows D22.
  test("with jobs of one group alone where it is made `by` group; jobs without a group are one of their own", async () => {
    const { clock, begun, enqueue } = startManual({
      ...{ concurrency: 4, leaseMs: 60_000 },
      batch: { by: "group", size: 2 },
    });
    const [a1] = enqueue(1, { group: "a" });
    const [b1] = enqueue(1, { group: "b" });
    const [none] = enqueue(1);
    const [a2] = enqueue(1, { group: "a" });
    await clock.advance(200);
    expect(begun.map(({ ids }) => ids)).toEqual([[a1, a2]]);
    await clock.advance(500);
    expect(begun.map(({ ids }) => ids)).toEqual([[a1, a2], [b1], [none]]);
  });

  test("only where a slot is free: one batch is one slot, and one that is due then begins at once, full or not", async () => {
    const { clock, begun, enqueue } = startManual({
      ...{ concurrency: 2, leaseMs: 60_000 },
      batch: { by: "group", size: 2 },
    });
    enqueue(2, { group: "a" });
    const [b] = enqueue(1, { group: "b" });
    await clock.advance(600);
    expect(begun).toHaveLength(2);
    const [c, d] = [...enqueue(1, { group: "c" }), ...enqueue(1, { group: "d" })];
    await clock.advance(2_000);
    expect(begun.map(({ ids }) => ids)).toEqual([["job1", "job2"], [b]]);
    begun[0]!.resolve();
    await clock.advance(600);
    expect(begun[2]!.ids).toEqual([c]);
    expect(begun).toHaveLength(3);
    begun[1]!.resolve();
    await clock.advance(2);
    expect(begun[3]!.ids).toEqual([d]);
  });
});

describe("a worker of batches holds", () => {
  test("as many jobs as its free slots take, at most 64, and gives no more than `size` to a handler", async () => {
    const { clock, begun, enqueue, deployment } = startManual({
      ...{ concurrency: 2, leaseMs: 60_000 },
      batch: { size: 3 },
    });
    enqueue(20);
    await clock.advance(1_000);
    expect(begun.map(({ ids }) => ids.length)).toEqual([3, 3]);
    expect(deployment.held.size).toBe(6);
    expect(Math.max(...deployment.requests.map(({ max }) => max))).toBe(6);
  });

  test("never more than 64 leases, however many slots it has", async () => {
    const { clock, begun, enqueue, deployment } = startManual({
      ...{ concurrency: 4, leaseMs: 60_000 },
      batch: { size: 50 },
    });
    enqueue(200);
    await clock.advance(1_000);
    expect(begun.map(({ ids }) => ids.length)).toEqual([50, 14]);
    expect(deployment.held.size).toBe(64);
  });

  test("a lease of each job that waits, which its beats renew", async () => {
    const { clock, begun, enqueue, deployment } = startManual({
      leaseMs: 3_000,
      batch: { waitMs: 20_000 },
    });
    const [id] = enqueue(1);
    await clock.advance(15_000);
    expect(begun).toHaveLength(0);
    expect(
      deployment.calls.filter(({ call, ids }) => call === "heartbeat" && ids.includes(id!)),
    ).not.toHaveLength(0);
    await clock.advance(6_000);
    expect(begun.map(({ ids }) => ids)).toEqual([[id]]);
    expect(begun[0]!.jobs[0]!.signal.aborted).toBe(false);
  });

  test("no slot for jobs that wait: its status shows handlers that run", async () => {
    const { clock, loop, enqueue, begun } = startManual({ concurrency: 2, leaseMs: 60_000 });
    enqueue(2);
    await clock.advance(200);
    expect(loop.statusNow()).toMatchObject({ state: "working", slots: { used: 0 }, running: [] });
    enqueue(1);
    await clock.advance(200);
    expect(loop.statusNow()).toMatchObject({ slots: { used: 1, had: 2 } });
    expect(loop.statusNow().running).toHaveLength(3);
    begun[0]!.resolve();
    await clock.advance(200);
    expect(loop.statusNow()).toMatchObject({ state: "waiting", slots: { used: 0 }, done: 3 });
  });
});

describe("a stop", () => {
  test("gives an unfilled batch back at once, and waits for batches that run", async () => {
    const { clock, deployment, loop, end, begun, enqueue, ids, batch } = await threeRunning({
      concurrency: 2,
      batch: { waitMs: 20_000 },
    });
    const [waiting] = enqueue(1);
    await clock.advance(100);
    loop.stop(10_000);
    await clock.advance(100);
    expect(deployment.outcomeOf(waiting!)).toEqual({ kind: "released" });
    expect(end.value).toBeUndefined();
    batch.resolve();
    await clock.advance(100);
    expect(end.value).toEqual({});
    expect(begun).toHaveLength(1);
    expect(deployment.outcomeOf(ids[0]!)).toEqual({ kind: "succeeded", result: null });
  });

  test("whose grace is over aborts the batch and gives its jobs back, but those that were answered", async () => {
    const { clock, deployment, loop, end, ids, batch, kinds } = await threeRunning();
    batch.jobs[0]!.succeed(1);
    loop.stop(1_000);
    await clock.advance(1_500);
    expect(batch.signal.reason).toMatchObject({ reason: "stopping" });
    expect(ids.map((id) => deployment.outcomeOf(id)?.kind)).toEqual([
      "succeeded",
      "released",
      "released",
    ]);
    expect(end.value).toEqual({});
    expect(kinds("stopped")).toMatchObject([{ unrecorded: 0 }]);
  });

  test("whose grace ends right after an answer still records it", async () => {
    const { clock, deployment, loop, ids, batch } = await threeRunning();
    loop.stop(1_000);
    await clock.advance(900);
    batch.jobs[0]!.succeed("just in time");
    batch.jobs[2]!.fail("no");
    await clock.advance(500);
    expect(ids.map((id) => deployment.outcomeOf(id))).toMatchObject([
      { kind: "succeeded", result: "just in time" },
      { kind: "released" },
      { kind: "failed", error: "no" },
    ]);
  });

  test("ends a worker whose batch has answered all its jobs and never returns, when its grace is over", async () => {
    const { clock, loop, end, batch } = await threeRunning();
    for (const job of batch.jobs) job.succeed(null);
    await clock.advance(1_000);
    loop.stop(1_000);
    await clock.advance(500);
    expect(end.value).toBeUndefined();
    await clock.advance(5_000);
    expect(end.value).toEqual({});
  });

  test("gives back jobs that come with the answer to a claim that was on its way", async () => {
    const { clock, deployment, loop, end, begun, enqueue } = startManual();
    await clock.advance(1_000);
    enqueue(2);
    await clock.advance(2);
    loop.stop(5_000);
    await clock.advance(1_000);
    expect(begun).toHaveLength(0);
    for (const [, { outcome }] of deployment.recorded)
      expect(outcome).toEqual({ kind: "released" });
    expect(deployment.held.size).toBe(0);
    expect(end.value).toEqual({});
  });

  test("after so many jobs counts jobs, not batches, and begins the last unfilled batch", async () => {
    const { clock, begun, enqueue, end } = startManual({ stopAfter: { jobs: 4 } });
    enqueue(10);
    await clock.advance(100);
    begun[0]!.resolve();
    await clock.advance(1_000);
    expect(begun.map(({ ids }) => ids.length)).toEqual([3, 1]);
    begun[1]!.resolve();
    await clock.advance(1_000);
    expect(end.value).toEqual({});
  });
});

describe("the options", () => {
  const run = async () => undefined;
  const make = (handlers: object, options: object = {}) =>
    new Worker({
      ...{ url: "https://a.convex.cloud", token: "t", api: {} as any, handlers: handlers },
      ...options,
    });

  test.each([
    ["a size of 0", { size: 0 }, /batch.size .* from 1 to 64; got 0/],
    ["a size over 64", { size: 100 }, /from 1 to 64; got 100/],
    ["a size that is no number", { size: "3" }, /whole number/],
    ["no size", {}, /got undefined/],
    ["a negative wait", { size: 2, waitMs: -1 }, /from 0 to 60000; got -1/],
    ["a wait over a minute", { size: 2, waitMs: 60_001 }, /got 60001/],
    ["another word in `by`", { size: 2, by: "tag" }, /must be "group"; got "tag"/],
    ["no object", 5, /must be an object; got number/],
  ])("%s is refused", (_, batch, words) => {
    const thrown = caught(() => make({ tiles: { batch, handler: run } }));
    expect(isConveyorError(thrown, "invalidArgument")).toBe(true);
    expect(thrown).toMatchObject({ data: { message: expect.stringMatching(words) as string } });
  });

  test("a handler without its function, batches beside single jobs, and hooks of one job are refused", () => {
    const batch = { size: 2 };
    expect(() => make({ tiles: { batch } })).toThrow(
      /must be a function; got object.*`tiles: { batch, handler }`/,
    );
    expect(() => make({ tiles: { batch, handler: run }, other: run })).toThrow(/Make two workers/);
    for (const hook of ["beforeJob", "afterJob", "around"]) {
      expect(() => make({ tiles: { batch, handler: run } }, { [hook]: run })).toThrow(hook);
    }
    expect(() => make({ tiles: { batch, handler: run } })).not.toThrow();
  });
});

test("the types of a batch are its queue's: payloads, results and what a handler may return", () => {
  type Queues = {
    tiles: { payload: { at: string }; result: { pixels: number }; progress: { percent: number } };
    bare: { payload: null; result: null };
  };
  type Of<Queue extends keyof Queues> = Extract<Handlers<Queues>[Queue], { batch: unknown }>;
  type Tile = Parameters<Of<"tiles">["handler"]>[0][number];
  expectTypeOf<Tile["payload"]>().toEqualTypeOf<{ at: string }>();
  expectTypeOf<Tile["progress"]>().toEqualTypeOf<(value: { percent: number }) => void>();
  expectTypeOf<Tile["succeed"]>().toEqualTypeOf<(result: { pixels: number }) => void>();
  expectTypeOf<Tile["snooze"]>().toEqualTypeOf<(ms: number) => void>();
  const batch = { size: 2 };
  const handlers: Handlers<Queues>[] = [
    {
      tiles: {
        batch,
        handler: async (jobs) => jobs.map(({ payload }) => ({ pixels: payload.at.length })),
      },
    },
    {
      tiles: {
        batch,
        handler: (jobs) => jobs.map(async ({ payload }) => ({ pixels: payload.at.length })),
      },
    },
    { tiles: { batch, handler: async (jobs) => jobs[0]!.succeed({ pixels: 1 }) } },
    {
      bare: {
        batch,
        handler: async (jobs, { signal }) => (signal.throwIfAborted(), jobs[0]!.succeed()),
      },
    },
    { tiles: async ({ payload }) => ({ pixels: payload.at.length }) },
    // @ts-expect-error a result of another form
    { tiles: { batch, handler: async (jobs) => jobs.map(() => ({ pixels: "many" })) } },
    // @ts-expect-error one result for all jobs
    { tiles: { batch, handler: async () => ({ pixels: 1 }) } },
    // @ts-expect-error a result is needed
    { tiles: { batch, handler: async (jobs) => jobs[0]!.succeed() } },
    // @ts-expect-error `batch` without its size
    { tiles: { batch: { waitMs: 5 }, handler: async () => undefined } },
    // @ts-expect-error only groups
    { tiles: { batch: { size: 5, by: "tag" }, handler: async () => undefined } },
  ];
  expect(handlers).toHaveLength(10);
});

test("1,000 small jobs: a worker makes as many calls as there are batches", async () => {
  const calls = async (handlers: LoopOptions["handlers"], concurrency: number) => {
    const { clock, deployment } = startLoop(() => null, { handlers, concurrency, leaseMs: 60_000 });
    for (let n = 0; n < 1_000; n += 1) deployment.enqueue();
    await clock.advance(60_000);
    expect(deployment.recorded.size).toBe(1_000);
    return deployment.calls.filter(({ call }) => call === "claim" || call === "complete").length;
  };
  const run = vi.fn(async () => undefined);
  const batched = { batch: { size: 50, waitMs: 500 }, handler: run };
  expect(await calls(new Map([["tiles", batched]]), 1)).toBeLessThanOrEqual(22);
  expect(run).toHaveBeenCalledTimes(20);
  expect(await calls(new Map([["tiles", async () => null]]), 1)).toBeGreaterThanOrEqual(1_000);
});

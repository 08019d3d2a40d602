/** How `convex-conveyor/test` lets the queues of an app's suite run: on `convex-test`, with the real component. */
import {
  anyApi,
  componentsGeneric,
  internalActionGeneric,
  internalMutationGeneric,
  mutationGeneric,
  queryGeneric,
} from "convex/server";
import { v } from "convex/values";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { pass, settle } from "../test.js";
import { Conveyor, RetryAfterError, vJobId, type ComponentApi } from "./index.js";
import { suiteOf } from "./suite.test.js";

const MINUTE = 60_000;

const conveyor = new Conveyor(
  (componentsGeneric() as unknown as { conveyor: ComponentApi }).conveyor,
);
const functions: Record<string, any> = anyApi["app"] as never;

const naps = conveyor.queue("naps", {
  payload: v.object({ ms: v.number(), next: v.optional(v.number()) }),
  retry: { maxAttempts: 2 },
  onComplete: () => functions["followed"],
});
naps.handledBy(functions["nap"]);
const told = conveyor.queue("told", { progress: v.number(), action: () => functions["tell"] });
const outside = conveyor.queue("outside", { payload: v.null() });

const app = {
  tell: told.action(async (_ctx, job) => {
    job.progress(1);
    job.log("First");
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    job.progress(2);
    await new Promise((resolve) => setTimeout(resolve, 60_000));
    return null;
  }),
  tellOnce: mutationGeneric({ args: {}, handler: async (ctx) => await told.enqueue(ctx) }),
  toldSoFar: queryGeneric({
    args: { id: vJobId("told") },
    handler: async (ctx, { id }) => {
      const status = await told.status(ctx, id);
      const logs = await told.logs(ctx, id);
      return {
        progress: status !== null && "progress" in status ? status.progress : null,
        logs: logs?.entries.map(({ message }) => message),
      };
    },
  }),
  nap: internalActionGeneric({
    args: { ms: v.number(), next: v.optional(v.number()) },
    handler: async (_ctx, { ms }) => {
      if (ms < 0) throw new RetryAfterError(5 * MINUTE, "Time does not run backwards.");
      await new Promise((resolve) => setTimeout(resolve, ms));
      return null;
    },
  }),
  followed: internalMutationGeneric({
    args: naps.onCompleteArgs,
    handler: async (ctx, { payload: { next } }) => {
      if (next !== undefined) await naps.enqueue(ctx, { ms: next });
    },
  }),
  enqueue: mutationGeneric({
    args: { ms: v.number(), next: v.optional(v.number()), runAfter: v.optional(v.number()) },
    handler: async (ctx, { runAfter, ...payload }) => {
      await outside.enqueue(ctx, null);
      return await naps.enqueue(ctx, payload, { runAfter });
    },
  }),
  pause: mutationGeneric({
    args: {},
    handler: async (ctx) => await naps.control.pause(ctx),
  }),
  later: mutationGeneric({
    args: {},
    handler: async (ctx) => {
      await ctx.scheduler.runAfter(0, functions["enqueue"], { ms: 0 });
    },
  }),
  counts: queryGeneric({ args: {}, handler: async (ctx) => await naps.counts(ctx) }),
};

const time = { advance: (ms: number) => vi.advanceTimersByTime(ms) };

function setup() {
  const t = suiteOf(app);
  const enqueue = async (job: object) => await t.mutation(functions["enqueue"], job);
  const counts = async () => {
    const all: Record<string, { count: number }> = await t.query(functions["counts"], {});
    return Object.fromEntries(
      Object.entries(all).flatMap(([status, { count }]) => (count > 0 ? [[status, count]] : [])),
    );
  };
  return { t, enqueue, counts };
}

describe("on faked timers", () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: Date.UTC(2030, 0, 1) });
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  // Shows N1.
  test("a suite is at rest when all that can run now has run, also jobs enqueued meanwhile", async () => {
    const { t, enqueue, counts } = setup();
    await enqueue({ ms: 300, next: 2_000 });
    await t.mutation(functions["later"], {});
    await settle(t, time);
    // The one that the app had scheduled, and that which followed.
    expect(await counts()).toEqual({ succeeded: 3 });
  });

  // Shows N4.
  test("a job that is due later stays, until its time has passed", async () => {
    const { t, enqueue, counts } = setup();
    await enqueue({ ms: 0, runAfter: 20 * MINUTE });
    await enqueue({ ms: -1 });
    await settle(t, time);
    expect(await counts()).toEqual({ scheduled: 2 });
    await pass(t, 6 * MINUTE, { ...time, stepMs: 5_000 });
    await settle(t, time);
    expect(await counts()).toEqual({ scheduled: 1, failed: 1 });
    await pass(t, 15 * MINUTE, { ...time, stepMs: 5_000 });
    await settle(t, time);
    expect(await counts()).toEqual({ succeeded: 1, failed: 1 });
  });

  test("a queue that is paused is at rest, and so is one that workers outside serve", async () => {
    const { t, enqueue, counts } = setup();
    await enqueue({ ms: 0 });
    await settle(t, time);
    await t.mutation(functions["pause"], {});
    await enqueue({ ms: 0 });
    await settle(t, time);
    expect(await counts()).toEqual({ pending: 1, succeeded: 1 });
  });

  test("a suite that is not at rest in time gets the names of running functions; with more time it is at rest", async () => {
    const { t, enqueue, counts } = setup();
    await enqueue({ ms: 3_000 });
    await expect(settle(t, { ...time, withinMs: 500 })).rejects.toThrow(
      /not at rest after 500 ms: [\w/]+:\w+/,
    );
    await settle(t, time);
    expect(await counts()).toEqual({ succeeded: 1 });
  });

  test("a handler's reports are seen while it runs", async () => {
    const { t } = setup();
    const id = await t.mutation(functions["tellOnce"], {});
    const sofar = async () => await t.query(functions["toldSoFar"], { id });
    await pass(t, 900, { ...time, stepMs: 100 });
    expect(await sofar()).toEqual({ progress: 1, logs: ["First"] });
    await pass(t, 1_500, { ...time, stepMs: 100 });
    expect(await sofar()).toMatchObject({ progress: 2 });
    await settle(t, { ...time, stepMs: 1_000, withinMs: 120_000 });
  });

  test("no call waits for a clock that does not go on", async () => {
    const { t, enqueue } = setup();
    await enqueue({ ms: 0 });
    await expect(settle(t)).rejects.toThrow(/timers are faked.*advance/s);
    await settle(t, time);
  });
});

test("on the real clock it waits", async () => {
  const { t, enqueue, counts } = setup();
  await enqueue({ ms: 20, next: 0 });
  await settle(t);
  expect(await counts()).toEqual({ succeeded: 2 });
});

test("timers that were faked before the package was loaded are refused, where waiting would never end", async () => {
  vi.useFakeTimers();
  vi.resetModules();
  const { settle: settled } = await import("../testing/time.js");
  const advance = (ms: number) => vi.advanceTimersByTime(ms);
  vi.useRealTimers();
  const call = settled(setup().t, { advance });
  await expect(call).rejects.toThrow(
    /faked before `convex-conveyor\/test` was loaded.+beforeEach/s,
  );
});

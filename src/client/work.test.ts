/** Workers that `convex-conveyor/test` gives an app's suite for its pull queues: on `convex-test`, with the real component. */
import { anyApi, componentsGeneric, mutationGeneric, queryGeneric } from "convex/server";
import type { ApiFromModules, FilterApi, FunctionReference } from "convex/server";
import { v } from "convex/values";
import { afterEach, beforeEach, describe, expect, expectTypeOf, test, vi } from "vitest";
import { pass, work } from "../test.js";
import { Conveyor, vJobId, type ComponentApi } from "./index.js";
import { suiteOf } from "./suite.test.js";

const MINUTE = 60_000;

const conveyor = new Conveyor(
  (componentsGeneric() as unknown as { conveyor: ComponentApi }).conveyor,
);
const functions: Record<string, any> = anyApi["app"] as never;

const renders = conveyor.queue("renders", {
  payload: { scene: v.string() },
  result: v.object({ frames: v.number() }),
  progress: v.object({ done: v.number() }),
  retry: { maxAttempts: 2, initialBackoffMs: MINUTE, base: 1, jitter: "none" },
  onComplete: () => functions["rendered"],
});
const previews = conveyor.queue("previews", { payload: { scene: v.string() } });

const app = {
  ...conveyor.workerApi({ queues: [renders, previews], continueWith: [previews] }),
  rendered: renders.completed(async (ctx, { payload, outcome }) => {
    if (outcome.status !== "succeeded" || payload.scene !== "followed") return;
    await previews.enqueue(ctx, { scene: "of it" });
  }),
  render: mutationGeneric({
    args: { scene: v.string() },
    handler: async (ctx, payload) => await renders.enqueue(ctx, payload),
  }),
  cancel: mutationGeneric({
    args: { id: vJobId("renders") },
    handler: async (ctx, { id }) => await renders.cancel(ctx, id),
  }),
  status: queryGeneric({
    args: { id: vJobId("renders") },
    handler: async (ctx, { id }) => await renders.status(ctx, id),
  }),
  logs: queryGeneric({
    args: { id: vJobId("renders") },
    handler: async (ctx, { id }) => await renders.logs(ctx, id),
  }),
};
const api = anyApi as unknown as FilterApi<
  ApiFromModules<{ app: typeof app }>,
  FunctionReference<any, "public">
>;

const setup = () => suiteOf(app);

describe.each(["faked", "real"])("on %s timers", (timers) => {
  const time = timers === "faked" ? { advance: (ms: number) => vi.advanceTimersByTime(ms) } : {};
  beforeEach(() => {
    if (timers === "faked") vi.useFakeTimers({ now: Date.UTC(2030, 0, 1) });
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  // Shows N1.
  test("a worker does waiting jobs, and the jobs that follow, and returns its attempts", async () => {
    const t = setup();
    const id = await t.mutation(api.app.render, { scene: "followed" });
    const seen: string[] = [];
    const done = await work(
      t,
      api.app,
      {
        renders: async (job) => {
          expectTypeOf(job.payload).toEqualTypeOf<{ scene: string }>();
          job.progress({ done: 1 });
          job.log("Begun");
          await new Promise((resolve) => setTimeout(resolve, 40));
          job.continueWith("previews", { scene: `small ${job.payload.scene}` });
          return { frames: 3 };
        },
        previews: (job) => void seen.push(job.payload.scene),
      },
      time,
    );
    expect(done).toMatchObject([
      { id, queue: "renders", attempt: 1, outcome: "succeeded" },
      { queue: "previews", attempt: 1, outcome: "succeeded" },
      { queue: "previews", attempt: 1, outcome: "succeeded" },
    ]);
    expect(seen.sort()).toEqual(["of it", "small followed"]);
    expect(await t.query(api.app.status, { id })).toMatchObject({
      status: "succeeded",
      result: { frames: 3 },
    });
    const logs = await t.query(api.app.logs, { id });
    expect(logs?.entries).toMatchObject([{ message: "Begun" }]);
  });

  test("nothing to do is nothing done; a result that fits no validator is a failure", async () => {
    const t = setup();
    expect(await work(t, api.app, { renders: () => ({ frames: 1 }) }, time)).toEqual([]);
    await t.mutation(api.app.render, { scene: "odd" });
    const odd = (() => ({ frames: "many" })) as never;
    expect(await work(t, api.app, { renders: odd }, time)).toMatchObject([
      { outcome: "failed", error: expect.stringContaining("result.frames must be number") },
    ]);
  });
});

describe("on faked timers", () => {
  const time = { advance: (ms: number) => vi.advanceTimersByTime(ms) };
  beforeEach(() => {
    vi.useFakeTimers({ now: Date.UTC(2030, 0, 1) });
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  test("a handler that throws fails its attempt, and is called again when its wait is over", async () => {
    const t = setup();
    const id = await t.mutation(api.app.render, { scene: "a" });
    const renders = (job: { attempt: number }) => {
      if (job.attempt === 1) throw new Error("No paint.");
      return { frames: job.attempt };
    };
    expect(await work(t, api.app, { renders }, time)).toMatchObject([
      { id, attempt: 1, outcome: "failed", error: "No paint." },
    ]);
    expect(await t.query(api.app.status, { id })).toMatchObject({ status: "scheduled" });
    await pass(t, MINUTE, { ...time, stepMs: 5_000 });
    expect(await work(t, api.app, { renders }, time)).toMatchObject([
      { id, attempt: 2, outcome: "succeeded" },
    ]);
  });

  test("a job that is canceled aborts its handler's signal", async () => {
    const t = setup();
    const id = await t.mutation(api.app.render, { scene: "a" });
    const done = await work(
      t,
      api.app,
      {
        renders: async (job) => {
          await t.mutation(api.app.cancel, { id });
          await new Promise<void>((_, stop) =>
            job.signal.addEventListener("abort", () => stop(job.signal.reason as Error)),
          );
          return { frames: 0 };
        },
      },
      time,
    );
    expect(done).toMatchObject([{ id, outcome: "canceled" }]);
    expect(await t.query(api.app.status, { id })).toMatchObject({ status: "canceled" });
  });

  test("a handler that still runs when the time is over is named, and its job goes back", async () => {
    const t = setup();
    const id = await t.mutation(api.app.render, { scene: "a" });
    const asleep = new Promise<never>(() => undefined);
    await expect(
      work(t, api.app, { renders: () => asleep }, { ...time, withinMs: 500 }),
    ).rejects.toThrow('not at rest after 500 ms: a handler of "renders"');
    expect(await t.query(api.app.status, { id })).toMatchObject({ status: "pending" });
    await expect(work(t, api.app, { renders: () => ({ frames: 1 }) })).rejects.toThrow(
      /timers are faked.*advance/s,
    );
  });

  test("mistakes are refused as by a worker", async () => {
    const t = setup();
    // @ts-expect-error the module serves no such queue
    await expect(work(t, api.app, { rendrs: () => null }, time)).rejects.toThrow(
      /No queue "rendrs" is served here; these are: renders, previews/,
    );
    await expect(work(t, api.app, { renders: 7 as never }, time)).rejects.toThrow(
      'handler of the queue "renders" must be a function; got number',
    );
    await expect(work(t, api.app, {}, time)).rejects.toThrow("nothing to serve");
    const token = "cvy_00000000_" + "0".repeat(64);
    const renders = () => ({ frames: 1 });
    await expect(work(t, api.app, { renders }, { ...time, token })).rejects.toMatchObject({
      data: { code: expect.stringMatching(/^token/) },
    });
    const missing = { ...api.app, watch: functions["nothing"], claim: functions["nothing"] };
    await expect(work(t, missing, { renders }, time)).rejects.toThrow("nothing");
  });
});

/** Jobs that a worker of an app's suite does to their end, and jobs that are not for it, beside which it is at rest. */
import { anyApi, componentsGeneric, mutationGeneric } from "convex/server";
import type { ApiFromModules, FilterApi, FunctionReference } from "convex/server";
import { v } from "convex/values";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { work } from "../test.js";
import { Conveyor, type ComponentApi } from "./index.js";
import { suiteOf } from "./suite.test.js";

const conveyor = new Conveyor(
  (componentsGeneric() as unknown as { conveyor: ComponentApi }).conveyor,
);
const cuts = conveyor.queue("cuts", { payload: v.any() });
const line = conveyor.queue("line", { payload: v.any(), shards: 1 });
const app = {
  ...conveyor.workerApi({ queues: [cuts, line] }),
  enqueue: mutationGeneric({
    args: { options: v.any() },
    handler: async (ctx, { options }): Promise<string[]> => [
      await cuts.enqueue(ctx, {}, options),
      await line.enqueue(ctx, {}, options),
    ],
  }),
};
const api = anyApi as unknown as FilterApi<
  ApiFromModules<{ app: typeof app }>,
  FunctionReference<any, "public">
>;
const time = { advance: (ms: number) => vi.advanceTimersByTime(ms) };

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2030, 0, 1) }));
afterEach(() => void vi.useRealTimers());

const setup = () => suiteOf(app);

test.each([
  ["prefers a worker", { prefer: { worker: "bob", forMs: 3_600_000 } }],
  ["prefers a label", { prefer: { labels: ["gpu"], forMs: 3_600_000 } }],
  ["needs a label", { labels: ["gpu"] }],
  ["costs more", { cost: 10 }],
  ["is due later", { runAfter: 60_000 }],
])("a job that %s is left, and the others are done", async (_what, options) => {
  const t = setup();
  await t.mutation(api.app.enqueue, { options });
  const ids = await t.mutation(api.app.enqueue, { options: {} });
  const handlers = { cuts: () => null, line: () => null };
  const done = await work(t, api.app, handlers, { ...time, maxCost: 5, withinMs: 10_000 });
  expect(done.map(({ id }) => id).sort()).toEqual([...ids].sort());
});

test("a job that prefers the worker itself is done", async () => {
  const t = setup();
  const options = { prefer: { worker: "convex-conveyor/test", forMs: 3_600_000 } };
  await t.mutation(api.app.enqueue, { options });
  const done = await work(t, api.app, { cuts: () => null }, { ...time, withinMs: 2_000 });
  expect(done).toMatchObject([{ queue: "cuts", outcome: "succeeded" }]);
});

test("a job with weeks to its deadline is not told that its time is over", async () => {
  const t = setup();
  await t.mutation(api.app.enqueue, { options: { deadlineMs: 40 * 24 * 3_600_000 } });
  const cuts = async ({ signal }: { signal: AbortSignal }) => {
    await new Promise((resolve) => setTimeout(resolve, 200));
    signal.throwIfAborted();
  };
  const done = await work(t, api.app, { cuts }, { ...time, withinMs: 2_000 });
  expect(done).toMatchObject([{ queue: "cuts", outcome: "succeeded" }]);
});

/** A deploy that makes an action of a queue's inline handler, while a process with that runs: on `convex-test`, with the real component. */
import { convexTest } from "convex-test";
import {
  anyApi,
  componentsGeneric,
  defineSchema,
  mutationGeneric,
  queryGeneric,
} from "convex/server";
import { v } from "convex/values";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { pass, register, settle } from "../test.js";
import { Conveyor, type ComponentApi } from "./index.js";

const component = (componentsGeneric() as unknown as { conveyor: ComponentApi }).conveyor;
const functions: Record<string, any> = anyApi["app"] as never;

/** Longer than a declaration stands, and shorter than a process with inline handlers takes jobs. */
const WAITS_MS = 12_000;

const common = {
  payload: { n: v.number() },
  result: v.number(),
  maxParallelism: 1,
  timeoutMs: 60_000,
};
const before = new Conveyor(component).queue("changed", {
  ...common,
  inline: () => functions["run"],
});
const since = new Conveyor(component);
const changed = since.queue("changed", { ...common, action: () => functions["act"] });
const after = since.queue("after", { payload: { of: v.number() } });

const app = {
  run: before.inline(async () => {
    await new Promise((resolve) => setTimeout(resolve, WAITS_MS));
    return 1;
  }),
  act: changed.action(async (_ctx, job) => {
    job.continueWith(after, { of: job.payload.n });
    return 2;
  }),
  enqueue: mutationGeneric({
    args: {},
    handler: async (ctx): Promise<string> => await before.enqueue(ctx, { n: 1 }),
  }),
  enqueueSince: mutationGeneric({
    args: {},
    handler: async (ctx): Promise<string> => await changed.enqueue(ctx, { n: 2 }),
  }),
  look: queryGeneric({
    args: { ids: v.array(v.string()) },
    handler: async (ctx, { ids }): Promise<any> => {
      const page = { numItems: 10, cursor: null };
      const followed = (await after.list(ctx, { paginationOpts: page })).page.length;
      return { jobs: await changed.statusBatch(ctx, ids), followed };
    },
  }),
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a job of the action that the process runs is followed by the jobs that it continues with", async () => {
  const t = convexTest(defineSchema({}), {
    "./_generated/api.ts": () => Promise.resolve({}),
    "./app.ts": () => Promise.resolve(app),
  });
  register(t);
  const ids = [(await t.mutation(functions["enqueue"], {})) as string];
  const time = { advance: (ms: number) => vi.advanceTimersByTime(ms), stepMs: 200 };
  await pass(t, WAITS_MS - 1_000, time);
  ids.push((await t.mutation(functions["enqueueSince"], {})) as string);
  await settle(t, time);
  const { jobs, followed } = await t.query(functions["look"], { ids });
  expect(jobs).toMatchObject([
    { status: "succeeded", result: 1 },
    { status: "succeeded", result: 2 },
  ]);
  expect(jobs[1].worker).toBe(jobs[0].worker);
  expect(followed).toBe(1);
});

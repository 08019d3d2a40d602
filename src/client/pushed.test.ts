/** A queue with jobs that Convex itself runs, in an app's own tests: on `convex-test`, with the real component. */
import {
  anyApi,
  componentsGeneric,
  defineSchema,
  defineTable,
  internalActionGeneric,
  internalMutationGeneric,
  mutationGeneric,
  queryGeneric,
} from "convex/server";
import { v } from "convex/values";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { readLine } from "../component/claim/lines.test.js";
import { settle } from "../test.js";
import { Conveyor, type ComponentApi, type MainLoop } from "./index.js";
import { suiteOf } from "./suite.test.js";

const advance = (ms: number) => vi.advanceTimersByTime(ms);

const conveyor = new Conveyor(
  (componentsGeneric() as unknown as { conveyor: ComponentApi }).conveyor,
);
const functions: Record<string, any> = anyApi["app"] as never;

interface Asks {
  runQuery: (of: any, args: object) => Promise<MainLoop>;
}
/** The work of an action while its job runs, besides its own. */
const during: { square: (ctx: Asks) => Promise<void> } = { square: async () => undefined };
afterEach(() => void (during.square = async () => undefined));

const sums = conveyor.queue("sums", { payload: v.object({ n: v.number() }), maxParallelism: 2 });
sums.handledBy(functions["square"]);
const books = conveyor.queue("books", { payload: v.object({ n: v.number() }) });
books.handledBy({ mutation: functions["book"] });

const app = {
  square: internalActionGeneric({
    args: { n: v.number() },
    handler: async (ctx, { n }) => {
      if (n < 0) throw new Error("No negative numbers.");
      await during.square(ctx as Asks);
      return n * n;
    },
  }),
  book: internalMutationGeneric({
    args: { n: v.number() },
    handler: async (ctx, { n }) => {
      await ctx.db.insert("booked", { n });
      if (n < 0) throw new Error("No negative numbers.");
      return n;
    },
  }),
  enqueue: mutationGeneric({
    args: { ns: v.array(v.number()) },
    handler: async (ctx, { ns }) =>
      await sums.enqueueBatch(
        ctx,
        ns.map((n) => ({ n })),
      ),
  }),
  enter: mutationGeneric({
    args: { ns: v.array(v.number()) },
    handler: async (ctx, { ns }) =>
      await books.enqueueBatch(
        ctx,
        ns.map((n) => ({ n })),
      ),
  }),
  ofSums: queryGeneric({
    args: { ids: v.array(v.string()) },
    handler: async (ctx, { ids }) => await sums.statusBatch(ctx, ids),
  }),
  ofBooks: queryGeneric({
    args: { ids: v.array(v.string()) },
    handler: async (ctx, { ids }) => await books.statusBatch(ctx, ids),
  }),
  booked: queryGeneric({
    args: {},
    handler: async (ctx) => (await ctx.db.query("booked").collect()).map(({ n }) => n as number),
  }),
};

/** The functions for callers with a permission for one queue alone, and for every caller. */
const { read: seesSums } = conveyor.dashboardApi({
  authorize: (_ctx, call) => !("queue" in call) || call.queue === "sums",
});
const { read: seesBooks } = conveyor.dashboardApi({
  authorize: (_ctx, call) => !("queue" in call) || call.queue === "books",
});
const { read: seesAll } = conveyor.dashboardApi({ authorize: "public" });

function setup() {
  const schema = defineSchema({ booked: defineTable({ n: v.number() }) });
  return suiteOf({ ...app, seesSums, seesBooks, seesAll }, schema);
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

// Shows DE-03, WP-17, C5, D1.
// Rules out D3.
test("actions run, and their results and errors are the jobs'", async () => {
  const t = setup();
  const ids: string[] = await t.mutation(functions["enqueue"], { ns: [1, 2, 3, -1] });
  await settle(t, { advance });
  const done: any[] = await t.query(functions["ofSums"], { ids });
  expect(done.map(({ status, result, error }) => [status, result ?? error])).toEqual([
    ["succeeded", 1],
    ["succeeded", 4],
    ["succeeded", 9],
    ["failed", expect.stringContaining("No negative numbers.")],
  ]);
});

// Shows SG-10, C5, D1, D2.
test("a mutation's writes are there if and only if its job has succeeded", async () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const t = setup();
  const ids: string[] = await t.mutation(functions["enter"], { ns: [1, -2, 3] });
  await settle(t, { advance });
  expect(readLine(warn.mock.calls[0]![0])).toMatchObject({
    ...{ conveyor: "handlerThrew", queue: "books", job: ids[1], error: "No negative numbers." },
    stack: expect.stringContaining("No negative numbers."),
  });
  warn.mockRestore();
  const done: any[] = await t.query(functions["ofBooks"], { ids });
  expect(done.map(({ status }) => status)).toEqual(["succeeded", "failed", "succeeded"]);
  expect(await t.query(functions["booked"], {})).toEqual([1, 3]);
});

test("lanes of queues that a dashboard's caller may not see are not among its workers", async () => {
  const t = setup();
  await t.mutation(functions["enqueue"], { ns: [1] });
  await t.mutation(functions["enter"], { ns: [1] });
  await settle(t, { advance });
  const lanesOf = async (whose: string): Promise<string[]> => {
    const seen: { name: string; queues: string[] }[] = await t.query(functions[whose], {
      call: { kind: "workers" },
    });
    return [
      ...new Set(seen.flatMap(({ name, queues }) => [name.split("#")[0]!, ...queues])),
    ].sort();
  };
  expect(await lanesOf("seesAll")).toEqual(["books", "sums"]);
  expect(await lanesOf("seesSums")).toEqual(["sums"]);
});

test("the main loop has its lanes and jobs by queue while they run, without queues that the caller may not see", async () => {
  const t = setup();
  const shown: MainLoop[] = [];
  const loopAs = async (ctx: Asks, whose: string, queue?: string) =>
    await ctx.runQuery(functions[whose], { call: { kind: "mainLoop", ...(queue && { queue }) } });
  during.square = async (ctx) => {
    shown.push(await loopAs(ctx, "seesAll"), await loopAs(ctx, "seesBooks"));
    await expect(loopAs(ctx, "seesBooks", "sums")).rejects.toThrow("authorize");
  };
  await t.mutation(functions["enqueue"], { ns: [1] });
  await settle(t, { advance });
  expect(shown).toEqual([
    expect.objectContaining({
      ...{ status: "running", generation: 1, lanes: { awake: 1, jobs: 1, more: false } },
      queues: [{ queue: "sums", lanes: 1, jobs: 1, isWaiting: false }],
    }),
    expect.objectContaining({
      ...{ status: "running", lanes: { awake: 1, jobs: 1, more: false }, queues: [] },
    }),
  ]);
  const after: MainLoop = await t.query(functions["seesAll"], { call: { kind: "mainLoop" } });
  expect(after).toMatchObject({ status: "idle", places: { used: 0, left: 56 }, queues: [] });
});

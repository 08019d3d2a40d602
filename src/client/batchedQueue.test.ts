/** A queue with `batch` and an inline handler: on `convex-test`, with the real component. */
import { convexTest } from "convex-test";
import {
  anyApi,
  componentsGeneric,
  defineSchema,
  mutationGeneric,
  queryGeneric,
} from "convex/server";
import { v } from "convex/values";
import { afterEach, beforeEach, describe, expect, expectTypeOf, test, vi } from "vitest";
import { register, settle } from "../test.js";
import { Conveyor, isConveyorError, type BatchedJob, type ComponentApi } from "./index.js";

const component = (componentsGeneric() as unknown as { conveyor: ComponentApi }).conveyor;
const conveyor = new Conveyor(component);
const functions: Record<string, any> = anyApi["app"] as never;

const texts = conveyor.queue("texts", {
  payload: { text: v.string() },
  result: v.object({ length: v.number() }),
  inline: () => functions["measure"],
  batch: { size: 4, waitMs: 100 },
  retry: { maxAttempts: 2, initialBackoffMs: 1_000, base: 1, jitter: "none" },
});
const after = conveyor.queue("after", { payload: { of: v.string() } });

type Text = BatchedJob<"texts", { text: string }, { length: number }>;
const seen: string[][] = [];
let behaves: (jobs: Text[]) => any = (jobs) =>
  jobs.map(({ payload }) => ({ length: payload.text.length }));

const app = {
  measure: texts.inline(async (_ctx, jobs) => {
    seen.push(jobs.map(({ payload, attempt }) => `${payload.text}${attempt}`));
    return await behaves(jobs);
  }),
  enqueue: mutationGeneric({
    args: { texts: v.array(v.string()) },
    handler: async (ctx, given) =>
      await texts.enqueueBatch(
        ctx,
        given.texts.map((text) => ({ text })),
      ),
  }),
  look: queryGeneric({
    args: { ids: v.array(v.string()) },
    handler: async (ctx, { ids }): Promise<any> => {
      const page = { numItems: 10, cursor: null };
      const followed = (await after.list(ctx, { paginationOpts: page })).page.length;
      const logs = await Promise.all(
        ids.map(async (id) => (await texts.logs(ctx, id))!.entries.map(({ message }) => message)),
      );
      return { jobs: await texts.statusBatch(ctx, ids), followed, logs };
    },
  }),
};

beforeEach(() => {
  vi.useFakeTimers();
  seen.length = 0;
  behaves = (jobs) => jobs.map(({ payload }) => ({ length: payload.text.length }));
});
afterEach(() => void vi.useRealTimers());

async function play(given: string[]) {
  const t = convexTest(defineSchema({}), {
    "./_generated/api.ts": () => Promise.resolve({}),
    "./app.ts": () => Promise.resolve(app),
  });
  register(t);
  const ids: string[] = await t.mutation(functions["enqueue"], { texts: given });
  await settle(t, { advance: (ms) => vi.advanceTimersByTime(ms) });
  return { t, ids, look: async () => await t.query(functions["look"], { ids }) };
}

test("jobs come to the handler in batches, and each has its own result, in order", async () => {
  const { look } = await play(["a", "bb", "ccc", "dddd", "eeeee"]);
  expect(seen.map(({ length }) => length).sort()).toEqual([1, 4]);
  const { jobs } = await look();
  expect(jobs.map(({ status, result }: any) => [status, result.length])).toEqual([
    ["succeeded", 1],
    ["succeeded", 2],
    ["succeeded", 3],
    ["succeeded", 4],
    ["succeeded", 5],
  ]);
});

// Shows D21.
test("one fails and the others succeed; its retry joins a later batch", async () => {
  behaves = (jobs) => {
    for (const job of jobs) {
      job.log(`read ${job.payload.text}`);
      if (job.payload.text === "b" && job.attempt === 1) job.fail(new Error("Not yet."));
      else job.succeed({ length: 1 });
    }
  };
  const { t, look } = await play(["a", "b", "c", "d"]);
  const first = await look();
  expect(first.jobs.map(({ status }: any) => status)).toEqual([
    ...["succeeded", "scheduled", "succeeded", "succeeded"],
  ]);
  await t.mutation(functions["enqueue"], { texts: ["e"] });
  vi.advanceTimersByTime(2_000);
  await settle(t, { advance: (ms) => vi.advanceTimersByTime(ms) });
  expect((await look()).jobs[1]).toMatchObject({ status: "succeeded", attempt: 2, failures: 1 });
  expect(seen.slice(1).flat().sort()).toEqual(["b2", "e1"]);
  expect((await look()).logs).toEqual([["read a"], ["read b", "read b"], ["read c"], ["read d"]]);
});

test("a result that does not fit the queue's validator fails its job alone, and so does one that is followed badly", async () => {
  behaves = (jobs) => {
    jobs[2]!.continueWith(after, { of: jobs[2]!.id });
    jobs[3]!.continueWith(after, { of: 5 as never });
    return [{ length: "one" }, { length: 2 }, { length: 3 }, { length: 4 }];
  };
  const { look } = await play(["a", "b", "c", "d"]);
  const { jobs, followed } = await look();
  expect(jobs.map(({ status, failures }: any) => [status, failures])).toEqual([
    ["scheduled", 1],
    ["succeeded", 0],
    ["succeeded", 0],
    ["scheduled", 1],
  ]);
  expect(followed).toBe(1);
});

test("an array of the wrong length, and a throw, fail every job without an answer", async () => {
  behaves = (jobs) => {
    jobs[0]!.succeed({ length: 7 });
    return [{ length: 1 }];
  };
  const { look } = await play(["a", "b", "c"]);
  const { jobs } = await look();
  expect(jobs[0]).toMatchObject({ status: "succeeded", result: { length: 7 } });
  for (const job of jobs.slice(1)) expect(job).toMatchObject({ status: "scheduled", failures: 1 });
});

describe("the definition", () => {
  const inline = () => functions["measure"];
  let name = 0;
  const define = (options: object) => () => conveyor.queue(`queue${(name += 1)}`, options);

  test.each([
    ["without an inline handler", { batch: { size: 2 } }, /names none/],
    ["with an action", { batch: { size: 2 }, action: inline }, /inline handler/],
    [
      "with a mutation",
      { batch: { size: 2 }, mutation: inline },
      /up to 16 jobs in one transaction/,
    ],
    ["of more than may run at once", { batch: { size: 11 }, inline }, /maxParallelism, 10; got 11/],
    ["of more than 64", { batch: { size: 65 }, inline, maxParallelism: 100 }, /from 1 to 64/],
    ["of none", { batch: { size: 0 }, inline }, /from 1 to 64; got 0/],
  ])("refuses batches %s", (_, options, words) => {
    let thrown: unknown;
    try {
      define(options)();
    } catch (error) {
      thrown = error;
    }
    expect(isConveyorError(thrown, "invalidArgument")).toBe(true);
    expect(thrown).toMatchObject({ data: { message: expect.stringMatching(words) as string } });
  });

  test("gives the handler its type: several jobs with `batch`, one without", () => {
    type Jobs = Parameters<Parameters<typeof texts.inline>[0]>;
    expectTypeOf<Jobs[1][number]["payload"]>().toEqualTypeOf<{ text: string }>();
    expectTypeOf<Jobs[1][number]["succeed"]>().toEqualTypeOf<
      (result: { length: number }) => void
    >();
    const single = conveyor.queue("single", { payload: { text: v.string() }, inline });
    type Job = Parameters<Parameters<typeof single.inline>[0]>[1];
    expectTypeOf<Job["payload"]>().toEqualTypeOf<{ text: string }>();
    // @ts-expect-error one result for all
    texts.inline(async () => ({ length: 1 }));
    // @ts-expect-error a result of another form
    texts.inline(async (_ctx, jobs) => jobs.map(() => ({ length: "1" })));
    // @ts-expect-error one job has no answers
    single.inline(async (_ctx, job) => job.succeed(1));
  });
});

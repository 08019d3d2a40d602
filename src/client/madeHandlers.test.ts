/** Handlers that a queue makes, with a function of their own and inline: on `convex-test`, with the real component. */
import { convexTest } from "convex-test";
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
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { register, settle } from "../test.js";
import { Conveyor, type ComponentApi, type Queue } from "./index.js";

const component = (componentsGeneric() as unknown as { conveyor: ComponentApi }).conveyor;
const built: string[] = [];
const conveyor = new Conveyor(component, {
  internalAction: (definition) => (built.push("action"), internalActionGeneric(definition)),
  internalMutation: (definition) => (built.push("mutation"), internalMutationGeneric(definition)),
});
const functions: Record<string, any> = anyApi["app"] as never;

const payload = { does: v.string() };
const progress = v.object({ percent: v.number() });
const named = (name: string) => () => functions[name];

const QUEUES = {
  acts: conveyor.queue("acts", { payload, progress, action: named("act") }),
  writes: conveyor.queue("writes", { payload, mutation: named("write") }),
  reads: conveyor.queue("reads", { payload, query: named("read") }),
  runs: conveyor.queue("runs", { payload, progress, inline: named("run") }),
  after: conveyor.queue("after", { payload: { of: v.string() } }),
  /** The function that names its handler throws, as where a module has gone. */
  vanished: conveyor.queue("vanished", {
    payload: { of: v.string() },
    action: (): any => {
      throw new TypeError("There is no such module.");
    },
  }),
  ticks: conveyor.queue("ticks", { mutation: named("tick"), onComplete: named("ticked") }),
  /** They name handlers that other queues made, or that no queue made. */
  strangersAction: conveyor.queue("strangersAction", { payload, action: named("act") }),
  strangersInline: conveyor.queue("strangersInline", { payload, inline: named("run") }),
  wrongKind: conveyor.queue("wrongKind", { payload, action: named("write") }),
  wrongKindMutation: conveyor.queue("wrongKindMutation", { payload, mutation: named("act") }),
  notMade: conveyor.queue("notMade", { payload, action: named("plain") }),
};

/** The behaviour of an action, as its payload asks for it. */
function does(job: any): string {
  const { does } = job.payload as { does: string };
  if (does === "says") {
    job.log("to be read");
    job.progress({ percent: 50 });
    job.write("a line\n");
  }
  if (does === "shows badly") job.progress({ percent: "half" });
  if (does === "is followed") job.continueWith(QUEUES.after, { of: job.id });
  if (does === "is followed badly") job.continueWith(QUEUES.after, { of: 1 });
  if (does === "names a next job") job.continueWith("after", { of: job.id });
  if (does === "is followed by a queue without a handler")
    job.continueWith(QUEUES.vanished, { of: job.id });
  if (does === "is followed under its key")
    job.continueWith(QUEUES[job.queue as "acts"], { does: "ends" }, { key: "k" });
  if (does === "is followed by one that is refused")
    job.continueWith(QUEUES.after, { of: job.id }, { runAt: 1e15 });
  if (does === "returns too much") return "x".repeat(1_044_481);
  if (does === "snoozes") job.snooze(3_600_000);
  if (does === "says and throws") {
    job.log("before the end");
    throw new Error("It was to fail.");
  }
  return job.idempotencyKey as string;
}

const app = {
  act: QUEUES.acts.action(async (_ctx, job) => does(job)),
  write: QUEUES.writes.mutation(async (ctx, job) => {
    await ctx.db.insert("written", { of: job.id });
    if (job.payload.does === "says") {
      const entry = job.log("first");
      entry.update({ message: "first, and changed" });
      job.log("second");
      return null;
    }
    return does(job);
  }),
  read: QUEUES.reads.query(async (_ctx, { snooze, ...job }) =>
    job.payload.does === "snoozes" ? snooze(3_600_000) : job,
  ),
  run: QUEUES.runs.inline(async (_ctx, job) => does(job)),
  tick: QUEUES.ticks.mutation(async (ctx, { id }) => {
    await ctx.db.insert("written", { of: id });
  }),
  ticked: QUEUES.ticks.completed(async (ctx, { id, outcome }) => {
    await ctx.db.insert("written", { of: `${id} ${outcome.status}` });
  }),
  plain: internalActionGeneric({ args: {}, handler: async () => null }),
  enqueue: mutationGeneric({
    args: { queue: v.string(), does: v.optional(v.string()) },
    handler: async (ctx, { queue, does }): Promise<string> => {
      const into = QUEUES[queue as "acts"] as Queue<any, any>;
      return await (does === undefined
        ? into.enqueue(ctx)
        : into.enqueue(ctx, { does }, { key: "k" }));
    },
  }),
  look: queryGeneric({
    args: { queue: v.string(), id: v.string() },
    handler: async (ctx, { queue, id }): Promise<any> => {
      const of = QUEUES[queue as "acts"];
      const job: any = await of.status(ctx, id);
      const logs = (await of.logs(ctx, id))!.entries.map(({ message }) => message);
      const output = (await of.output(ctx, id))!.parts.map(({ text }: any) => text).join("");
      const page = { numItems: 10, cursor: null };
      const after = (await QUEUES.after.list(ctx, { paginationOpts: page })).page.length;
      const own = (await of.list(ctx, { paginationOpts: page })).page.length;
      const why = JSON.stringify(await of.why(ctx, id));
      return { ...job, logs, output, after, own, why };
    },
  }),
  written: queryGeneric({
    args: {},
    handler: async (ctx) => await ctx.db.query("written").collect(),
  }),
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

async function play(queue: keyof typeof QUEUES, does?: string): Promise<any> {
  const schema = defineSchema({ written: defineTable({ of: v.string() }) });
  const t = convexTest(schema, {
    "./_generated/api.ts": () => Promise.resolve({}),
    "./app.ts": () => Promise.resolve(app),
  });
  register(t);
  const id = await t.mutation(functions["enqueue"], { queue, ...(does && { does }) });
  await settle(t, { advance: (ms) => vi.advanceTimersByTime(ms) });
  const written = (await t.query(functions["written"], {})) as { of: string }[];
  return { id, written, ...(await t.query(functions["look"], { queue, id })) };
}

describe.each(["acts", "runs"] as const)("in %s", (queue) => {
  test("the last words of a handler are recorded without its asking", async () => {
    const job = await play(queue, "says");
    expect(job).toMatchObject({ status: "succeeded", result: job.id });
    expect(job).toMatchObject({ logs: ["to be read"], output: "a line\n" });
  });

  test("a name in place of a queue, and a queue that cannot be declared, fail the attempt", async () => {
    const named = await play(queue, "names a next job");
    expect(named).toMatchObject({ status: "failed", after: 0 });
    expect(named.error).toMatch(/continueWith` takes a queue, as in .*; got "after"\./);
    const vanished = await play(queue, "is followed by a queue without a handler");
    expect(vanished).toMatchObject({ status: "failed" });
    expect(vanished.error).toMatch(/to follow cannot be enqueued: .*no such module/);
  });

  test("so are the reports of one that throws", async () => {
    const job = await play(queue, "says and throws");
    expect(job).toMatchObject({ status: "failed", logs: ["before the end"] });
  });

  test("progress that does not fit the queue is refused where it is shown", async () => {
    const { status, error } = await play(queue, "shows badly");
    expect(status).toBe("failed");
    expect(error).toContain("progress.percent must be number, got string");
  });

  test("a job is followed by another, in the transaction of its end", async () => {
    expect(await play(queue, "is followed")).toMatchObject({ status: "succeeded", after: 1 });
  });

  test("a job that is followed by one that does not fit has failed", async () => {
    const { status, error, after } = await play(queue, "is followed badly");
    expect({ status, after }).toEqual({ status: "failed", after: 0 });
    expect(error).toContain("payload.of must be string");
  });

  test("a job is put off without a failure", async () => {
    expect(await play(queue, "snoozes")).toMatchObject({ status: "scheduled", failures: 0 });
  });
});

describe("a mutation", () => {
  test("writes its log with its own rows", async () => {
    const { status, logs, written } = await play("writes", "says");
    expect({ status, logs }).toEqual({
      status: "succeeded",
      logs: ["first, and changed", "second"],
    });
    expect(written).toHaveLength(1);
  });

  test("that throws leaves neither", async () => {
    const { status, logs, written } = await play("writes", "says and throws");
    expect({ status, logs, written }).toEqual({ status: "failed", logs: [], written: [] });
  });

  test("is followed by another job", async () => {
    expect(await play("writes", "is followed")).toMatchObject({ status: "succeeded", after: 1 });
  });

  test("that is followed by one that is refused has failed, and its writes are undone", async () => {
    const { status, written, after } = await play("writes", "is followed by one that is refused");
    expect({ status, written, after }).toEqual({ status: "failed", written: [], after: 0 });
  });

  test("with a result that is too large to be kept has failed, once, and its writes are undone", async () => {
    const { status, attempt, written } = await play("writes", "returns too much");
    expect({ status, attempt, written }).toEqual({ status: "failed", attempt: 1, written: [] });
  });

  test("puts its job off, and its writes are undone", async () => {
    const { status, written } = await play("writes", "snoozes");
    expect({ status, written }).toEqual({ status: "scheduled", written: [] });
  });
});

// Shows C5, D1.
test("a query is given its job, and puts it off", async () => {
  const { status, result } = await play("reads", "nothing");
  expect(status).toBe("succeeded");
  expect(result).toMatchObject({
    ...{ queue: "reads", attempt: 1, failures: 0, resets: 0, priority: 0, tags: [], labels: [] },
    ...{ cost: 1, rounds: 0, payload: { does: "nothing" } },
  });
  expect(result.idempotencyKey).toBe(result.id);
  expect((await play("reads", "snoozes")).status).toBe("scheduled");
});

test("a queue without payload, with its ends received by the mutation that it made", async () => {
  const { id, status, written } = await play("ticks");
  expect(status).toBe("succeeded");
  expect(written.map(({ of }: { of: string }) => of)).toEqual([id, `${id} succeeded`]);
});

test.each([
  ["strangersAction", /^handlerMismatch: .*"strangersAction".*the queue "acts" made/],
  ["notMade", /^handlerMismatch: the queue's action does not take a job/],
] as const)("the first attempt of %s says that the handler is not its own", async (queue, says) => {
  const { status, error, attempt } = await play(queue, "nothing");
  expect({ status, attempt }).toEqual({ status: "failed", attempt: 1 });
  expect(error).toMatch(says);
});

test("an inline action in which a queue has no handler is seen as a handler that is missing", async () => {
  const { status, failures, why } = await play("strangersInline", "nothing");
  expect({ status, failures }).toEqual({ status: "scheduled", failures: 0 });
  expect(why).toContain("handlerMissing");
});

test("the app's own builders make its handlers", () => {
  expect(built).toEqual(expect.arrayContaining(["action", "mutation"]));
});

test.each(["acts", "writes", "runs"] as const)(
  "a job of the queue %s may be followed by one with its own key",
  async (queue) => {
    const job = await play(queue, "is followed under its key");
    expect(job).toMatchObject({ status: "succeeded", own: 2 });
  },
);

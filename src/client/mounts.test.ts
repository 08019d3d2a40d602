/** An app that mounts the component twice: a queue is of one of them, and functions of the other refuse it. */
import { convexTest } from "convex-test";
import {
  anyApi,
  componentsGeneric,
  defineSchema,
  mutationGeneric,
  queryGeneric,
} from "convex/server";
import { v } from "convex/values";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { register, settle } from "../test.js";
import { Conveyor, type ComponentApi } from "./index.js";
import { refusal } from "./setup.test.js";

const components = componentsGeneric() as unknown as Record<"conveyor" | "imports", ComponentApi>;
const conveyor = new Conveyor(components.conveyor);
const functions: Record<string, any> = anyApi["app"] as never;

/** For workers outside, in the other mount. */
const rows = new Conveyor(components.imports).queue("rows", { payload: { n: v.number() } });
const HERE = {
  action: conveyor.queue("byAction", { action: () => functions["act"] }),
  mutation: conveyor.queue("byMutation", { mutation: () => functions["write"] }),
  inline: conveyor.queue("inline", { inline: () => functions["work"] }),
};
type How = keyof typeof HERE;

/** Of one name in both mounts. */
const both = conveyor.queue("both", { mutation: () => functions["writeBoth"] });
const lists = [conveyor, new Conveyor(components.imports)].map((mount) =>
  mount.queue("lists", { payload: { n: v.number() } }),
);

const app = {
  act: HERE.action.action((_ctx, job) => job.continueWith(rows, { n: 1 })),
  write: HERE.mutation.mutation((_ctx, job) => job.continueWith(rows, { n: 1 })),
  work: HERE.inline.inline((_ctx, job) => job.continueWith(rows, { n: 1 })),
  writeBoth: both.mutation((_ctx, job) =>
    lists.forEach((list, n) => job.continueWith(list, { n })),
  ),
  enqueueBoth: mutationGeneric({ args: {}, handler: (ctx) => both.enqueue(ctx) }),
  counted: queryGeneric({
    args: {},
    handler: async (ctx) =>
      await Promise.all(lists.map(async (list) => (await list.counts(ctx)).pending.count)),
  }),
  enqueue: mutationGeneric({
    args: { how: v.string() },
    handler: async (ctx, { how }) => await HERE[how as How].enqueue(ctx),
  }),
  look: queryGeneric({
    args: { how: v.string(), id: v.string() },
    handler: async (ctx, { how, id }) => {
      const here = await conveyor.observe("rows").counts(ctx);
      const there = await rows.counts(ctx);
      const job = await HERE[how as How].status(ctx, id);
      return { job, here: here.pending.count, there: there.pending.count };
    },
  }),
};

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2030, 0, 1) }));
afterEach(() => void vi.useRealTimers());

async function run(how: How): Promise<any> {
  return await play(functions["enqueue"], { how }, (id) => [functions["look"], { how, id }]);
}

/** The answer of a look once a job that was enqueued so has run. */
async function play(
  enqueue: any,
  args: object,
  look: (id: string) => readonly [any, object],
): Promise<any> {
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const t = convexTest(defineSchema({}), {
    "/convex/_generated/server.ts": async () => ({}),
    "/convex/app.ts": async () => app,
  });
  for (const name of ["conveyor", "imports"]) register(t, name);
  const id: string = await t.mutation(enqueue, args);
  await settle(t, { advance: (ms: number) => vi.advanceTimersByTime(ms), stepMs: 250 });
  vi.restoreAllMocks();
  return await t.query(...look(id));
}

describe("a job that is continued with a queue of the other mount", () => {
  test.each(["action", "inline"] as const)(
    "fails by an %s handler: its lane records both in one mount, where no worker would find the second",
    async (how) => {
      const error = expect.stringContaining('The queue "rows" is of another mount');
      expect(await run(how)).toMatchObject({ job: { status: "failed", error }, here: 0, there: 0 });
    },
  );

  test("is enqueued there by a mutation handler, in its transaction", async () => {
    expect(await run("mutation")).toMatchObject({
      job: { status: "succeeded" },
      here: 0,
      there: 1,
    });
  });

  test("of the same name as one of its own mount is in its own mount, and the other job in the other", async () => {
    expect(await play(functions["enqueueBoth"], {}, () => [functions["counted"], {}])).toEqual([
      1, 1,
    ]);
  });
});

test("functions for pages and workers, and shared inline actions, take queues of their own mount alone", async () => {
  const same = new Conveyor((componentsGeneric() as unknown as typeof components).conveyor);
  const ours = same.queue("ours", { inline: () => functions["none"] });
  conveyor.api({ queues: [ours], authorize: "public" });
  conveyor.inline([ours.inline(() => null)]);
  const builds: (() => unknown)[] = [
    () => conveyor.api({ queues: [rows], authorize: "public" }),
    () => conveyor.workerApi({ queues: [rows] }),
    () => conveyor.workerApi({ queues: [], continueWith: [rows] }),
    () => conveyor.inline([rows.inline(() => null)]),
  ];
  for (const build of builds) {
    const refused = await refusal(Promise.resolve().then(build), "invalidArgument");
    expect(refused).toMatchObject({
      queue: "rows",
      message: expect.stringContaining("another mount"),
    });
  }
});

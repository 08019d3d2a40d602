/** Declarations of queues: the wrapper has the component told, in the transaction of the call, and only where that is needed. */
import {
  anyApi,
  componentsGeneric,
  defineSchema,
  defineTable,
  internalMutationGeneric,
  mutationGeneric,
} from "convex/server";
import { v } from "convex/values";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { DECLARATION_SETTLE_MS } from "../shared/index.js";
import { Conveyor, type ComponentApi } from "./index.js";
import { refusal } from "./setup.test.js";
import { suiteOf } from "./suite.test.js";

/** As two deployed versions of one app have it. */
const versions = [10_000, 20_000].map((leaseMs) => {
  const conveyor = new Conveyor(
    (componentsGeneric() as unknown as { conveyor: ComponentApi }).conveyor,
  );
  const options = { payload: v.any(), result: v.any(), onComplete: () => anyApi["app"]!["told"] };
  const queues = ["one", "two"].map((name) =>
    conveyor.queue(name, { ...options, leaseMs, shards: 1 }),
  );
  return { conveyor, queues, ...conveyor.workerApi({ queues }) };
});

/** How often the app has called its component, since this was last emptied. */
let calls: string[] = [];

const counting = (ctx: any) => ({
  ...ctx,
  runMutation: (reference: object, args: object) => {
    calls.push(Object.keys(args).sort().join());
    return ctx.runMutation(reference, args);
  },
});

const functions = {
  told: internalMutationGeneric({
    args: versions[0]!.queues[0]!.onCompleteArgs,
    handler: async (ctx, { id }) => void (await ctx.db.insert("ends", { id })),
  }),
  ...Object.fromEntries(
    versions.flatMap(({ conveyor, queues, claim, complete }, n) => [
      [`claim${n}`, claim],
      [`complete${n}`, complete],
      [`createToken${n}`, conveyor.tokenApi().create],
      [
        `enqueue${n}`,
        mutationGeneric({
          args: { queue: v.optional(v.number()) },
          handler: async (ctx, { queue = 0 }) =>
            await queues[queue]!.enqueue(counting(ctx), { by: n }),
        }),
      ],
      [
        `both${n}`,
        mutationGeneric({
          args: {},
          handler: async (ctx) =>
            await Promise.all(queues.map((queue) => queue.enqueue(counting(ctx), { by: n }))),
        }),
      ],
    ]),
  ),
};
const api = anyApi["app"] as Record<string, any>;
const schema = defineSchema({ ends: defineTable({ id: v.string() }) });

const setup = () => suiteOf(functions, schema);
type App = ReturnType<typeof setup>;

const queueRows = (t: App): Promise<any[]> =>
  (t as any).runInComponent("conveyor", (ctx: any) => ctx.db.query("queues").collect());
const rows = (t: App, table: string): Promise<any[]> =>
  (t as any).runInComponent("conveyor", (ctx: any) => ctx.db.query(table).collect());

async function worker(t: App, queues: string[] | null = null) {
  const { token } = await t.mutation(api["createToken0"], {
    name: "test",
    ...(queues === null ? {} : { queues }),
  });
  return { token: token as string, sessionKey: "session-1" };
}
const asks = (callSeq: number, queues = ["one", "two"]) => ({
  ...{ name: "w", callSeq, queues, max: 4 },
});

beforeEach(() => {
  calls = [];
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) });
});
afterEach(() => vi.useRealTimers());

describe("an enqueue", () => {
  test("costs one call of the component, and two more where its queue is to be declared first", async () => {
    const t = setup();
    await t.mutation(api["enqueue0"], {});
    expect(calls).toEqual(["jobs,queue", "queues", "jobs,queue"]);
    calls = [];
    await t.mutation(api["enqueue0"], {});
    expect(calls).toEqual(["jobs,queue"]);
    expect(await rows(t, "jobs")).toHaveLength(2);
  });

  test("of two versions in turn declares once in a while, and never more than once per call", async () => {
    const t = setup();
    const written = new Set<number>();
    for (let n = 0; n < 40; n += 1) {
      calls = [];
      await t.mutation(api[`enqueue${n % 2}`], {});
      expect(calls.filter((call) => call === "queues").length).toBeLessThanOrEqual(1);
      expect(calls.length).toBeLessThanOrEqual(3);
      written.add((await queueRows(t))[0]!.configuredAt);
      vi.advanceTimersByTime(DECLARATION_SETTLE_MS / 20);
    }
    expect(written.size).toBeLessThanOrEqual(3);
    expect(await rows(t, "jobs")).toHaveLength(40);
  });

  test("a second after another deploy's applies what this deploy declares: it may be the last for long", async () => {
    const t = setup();
    for (const n of [0, 1]) {
      await t.mutation(api[`enqueue${n}`], {});
      vi.advanceTimersByTime(1_000);
    }
    const [row] = await queueRows(t);
    expect(row.config.leaseMs).toBe(20_000);
  });

  test("of two queues at once in one mutation, and of the same queue by many first callers, loses none", async () => {
    const t = setup();
    await Promise.all(Array.from({ length: 6 }, (_, n) => t.mutation(api[`both${n % 2}`], {})));
    expect((await queueRows(t)).map(({ name }) => name).sort()).toEqual(["one", "two"]);
    expect(await rows(t, "jobs")).toHaveLength(12);
  });
});

describe("a change of a queue", () => {
  test.each([
    [0, 10_000],
    [1_000, 20_000],
  ])(
    "by its definition, %i ms after another deploy's enqueue, has a lease of %i ms in force",
    async (ms, leaseMs) => {
      const t = setup();
      await t.mutation(api["enqueue0"], {});
      vi.advanceTimersByTime(ms);
      await t.run(async (ctx) => await versions[1]!.queues[0]!.control.pause(ctx as never));
      const [row] = await queueRows(t);
      expect(row).toMatchObject({ config: { leaseMs }, pausedAt: expect.any(Number) });
    },
  );

  test("by its name changes nothing that code declares", async () => {
    const t = setup();
    await t.mutation(api["enqueue0"], {});
    vi.advanceTimersByTime(1_000);
    await t.run(async (ctx) => await versions[1]!.conveyor.control("one").pause(ctx as never));
    const [row] = await queueRows(t);
    expect(row).toMatchObject({ config: { leaseMs: 10_000 }, pausedAt: expect.any(Number) });
  });
});

describe("a claim", () => {
  test("of a declared and an undeclared queue declares the one, and takes the jobs of the other", async () => {
    const t = setup();
    const caller = await worker(t);
    await t.mutation(api["enqueue0"], {});
    const { jobs } = await t.mutation(api["claim0"], { ...caller, ...asks(1) });
    expect(jobs).toHaveLength(1);
    expect((await queueRows(t)).map(({ name }) => name)).toEqual(["one", "two"]);
    expect(await rows(t, "sessions")).toHaveLength(1);
  });

  test("by an unknown token, or of a queue that is not the token's, declares nothing", async () => {
    const t = setup();
    const { token, ...own } = await worker(t, ["one"]);
    const stranger = { ...own, token: `${token}x` };
    await refusal(t.mutation(api["claim0"], { ...stranger, ...asks(1) }), "tokenUnknown");
    await refusal(t.mutation(api["claim0"], { token, ...own, ...asks(1) }), "queueForbidden");
    expect(await queueRows(t)).toEqual([]);
    expect(await rows(t, "sessions")).toEqual([]);
  });

  test("that is repeated answers as before, though the code declares the queue otherwise by now", async () => {
    const t = setup();
    const caller = await worker(t);
    await t.mutation(api["enqueue0"], {});
    const first = await t.mutation(api["claim0"], { ...caller, ...asks(1, ["one"]) });
    await t.mutation(api["enqueue0"], {});
    const [before] = await queueRows(t);
    vi.setSystemTime(before.configuredAt + DECLARATION_SETTLE_MS);
    expect(first.jobs).toHaveLength(1);
    const again = await t.mutation(api["claim1"], { ...caller, ...asks(1, ["one"]) });
    expect(again.jobs.map(({ id }: { id: string }) => id)).toEqual(
      first.jobs.map(({ id }: { id: string }) => id),
    );
    expect(await queueRows(t)).toEqual([before]);
    const next = await t.mutation(api["claim1"], { ...caller, ...asks(2, ["one"]) });
    expect(next.jobs).toHaveLength(1);
    expect((await queueRows(t))[0]).toMatchObject({ config: { leaseMs: 20_000 } });
  });

  test("of a paused queue that is declared otherwise by now takes nothing, and the queue stays paused", async () => {
    const t = setup();
    const caller = await worker(t);
    await t.mutation(api["enqueue0"], {});
    await (t as any).runInComponent("conveyor", async (ctx: any) => {
      const [row] = await ctx.db.query("queues").collect();
      await ctx.db.patch(row._id, { pausedAt: Date.now() });
    });
    vi.advanceTimersByTime(DECLARATION_SETTLE_MS + 1);
    const { jobs } = await t.mutation(api["claim1"], { ...caller, ...asks(1, ["one"]) });
    expect(jobs).toEqual([]);
    const [row] = await queueRows(t);
    expect(row).toMatchObject({ config: { leaseMs: 20_000 }, pausedAt: expect.any(Number) });
  });
});

test("a completion that claims from a queue that is declared otherwise by now records its outcome once", async () => {
  const t = setup();
  const caller = await worker(t);
  for (let n = 0; n < 2; n += 1) await t.mutation(api["enqueue0"], {});
  const { jobs } = await t.mutation(api["claim0"], { ...caller, ...asks(1, ["one"]), max: 1 });
  vi.advanceTimersByTime(DECLARATION_SETTLE_MS + 1);
  await t.mutation(api["enqueue0"], { queue: 1 });
  const [{ id, attempt, queue }] = jobs;
  const outcome = { kind: "succeeded", result: 1 };
  const { answers, jobs: next } = await t.mutation(api["complete1"], {
    ...{ ...caller, callSeq: 2, finished: [{ id, attempt, queue, outcome }] },
    claim: { queues: ["one", "two"], max: 4 },
  });
  expect(answers).toMatchObject([{ id, answer: "ok" }]);
  expect(next).toHaveLength(2);
  expect(await t.run((ctx) => ctx.db.query("ends").collect())).toMatchObject([{ id }]);
  const [one, two] = await queueRows(t);
  expect([one.config.leaseMs, two.config.leaseMs]).toEqual([20_000, 10_000]);
  const [session] = await rows(t, "sessions");
  expect(session.leases).toHaveLength(2);
});

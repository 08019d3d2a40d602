/** The functions for pages, once for all queues: their answers, and their types. */
import {
  makeFunctionReference,
  type ApiFromModules,
  type Auth,
  type FilterApi,
  type FunctionReference,
} from "convex/server";
import { v } from "convex/values";
import { describe, expect, expectTypeOf, test } from "vitest";
import type { LogPage } from "../shared/index.js";
import {
  api,
  conveyor,
  exportsOfRows,
  loose,
  pages,
  refusal,
  setup,
  setupSession,
  tiles,
  type App,
} from "./setup.test.js";
import type { jobCalls } from "./index.js";
import { waitForResult, type JobId } from "./index.js";

const paginationOpts = { numItems: 5, cursor: null };

/** A module that serves `tiles` and `loose`, and not `exports`; and one of a queue apart. */
const some = conveyor.api({
  queues: [tiles, loose],
  authorize: "public",
  enqueue: { loose: true },
});
const apart = tiles.api({ authorize: "public" });
const modules = { some, apart };
type Module = keyof typeof modules;
const reads = (module: Module, name: keyof typeof some) =>
  makeFunctionReference<"query">(`${module}:${name}`);
const writes = (module: Module, name: keyof typeof some) =>
  makeFunctionReference<"mutation">(`${module}:${name}`);
/** A module's references, as `_generated/api` has them. */
type References<Functions extends object> =
  FilterApi<ApiFromModules<{ module: Functions }>, FunctionReference<any, "public">> extends {
    module: infer Module;
  }
    ? Module
    : never;

describe("status", () => {
  // Shows K1.
  test("answers by id, by ids in their order, and by key, of each queue", async () => {
    const t = setup();
    const tile = await t.mutation(...pages.enqueue("tiles", { x: 1 }));
    const other = await t.run(
      async (ctx) => await loose.enqueue(ctx as never, "it", { key: "k", priority: 3 }),
    );
    expect(await t.query(...pages.status(tile))).toMatchObject({ queue: "tiles", id: tile });
    const found = await t.query(...pages.statuses([other, "nonsense", tile]));
    expect(found.map((job) => job?.queue)).toEqual(["loose", undefined, "tiles"]);
    expect(await t.query(...pages.byKey("loose", "k"))).toMatchObject({ id: other });
    expect(await t.query(...pages.byKey("tiles", "k"))).toBeNull();
  });

  test("says on request why a job waits, its position, its attempts and its options, and else none of it", async () => {
    const t = setup();
    await t.mutation(...pages.enqueue("tiles", { x: 0 }));
    const id = await t.run(
      async (ctx) =>
        await tiles.enqueue(ctx as never, { x: 1 }, { group: "g", tags: ["a"], name: "one" }),
    );
    const plain = await t.query(...pages.status(id));
    expect(plain).toMatchObject({ status: "pending", name: "one" });
    for (const absent of ["why", "attempts", "options", "group", "tags"]) {
      expect(plain).not.toHaveProperty(absent);
    }
    const asked = await t.query(...pages.status(id, { why: true, attempts: true, options: true }));
    expect(asked).toMatchObject({
      why: { reasons: [{ kind: "noWorker" }, { kind: "behind" }], position: { more: false } },
      attempts: [],
      options: { group: "g", tags: ["a"] },
    });
  });

  const forms = "Send `{ id }`, `{ ids }` or `{ queue, key }`.";
  test.each([
    [{}, forms],
    [{ id: "a", ids: ["a"] }, forms],
    [{ key: "k" }, forms],
    [{ queue: "tiles" }, forms],
    [{ id: "a", queue: "tiles" }, forms],
    [{ ids: ["a"], why: true }, "Ask for each of these jobs by its `id`."],
  ])("refuses %o, and names the valid arguments", async (args, valid) => {
    const t = setup();
    const { message } = await refusal(t.query(api.app.status, args as never), "invalidArgument");
    expect(message).toContain(valid);
  });
});

describe("enqueue", () => {
  test("takes one payload, none where the queue takes none, or many", async () => {
    const t = setup();
    const one = await t.mutation(...pages.enqueue("tiles", { x: 1 }));
    const many = await t.mutation(...pages.enqueueMany("tiles", [{ x: 2 }, { x: 3 }]));
    expect(typeof one).toBe("string");
    expect(many).toHaveLength(2);
    expect((await t.query(api.app.stats, { queue: "tiles" })).counts.pending.count).toBe(3);
    expect(await t.mutation(...pages.enqueue("loose"))).toBeTypeOf("string");
    const both = { queue: "tiles", payload: { x: 1 }, payloads: [{ x: 1 }] };
    await refusal(t.mutation(api.app.enqueue, both as never), "invalidArgument");
    const none = t.mutation(api.app.enqueue, { queue: "tiles" } as never);
    expect(await refusal(none, "invalidPayload")).toMatchObject({ path: "payload.x" });
  });

  test("only into the queues that the app has named for it, though other queues may be watched", async () => {
    const t = setup({ modules });
    await t.mutation(writes("some", "enqueue"), { queue: "loose", payload: 1 });
    for (const module of ["some", "apart"] as const) {
      const call = t.mutation(writes(module, "enqueue"), { queue: "tiles", payload: { x: 1 } });
      const { message } = await refusal(call, "forbidden");
      expect(message).toContain("enqueue: { tiles: true }");
    }
  });
});

test("a rule that answers null, as untyped code may, gives no options to one job as to many", async () => {
  const rules = conveyor.api({
    queues: [loose],
    authorize: "public",
    enqueue: { loose: () => null as never },
  });
  const t = setup({ modules: { rules } });
  const enqueue = makeFunctionReference<"mutation">("rules:enqueue");
  expect(await t.mutation(enqueue, { queue: "loose", payload: 1 })).toBeTypeOf("string");
  expect(await t.mutation(enqueue, { queue: "loose", payloads: [2, 3] })).toHaveLength(2);
});

describe("a queue that is not served", () => {
  test("is refused by its name, with the way out", async () => {
    const t = setup({ modules });
    const named = { queue: "exports" };
    const calls = [
      t.query(reads("some", "list"), { ...named, paginationOpts }),
      t.query(reads("some", "stats"), named),
      t.query(reads("some", "status"), { ...named, key: "k" }),
      t.mutation(writes("some", "enqueue"), { ...named, payload: {} }),
    ];
    for (const call of calls) {
      const { message, queue } = await refusal(call, "unknownQueue");
      expect(queue).toBe("exports");
      expect(message).toContain("conveyor.api({ queues: […] })");
    }
    const twice = () => conveyor.api({ queues: [tiles, tiles], authorize: "public" });
    expect(twice).toThrow(/name .+tiles.+ twice/);
    const stray = () =>
      conveyor.api({
        queues: [tiles],
        authorize: "public",
        // @ts-expect-error it is not among the queues
        enqueue: { no: true },
      });
    expect(stray).toThrow("unknownQueue");
  });

  test.each(["some", "apart"] as const)(
    "has no jobs in `%s`: their ids name none",
    async (module) => {
      const t = setup({ modules });
      const id = await t.run(async (ctx) => {
        const row = await ctx.db.insert("done", { job: "x" as never, x: 1, outcome: null });
        return await exportsOfRows.enqueue(ctx, { row, copies: 1 });
      });
      for (const name of ["status", "logs", "output"] as const) {
        expect(await t.query(reads(module, name), { id }), name).toBeNull();
      }
      expect(await t.query(reads(module, "status"), { ids: [id] })).toEqual([null]);
      for (const name of ["cancel", "retry"] as const) {
        await refusal(t.mutation(writes(module, name), { id }), "unknownJob");
      }
    },
  );
});

test("stats answer counts, pace and health in one query of the component, and periods where they are asked for", async () => {
  const t = setup();
  await t.mutation(...pages.enqueue("tiles", { x: 1 }));
  const now = await t.query(api.app.stats, { queue: "tiles" });
  expect(now).toMatchObject({
    counts: { pending: { count: 1 } },
    health: { light: "green" },
    perMinute: { enqueued: expect.any(Number) },
  });
  expect(now).not.toHaveProperty("periods");
  const hours = await t.query(api.app.stats, { queue: "tiles", per: "hour", count: 3 });
  expect(hours).toMatchObject({ counts: now.counts, per: "hour" });
  expect(hours.periods).toHaveLength(3);
  await refusal(t.query(api.app.stats, { queue: "tiles", count: 3 }), "invalidArgument");
});

describe("how often the component is asked", () => {
  const ID = { id: "j" };
  const page: LogPage = { queue: "tiles", entries: [], cursor: "", isDone: true };
  const answers = { id: "j", status: "pending", ...page, page: [] };
  test.each([
    ["status", ID, 1],
    ["status", { ids: ["j", "k"] }, 1],
    ["logs", ID, 1],
    ["output", ID, 1],
    ["list", { queue: "tiles", paginationOpts }, 1],
    ["stats", { queue: "tiles" }, 1],
    ["stats", { queue: "tiles", per: "hour" }, 2],
    ["status", { queue: "tiles", key: "k" }, 2],
    ["status", { ...ID, options: true }, 1],
    ["status", { ...ID, attempts: 3 }, 2],
    ["status", { ...ID, why: true }, 3],
  ] as const)("%s of %o: %d times", async (name, args, times) => {
    let runs = 0;
    const runQuery = async (_query: unknown, asked: object) => {
      runs += 1;
      return "ids" in asked ? [answers, answers] : "limit" in asked ? [] : answers;
    };
    const made = some[name] as unknown as { _handler: (ctx: object, args: object) => unknown };
    await made._handler({ runQuery, db: {}, auth: {} }, args);
    expect(runs).toBe(times);
  });
});

// Shows N8.
test("a reader of the functions has the types of each queue, by the id's brand or the queue's name", () => {
  const typed = conveyor.queue("typed", {
    payload: { to: v.string() },
    result: v.object({ sent: v.boolean() }),
    progress: v.object({ percent: v.number() }),
  });
  const made = conveyor.api({
    queues: [typed, tiles],
    authorize: (_ctx, call) => {
      if (call.kind === "enqueue" && call.queue === "typed") {
        expectTypeOf(call.payloads).toEqualTypeOf<{ to: string }[]>();
      }
      if (call.kind === "cancel" && call.queue === "tiles") {
        expectTypeOf(call.id).toEqualTypeOf<JobId<"tiles">>();
      }
      // @ts-expect-error no such queue
      return call.kind === "stats" && call.queue === "others";
    },
    enqueue: {
      typed: (ctx, { to }) => {
        expectTypeOf(to).toEqualTypeOf<string>();
        expectTypeOf(ctx.auth).toEqualTypeOf<Auth>();
        return { key: to };
      },
    },
  });
  // @ts-expect-error a browser's job has no such option
  conveyor.api({ queues: [typed], authorize: "public", enqueue: { typed: () => ({ sleep: 1 }) } });
  type Calls = ReturnType<typeof jobCalls<References<typeof made>>>;
  type Other = JobId<"loose">;
  const check = async (t: App, jobs: Calls, id: JobId<"typed">, other: Other) => {
    const job = await t.query(...jobs.status(id));
    if (job?.status === "succeeded") expectTypeOf(job.result).toEqualTypeOf<{ sent: boolean }>();
    if (job?.status === "running") {
      expectTypeOf(job.progress).toEqualTypeOf<{ percent: number } | undefined>();
    }
    // @ts-expect-error it was not asked for
    void job?.attempts.length;
    void (await t.query(...jobs.status(id, { attempts: true })))?.attempts.length;
    const any = await t.query(...jobs.status("any string"));
    expectTypeOf(any!.queue).toEqualTypeOf<"typed" | "tiles">();
    // @ts-expect-error an id of a queue that is not served
    void jobs.status(other);
    expectTypeOf(await t.mutation(...jobs.enqueue("typed", { to: "ann" }))).toEqualTypeOf<
      JobId<"typed">
    >();
    expectTypeOf(await t.mutation(...jobs.enqueueMany("typed", [{ to: "ann" }]))).toEqualTypeOf<
      JobId<"typed">[]
    >();
    // @ts-expect-error `to` is a string
    void jobs.enqueue("typed", { to: 1 });
    // @ts-expect-error pages may not enqueue into it
    void jobs.enqueue("tiles", { x: 1 });
    // @ts-expect-error no such queue
    void jobs.byKey("others", "k");
    const { status } = {} as References<typeof made>;
    const result = await waitForResult({} as never, status, id);
    expectTypeOf(result).toEqualTypeOf<{ sent: boolean }>();
    const either = await waitForResult({} as never, status, "any string");
    expectTypeOf(either).toEqualTypeOf<{ sent: boolean } | { pixels: string }>();
  };
  expect([check, made.status]).toHaveLength(2);
});

test("a job that runs is canceled by its worker, whichever queue it is of", async () => {
  const t = setup();
  const id = await t.mutation(...pages.enqueue("loose", 1));
  const session = await setupSession(t);
  await t.mutation(api.app.claim, { ...session, name: "w", callSeq: 1, queues: ["loose"], max: 1 });
  expect(await t.mutation(api.app.cancel, { id })).toMatchObject({ requested: true });
});

/** Queues over the app's own table that the app announces: for workers, and as loops over batches. */
import { convexTest } from "convex-test";
import {
  anyApi,
  componentsGeneric,
  defineSchema,
  defineTable,
  mutationGeneric,
  type DataModelFromSchemaDefinition,
} from "convex/server";
import { v } from "convex/values";
import { afterEach, describe, expect, test, vi } from "vitest";
import { pass, register, settle } from "../test.js";
import { Conveyor, type ComponentApi } from "./index.js";

const columns = { text: v.string(), letters: v.number(), status: v.string() };
/** Short ones first, and these by their letters. */
const order = ["status", "letters", "text"] as const;
const schema = defineSchema({
  notes: defineTable(columns).index("order", [...order]),
  lines: defineTable(columns).index("order", [...order]),
  pages: defineTable(columns).index("order", [...order]),
  ranges: defineTable(columns).index("letters", ["letters"]),
});
type Table = "notes" | "lines" | "pages" | "ranges";
type DataModel = DataModelFromSchemaDefinition<typeof schema>;

const conveyor = new Conveyor<DataModel>(
  (componentsGeneric() as unknown as { conveyor: ComponentApi }).conveyor,
);
const named = anyApi as any;
const options = {
  index: "order",
  columns: { state: "status" },
  states: { pending: "new", running: "busy", succeeded: "done", failed: "bad" },
} as const;
const notes = conveyor.tableQueue("notes", {
  ...options,
  functions: () => named.notes,
  announced: true,
  // One row's end brings another row.
  record: async (ctx, { row }): Promise<void> => {
    if (row.text !== "first") return;
    await ctx.db.insert("notes", { text: "second", letters: 6, status: "new" });
    await queues.notes.ping(ctx);
  },
});
let batches: { texts: string[]; cursor: unknown }[] = [];
let begunAt: number[] = [];
let fails = 0;
const lines = conveyor.tableQueue("lines", {
  ...options,
  functions: () => named.lines,
  loop: { rows: 3 },
});
const pages = conveyor.tableQueue("pages", {
  ...options,
  functions: () => named.pages,
  loop: { rows: 3 },
  retry: { maxAttempts: 4, initialBackoffMs: 10_000, maxBackoffMs: 30_000, jitter: "none" },
});
const ranges = conveyor.tableQueue("ranges", {
  ...options,
  index: "letters",
  range: (q) => q.eq("letters", 1),
  functions: () => named.ranges,
  loop: { rows: 3 },
  retry: { maxAttempts: 1 },
});
type Batch = Parameters<Parameters<typeof lines.loop | typeof pages.loop>[0]>;
async function work(...[ctx, { rows, cursor }]: Batch) {
  batches.push({ texts: rows.map(({ text }) => text), cursor: cursor as unknown });
  begunAt.push(Date.now());
  const refused = rows.find(({ text }) => text === "refused");
  if (refused !== undefined) await ctx.db.patch(refused._id, { status: "refused" });
  if (rows.some(({ text }) => text === "grows")) {
    await ctx.db.insert("lines", { text: "grown", letters: 5, status: "new" });
    await queues.lines.ping(ctx);
  }
  if (fails-- > 0) {
    for (const { _id } of rows) await ctx.db.patch(_id, { status: "touched" });
    throw new Error("Not now.");
  }
  return ((cursor as number | null) ?? 0) + rows.length;
}
const queues: Record<Table, { ping: (ctx: any) => Promise<void> }> = {
  notes,
  lines,
  pages,
  ranges,
};

const insert = (table: Table) =>
  mutationGeneric({
    args: { texts: v.array(v.string()), silent: v.optional(v.boolean()) },
    handler: async (ctx, { texts, silent }) => {
      for (const text of texts)
        await ctx.db.insert(table, { text, letters: text.length, status: "new" });
      if (silent !== true) await queues[table].ping(ctx);
    },
  });
const functions = {
  ...conveyor.workerApi({ queues: [notes, lines, pages] }),
  createToken: conveyor.tokenApi().create,
  pause: mutationGeneric(async (ctx) => await notes.control.pause(ctx)),
  resume: mutationGeneric(async (ctx) => await notes.control.resume(ctx)),
  notes: insert("notes"),
  lines: insert("lines"),
  pages: insert("pages"),
  ranges: insert("ranges"),
};

async function setup() {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) });
  batches = [];
  begunAt = [];
  fails = 0;
  const t = convexTest(schema, {
    "/convex/_generated/server.ts": async () => ({}),
    "/convex/app.ts": async () => functions,
    "/convex/notes.ts": async () => ({
      claimable: notes.claimable,
      take: notes.take,
      record: notes.record,
    }),
    "/convex/lines.ts": async () => ({ run: lines.loop(work) }),
    "/convex/pages.ts": async () => ({ run: pages.loop(work) }),
    "/convex/ranges.ts": async () => ({ run: ranges.loop(work as never) }),
  });
  register(t);
  const { token } = await t.mutation(named.app.createToken, { name: "w" });
  const hasWork = async (queue: string): Promise<boolean> =>
    await t.query(named.app.watch, { token, call: { kind: "hasWork", queues: [queue] } });
  let claimed: any[] = [];
  const claim = async (n: number, max: number, queue = "notes"): Promise<string[]> => {
    const args = { token, sessionKey: "s", name: "w", callSeq: n, queues: [queue], max };
    const { jobs } = await t.mutation(named.app.claim, args);
    claimed = jobs;
    return jobs.map(({ payload }: { payload: { text: string } }) => payload.text);
  };
  /** Ends the jobs of the last claim, and claims in the same call. */
  const complete = async (n: number, max: number): Promise<string[]> => {
    const finished = claimed.map(({ id, attempt }) => ({
      ...{ id, attempt, queue: "notes" },
      outcome: { kind: "succeeded", result: null },
    }));
    const claim = { queues: ["notes"], max };
    const args = { token, sessionKey: "s", callSeq: n, finished, claim };
    const { jobs } = await t.mutation(named.app.complete, args);
    return jobs.map(({ payload }: { payload: { text: string } }) => payload.text);
  };
  const write = async (table: Table, texts: string[], silent = false) =>
    await t.mutation(named.app[table], { texts, silent });
  const states = async (table: Table) =>
    await t.run(async (ctx) => (await ctx.db.query(table).collect()).map(({ status }) => status));
  return { t, hasWork, claim, complete, write, states };
}

const TIME = { advance: (ms: number) => vi.advanceTimersByTime(ms), stepMs: 1_000 };
/** Where no function waits for the clock, each ends before time goes on, however busy the machine is. */
const EXACT = { ...TIME, momentMs: 1_000 };

afterEach(() => void vi.useRealTimers());

describe("an announced queue", () => {
  test("wakes its workers by the announcement, until a claim has found the last row", async () => {
    const { claim, hasWork, write } = await setup();
    await write("notes", ["silent"], true);
    expect(await hasWork("notes")).toBe(false);
    await write("notes", ["a", "b"]);
    expect(await hasWork("notes")).toBe(true);
    expect(await claim(1, 2)).toHaveLength(2);
    expect(await hasWork("notes")).toBe(true);
    expect(await claim(2, 2)).toHaveLength(1);
    expect(await hasWork("notes")).toBe(false);
    await write("notes", ["c"]);
    expect(await hasWork("notes")).toBe(true);
  });

  test("keeps an announcement of the end of a job, in the call that claims the last rows", async () => {
    const { claim, complete, hasWork, write } = await setup();
    await write("notes", ["first"]);
    expect(await claim(1, 1)).toEqual(["first"]);
    await write("notes", ["b"]);
    expect(await complete(2, 2)).toEqual(["b"]);
    expect(await hasWork("notes")).toBe(true);
    expect(await claim(3, 2)).toEqual(["second"]);
    expect(await complete(4, 2)).toEqual([]);
    expect(await hasWork("notes")).toBe(false);
  });

  test("stays announced where a call that ends a job takes no row", async () => {
    const { t, claim, complete, hasWork, write } = await setup();
    await write("notes", ["a"]);
    expect(await claim(1, 1)).toEqual(["a"]);
    await write("notes", ["b"]);
    await t.mutation(named.app.pause, {});
    expect(await complete(2, 2)).toEqual([]);
    await t.mutation(named.app.resume, {});
    expect(await hasWork("notes")).toBe(true);
  });

  // Shows SG-25, C28.
  test("gives its rows to workers in ascending order of all fields of the index, however they were inserted", async () => {
    const { claim, write } = await setup();
    await write("notes", ["dd", "b", "aa", "c"]);
    await write("notes", ["a"]);
    expect(await claim(1, 2)).toEqual(["a", "b"]);
    expect(await claim(2, 9)).toEqual(["c", "aa", "dd"]);
  });
});

describe("a loop over batches", () => {
  // Shows WP-40, SG-25, C28.
  test("is begun by an announcement, is given rows in order with its cursor, and ends when none waits", async () => {
    const { t, write, states, claim, hasWork } = await setup();
    await write("lines", ["c", "aa", "a", "b"]);
    // Announced twice: one loop.
    await write("lines", [], false);
    await settle(t, TIME);
    expect(batches).toEqual([
      { texts: ["a", "b", "c"], cursor: null },
      { texts: ["aa"], cursor: 3 },
    ]);
    expect(await states("lines")).toEqual(["done", "done", "done", "done"]);
    expect(await hasWork("lines")).toBe(false);
    expect(await claim(1, 1, "lines")).toEqual([]);
  });

  // Shows WP-40.
  test("goes on with its cursor when rows come again, and leaves the state that the handler gave to a row", async () => {
    const { t, write, states } = await setup();
    await write("lines", ["a", "refused"]);
    await settle(t, TIME);
    await write("lines", ["b"]);
    await settle(t, TIME);
    expect(batches.map(({ cursor }) => cursor)).toEqual([null, 2]);
    expect(await states("lines")).toEqual(["done", "refused", "done"]);
  });

  test("goes on with a row that its handler has inserted and announced", async () => {
    const { t, write, states } = await setup();
    await write("lines", ["grows"]);
    await settle(t, TIME);
    expect(batches.map(({ texts }) => texts)).toEqual([["grows"], ["grown"]]);
    expect(await states("lines")).toEqual(["done", "done"]);
  });

  // Shows WP-40.
  test("does not begin with a row that is not announced: it works on it when the next one is", async () => {
    const { t, write, states } = await setup();
    await write("lines", ["a"], true);
    await pass(t, 120_000, TIME);
    expect(batches).toEqual([]);
    expect(await states("lines")).toEqual(["new"]);
    await write("lines", ["b"]);
    await settle(t, TIME);
    expect(batches).toEqual([{ texts: ["a", "b"], cursor: null }]);
  });

  // Shows WP-40.
  test("a batch that fails leaves nothing, and is tried again", async () => {
    const { t, write, states } = await setup();
    fails = 1;
    await write("lines", ["a", "b"]);
    await pass(t, 5_000, EXACT);
    expect(batches.map(({ cursor }) => cursor)).toEqual([null, null]);
    expect(await states("lines")).toEqual(["done", "done"]);
  });

  // Shows WP-40.
  test("a batch that always fails is tried by `retry`, after waits that grow, and again with the next announcement", async () => {
    const { t, write, states } = await setup();
    fails = Infinity;
    await write("pages", ["a"]);
    await pass(t, 600_000, EXACT);
    const waits = begunAt.slice(1).map((at, i) => Math.floor((at - begunAt[i]!) / 5_000) * 5);
    expect(waits).toEqual([10, 20, 30]);
    expect(await states("pages")).toEqual(["new"]);
    fails = 0;
    await write("pages", ["b"]);
    await settle(t, TIME);
    expect(batches.at(-1)).toEqual({ texts: ["a", "b"], cursor: null });
    expect(await states("pages")).toEqual(["done", "done"]);
  });

  test("whose range has rows that do not wait fails, in place of working on them again and again", async () => {
    const { t, states } = await setup();
    await t.run(async (ctx) => {
      for (const status of ["done", "new"])
        await ctx.db.insert("ranges", { text: "a", letters: 1, status });
    });
    await t.mutation(named.app.ranges, { texts: [] });
    await pass(t, 30_000, EXACT);
    expect(batches).toEqual([]);
    expect(await states("ranges")).toEqual(["done", "new"]);
    const jobs = await (t as any).runInComponent("conveyor", (ctx: any) =>
      ctx.db.query("jobs").collect(),
    );
    expect(jobs).toMatchObject([
      { status: "failed", error: expect.stringContaining("rows that do not wait") },
    ]);
  });

  // Shows WP-40.
  test("has a thousand tries, down to one a minute, where `retry` says nothing", async () => {
    const { t, write } = await setup();
    await write("lines", ["a"]);
    const [queue] = await (t as any).runInComponent("conveyor", (ctx: any) =>
      ctx.db.query("queues").collect(),
    );
    expect(queue.config.retry).toMatchObject({ maxAttempts: 1_000, maxBackoffMs: 60_000 });
  });
});

// Shows SG-26.
test("tables, indexes, columns and states are checked by the app's data model", () => {
  const another = new Conveyor<DataModel>({} as never);
  const given = { ...options, functions: () => named.notes };
  // @ts-expect-error The app has no such table.
  another.tableQueue("papers", given);
  another.tableQueue("notes", given);
  // @ts-expect-error The table has no such index.
  expect(() => another.tableQueue("notes", { ...given, index: "title" })).toThrow("twice");
  // @ts-expect-error The table has no such column.
  expect(() => another.tableQueue("notes", { ...given, columns: { state: "phase" } })).toThrow();
  const wrong = { ...options.states, failed: 1 } as const;
  // @ts-expect-error The column has no such value.
  expect(() => another.tableQueue("notes", { ...given, states: wrong })).toThrow();
});

test("`enqueue` is refused: the app inserts a row", async () => {
  for (const call of [
    notes.enqueue(),
    notes.enqueueBatch(),
    notes.enqueueUnique(),
    notes.replace(),
  ])
    await expect(call).rejects.toThrow("Insert a row");
});

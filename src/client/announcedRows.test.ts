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
import { register, settle } from "../test.js";
import { Conveyor, type ComponentApi } from "./index.js";

const columns = { text: v.string(), at: v.number(), status: v.string() };
const schema = defineSchema({
  notes: defineTable(columns).index("at", ["status", "at"]),
  lines: defineTable(columns).index("at", ["status", "at"]),
});
type DataModel = DataModelFromSchemaDefinition<typeof schema>;

const conveyor = new Conveyor<DataModel>(
  (componentsGeneric() as unknown as { conveyor: ComponentApi }).conveyor,
);
const named = anyApi as any;
const options = {
  index: "at",
  columns: { state: "status" },
  states: { pending: "new", running: "busy", succeeded: "done", failed: "bad" },
} as const;
const notes = conveyor.tableQueue("notes", {
  ...options,
  functions: () => named.notes,
  announced: true,
});
let batches: { texts: string[]; cursor: unknown }[] = [];
let fails = 0;
const lines = conveyor.tableQueue("lines", {
  ...options,
  functions: () => named.lines,
  loop: { rows: 3 },
});
const run = lines.loop(async (ctx, { rows, cursor }) => {
  batches.push({ texts: rows.map(({ text }) => text), cursor: cursor as unknown });
  const refused = rows.find(({ text }) => text === "refused");
  if (refused !== undefined) await ctx.db.patch(refused._id, { status: "refused" });
  if (fails-- > 0) throw new Error("Not now.");
  return ((cursor as number | null) ?? 0) + rows.length;
});

const insert = (table: "notes" | "lines") =>
  mutationGeneric({
    args: { texts: v.array(v.string()), silent: v.optional(v.boolean()) },
    handler: async (ctx, { texts, silent }) => {
      for (const [at, text] of texts.entries())
        await ctx.db.insert(table, { text, at, status: "new" });
      if (silent !== true) await (table === "notes" ? notes : lines).ping(ctx);
    },
  });
const functions = {
  ...conveyor.workerApi({ queues: [notes, lines] }),
  createToken: conveyor.tokenApi().create,
  note: insert("notes"),
  line: insert("lines"),
};

async function setup() {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) });
  batches = [];
  fails = 0;
  const t = convexTest(schema, {
    "/convex/_generated/server.ts": async () => ({}),
    "/convex/app.ts": async () => functions,
    "/convex/notes.ts": async () => ({
      claimable: notes.claimable,
      take: notes.take,
      record: notes.record,
    }),
    "/convex/lines.ts": async () => ({ run }),
  });
  register(t);
  const { token } = await t.mutation(named.app.createToken, { name: "w" });
  const hasWork = async (queue: string): Promise<boolean> =>
    await t.query(named.app.watch, { token, call: { kind: "hasWork", queues: [queue] } });
  const claim = async (n: number, max: number, queue = "notes"): Promise<unknown[]> => {
    const args = { token, sessionKey: "s", name: "w", callSeq: n, queues: [queue], max };
    return (await t.mutation(named.app.claim, args)).jobs;
  };
  const write = async (table: "note" | "line", texts: string[], silent = false) =>
    await t.mutation(named.app[table], { texts, silent });
  const states = async (table: "notes" | "lines") =>
    await t.run(async (ctx) => (await ctx.db.query(table).collect()).map(({ status }) => status));
  return { t, hasWork, claim, write, states };
}

const TIME = { advance: (ms: number) => vi.advanceTimersByTime(ms), stepMs: 1_000 };

afterEach(() => void vi.useRealTimers());

describe("an announced queue", () => {
  test("wakes its workers by the announcement, until a claim has found the last row", async () => {
    const { claim, hasWork, write } = await setup();
    await write("note", ["silent"], true);
    expect(await hasWork("notes")).toBe(false);
    await write("note", ["a", "b"]);
    expect(await hasWork("notes")).toBe(true);
    expect(await claim(1, 2)).toHaveLength(2);
    expect(await hasWork("notes")).toBe(true);
    expect(await claim(2, 2)).toHaveLength(1);
    expect(await hasWork("notes")).toBe(false);
    await write("note", ["c"]);
    expect(await hasWork("notes")).toBe(true);
  });
});

describe("a loop over batches", () => {
  // Shows WP-40.
  test("is begun by an announcement, is given rows in order with its cursor, and ends when none waits", async () => {
    const { t, write, states, claim, hasWork } = await setup();
    await write("line", ["a", "b", "c", "d"]);
    // Announced twice: one loop.
    await write("line", [], false);
    await settle(t, TIME);
    expect(batches).toEqual([
      { texts: ["a", "b", "c"], cursor: null },
      { texts: ["d"], cursor: 3 },
    ]);
    expect(await states("lines")).toEqual(["done", "done", "done", "done"]);
    expect(await hasWork("lines")).toBe(false);
    expect(await claim(1, 1, "lines")).toEqual([]);
  });

  // Shows WP-40.
  test("goes on with its cursor when rows come again, and leaves the state that the handler gave to a row", async () => {
    const { t, write, states } = await setup();
    await write("line", ["a", "refused"]);
    await settle(t, TIME);
    await write("line", ["b"]);
    await settle(t, TIME);
    expect(batches.map(({ cursor }) => cursor)).toEqual([null, 2]);
    expect(await states("lines")).toEqual(["done", "refused", "done"]);
  });

  // Shows WP-40.
  test("a batch that fails leaves nothing, and is tried again", async () => {
    const { t, write, states } = await setup();
    fails = 1;
    await write("line", ["a", "b"]);
    await settle(t, TIME);
    expect(batches.map(({ cursor }) => cursor)).toEqual([null, null]);
    expect(await states("lines")).toEqual(["done", "done"]);
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

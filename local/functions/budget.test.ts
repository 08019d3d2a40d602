import { afterEach, expect, test } from "vitest";
import { PRELUDE, startTestBackend, type TestBackend } from "./testing.js";

let backend: TestBackend;
afterEach(() => backend.stop());

const MODULE = `${PRELUDE}
  export const insert = mutation(async (ctx, { n }) => {
    for (let i = 0; i < n; i++) await ctx.db.insert("rows", { text: "x".repeat(100) });
  });
  export const read = query(async (ctx, { n }) => (await ctx.db.query("rows").take(n)).length);
  export const get = query(async (ctx, { n }) => {
    const rows = await ctx.db.query("rows").collect();
    for (let i = 0; i < n; i++) await ctx.db.get(rows[2 * i]._id);
  });
  export const plan = mutation(async (ctx, { n }) => {
    for (let i = 0; i < n; i++) await ctx.scheduler.runAfter(60_000, api.m.read, { n: 0 });
  });
  export const outer = mutation(async (ctx, { call, n, limits, before = 0 }) => {
    for (let i = 0; i < before; i++) await ctx.db.insert("rows", { text: "before" });
    const run = call === "read" || call === "get" ? ctx.runQuery : ctx.runMutation;
    return run(api.m[call], { n }, { transactionLimits: limits }).then(() => null, (error) => error.message);
  });
  export const twice = mutation((ctx, args) =>
    ctx.runMutation(api.m.outer, args, { transactionLimits: { documentsWritten: 2 } }).then((said) => said, (error) => error.message));
  export const count = query(async (ctx) => (await ctx.db.query("rows").collect()).length);`;

test.each([
  ["insert", { documentsWritten: 3 }, "TooManyWrites"],
  ["insert", { bytesWritten: 400 }, "TooManyBytesWritten"],
  ["read", { documentsRead: 3 }, "TooManyDocumentsRead"],
  ["read", { bytesRead: 400 }, "TooManyBytesRead"],
  ["get", { databaseQueries: 2 }, "TooManyReads"],
])(
  "%s within %o fails with %s where it goes over, and its caller goes on",
  async (call, limits, code) => {
    backend = await startTestBackend({ "": { "m.ts": MODULE } });
    await backend.mutation("m:insert", { n: 10 });
    expect(await backend.mutation("m:outer", { call, n: 1, limits })).toBe(null);
    const rows = await backend.query("m:count");
    const said = await backend.mutation("m:outer", { call, n: 5, limits });
    expect(said).toContain(`${code}: `);
    expect(said).toContain(`transactionLimits.${Object.keys(limits)[0]}`);
    // The failed call's writes are undone.
    expect(await backend.query("m:count")).toBe(rows);
  },
);

test("a limit counts on top of the transaction's earlier use, and an inner call cannot raise it", async () => {
  backend = await startTestBackend({ "": { "m.ts": MODULE } });
  const args = { call: "insert", n: 2, limits: { documentsWritten: 2 } };
  expect(await backend.mutation("m:outer", { ...args, before: 5 })).toBe(null);
  const wider = { call: "insert", n: 3, limits: { documentsWritten: 100 } };
  expect(await backend.mutation("m:twice", wider)).toContain("TooManyWrites: ");
});

test("a limit is a whole number of 0 or more", async () => {
  backend = await startTestBackend({ "": { "m.ts": MODULE } });
  const within = (documentsWritten: number) =>
    backend.mutation("m:outer", { call: "insert", n: 0, limits: { documentsWritten } });
  expect(await within(0)).toBe(null);
  for (const wrong of [0.5, -1, Infinity]) {
    expect(await within(wrong)).toMatch(/Invalid arguments for `runUdf`: .* expected usize/);
  }
});

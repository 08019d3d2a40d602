/** Calls in threads among each other: nested ones, many at once, and one that loses its thread in the middle. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { PRELUDE, startTestBackend, type TestBackend } from "../testing.js";
import type { LogLine } from "../types.js";

const SOURCES = {
  "": {
    "m.ts": `${PRELUDE}
      export const deep = mutation(async (ctx, { depth }) => {
        console.log("down", depth);
        await ctx.db.insert("rows", { depth });
        const below = depth === 0 ? 0 : await ctx.runMutation(api.m.deep, { depth: depth - 1 });
        console.log("up", depth);
        return below + 1;
      });
      export const act = action(async (ctx, { n }) => {
        await ctx.runMutation(api.m.deep, { depth: 1 });
        return n + (n === 0 ? 0 : await ctx.runAction(api.m.act, { n: n - 1 }));
      });
      export const rows = query(async (ctx) => (await ctx.db.query("rows").collect()).length);
      export const ids = mutation(async (ctx) => {
        const id = await ctx.db.insert("fresh", {});
        return [ctx.db.normalizeId("fresh", id) === id, ctx.db.normalizeId("rows", id)];
      });
      export const two = query(async (ctx) => {
        const a = ctx.db.query("rows")[Symbol.asyncIterator]();
        const b = ctx.db.query("rows").order("desc")[Symbol.asyncIterator]();
        const first = (await a.next()).value;
        const last = (await b.next()).value;
        await a.return?.();
        return first._id !== last._id && (await b.next()).done === false;
      });`,
    "node.ts": `"use node"; ${PRELUDE}
      export const halfway = action(async (ctx) => {
        await ctx.runMutation(api.m.deep, { depth: 0 });
        setTimeout(() => process.exit(1), 0);
        await new Promise(() => {});
      });`,
  },
};

let backend: TestBackend;
beforeAll(async () => {
  backend = await startTestBackend(SOURCES, { runner: { isolation: "threads" } });
});
afterAll(() => backend.stop());

test("sixteen transactions nested eight deep at once need no thread but their own", async () => {
  const depths = await Promise.all(
    Array.from({ length: 16 }, () => backend.mutation("m:deep", { depth: 8 })),
  );
  expect(new Set(depths)).toEqual(new Set([9]));
  expect(await backend.query("m:rows")).toBe(16 * 9);
});

test("actions that call actions and mutations do not wait for each other's threads", async () => {
  const sums = await Promise.all(
    Array.from({ length: 8 }, () => backend.action("m:act", { n: 3 })),
  );
  expect(new Set(sums)).toEqual(new Set([6]));
});

test("lines of a caller and of its callees come in the order in which they were written", async () => {
  const lines: LogLine[] = [];
  const stop = backend.runner.onLog((line) => lines.push(line));
  await backend.mutation("m:deep", { depth: 2 });
  stop();
  expect(lines.map(({ text }) => text)).toEqual(
    ["down' 2", "down' 1", "down' 0", "up' 0", "up' 1", "up' 2"].map((text) => `[LOG] '${text}`),
  );
});

test("ids of a table that the transaction has just made are known to it", async () => {
  expect(await backend.mutation("m:ids")).toEqual([true, null]);
});

test("queries that are read in turn keep their places", async () => {
  expect(await backend.query("m:two")).toBe(true);
});

test("an action that loses its thread keeps its finished effects, and other calls go on", async () => {
  const before = await backend.query("m:rows");
  await expect(backend.action("node:halfway")).rejects.toThrow("process.exit(1)");
  expect(await backend.query("m:rows")).toBe(before + 1);
});

/**
 * Errors that no code catches, and the call that fails by them. That it does not end the process is shown in
 * `local/survival.test.ts`.
 */
import { afterEach, expect, test } from "vitest";
import { PRELUDE, startTestBackend, type TestBackend } from "./testing.js";

let backend: TestBackend;
afterEach(() => backend.stop());

async function start(module: string): Promise<void> {
  backend = await startTestBackend({ "": { "m.ts": PRELUDE + module } });
}

const COUNT = `export const count = query(async (ctx) => (await ctx.db.query("rows").collect()).length);`;

test("a rejection that a mutation leaves unhandled fails it, and nothing of it is written", async () => {
  await start(`${COUNT}
    export const floating = mutation(async (ctx) => {
      await ctx.db.insert("rows", {});
      Promise.reject(new Error("floating"));
      return 1;
    });
    export const microtask = mutation(async (ctx) => {
      await ctx.db.insert("rows", {});
      void Promise.resolve().then(() => { throw new Error("floating"); });
      return 1;
    });`);
  for (const path of ["m:floating", "m:microtask"]) {
    await expect(backend.mutation(path)).rejects.toThrow("Uncaught Error: floating");
  }
  expect(await backend.query("m:count")).toBe(0);
});

test("a call that fails without a listener harms neither its callers' other calls nor concurrent calls", async () => {
  await start(`${COUNT}
    export const floating = query(async () => { Promise.reject(new Error("mine")); return 1; });
    export const outer = query(async (ctx) => {
      const failure = await ctx.runQuery(api.m.floating, {}).catch((error) => error.message);
      return [failure.includes("mine"), await ctx.runQuery(api.m.count, {})];
    });`);
  expect(await backend.query("m:outer")).toEqual([true, 0]);
  const [failed, innocent] = await Promise.allSettled([
    backend.query("m:floating"),
    backend.query("m:count"),
  ]);
  expect(failed).toMatchObject({ status: "rejected" });
  expect(innocent).toEqual({ status: "fulfilled", value: 0 });
});

test("a rejection that is handled before the turn ends is no failure", async () => {
  await start(`export const late = mutation(async () => {
    const failing = Promise.reject(new Error("seen"));
    await null;
    return failing.catch((error) => error.message);
  });`);
  expect(await backend.mutation("m:late")).toBe("seen");
});

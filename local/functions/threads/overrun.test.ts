/** Code that does not end, or takes all memory: it costs its own call and no other. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { PRELUDE, startTestBackend, type TestBackend } from "../testing.js";

/** Less than the platform gives, so that the tests need not burn so much; one shows the real one. */
const USER_TIME_MS = 200;
const TIMED_OUT = "Function execution timed out (maximum duration: 200ms)";
const OUT_OF_MEMORY = "JavaScript execution ran out of memory (maximum memory usage: 64 MB)";

const SOURCES = {
  "": {
    "m.ts": `${PRELUDE}
      export const forever = mutation(async (ctx) => { await ctx.db.insert("rows", {}); for (;;); });
      export const microtasks = query(async () => { for (;;) await null; });
      export const regex = query(() => /^(a+)+$/.test("a".repeat(40) + "b"));
      export const busy = mutation(() => { const end = performance.now() + 400; while (performance.now() < end); return "done"; });
      export const patient = mutation(async (ctx) => {
        for (let i = 0; i < 5; i++) await ctx.db.insert("rows", { patient: true });
        return "done";
      });
      export const hog = action(async () => {
        const kept = [];
        for (;;) kept.push(new Array(1000).fill(0));
      });
      export const hugeArrays = action(() => { let kept = [1]; for (;;) kept = kept.concat(kept); });
      export const outer = mutation(async (ctx) => {
        await ctx.db.insert("rows", {});
        await ctx.runMutation(api.m.forever).catch(() => {});
        return "caught";
      });
      export const plan = mutation((ctx) => ctx.scheduler.runAfter(0, api.m.forever, {}));
      export const states = query(async (ctx) =>
        (await ctx.db.system.query("_scheduled_functions").collect()).map(({ state }) => state.kind));
      export const rows = query(async (ctx) => (await ctx.db.query("rows").collect()).length);
      export const recurse = query(() => { const deeper = () => deeper() + 1; return deeper(); });`,
    "node.ts": `"use node"; ${PRELUDE}
      export const exit = action(() => process.exit(3));
      export const loop = action(async () => { await new Promise((resolve) => setTimeout(resolve, 1)); for (;;); });`,
  },
};

let backend: TestBackend;
const runs: string[] = [];
beforeAll(async () => {
  const runner = {
    isolation: "threads",
    userTimeMs: USER_TIME_MS,
    actionTimeoutMs: { v8: 5000 },
  } as const;
  backend = await startTestBackend(SOURCES, { runner });
  backend.runner.onCompletion(({ scheduled, address }) => scheduled && runs.push(address.path));
});
afterAll(() => backend.stop());

test.each(["mutation m:forever", "query m:microtasks", "query m:regex"])(
  "%s is stopped when its time is up, and nothing of it is written",
  async (call) => {
    const [kind, path] = call.split(" ") as ["mutation" | "query", string];
    await expect(backend[kind](path)).rejects.toThrow(TIMED_OUT);
    expect(await backend.query("m:rows")).toBe(0);
  },
);

test("a query or mutation has a second of JavaScript by default", async () => {
  const platform = await startTestBackend(SOURCES, { runner: { isolation: "threads" } });
  try {
    expect(await platform.mutation("m:busy")).toBe("done");
    const said = "Function execution timed out (maximum duration: 1s)";
    await expect(platform.mutation("m:forever")).rejects.toThrow(said);
  } finally {
    await platform.stop();
  }
});

test("a hundred calls beside one that never ends are not hurt", async () => {
  const guilty = expect(backend.mutation("m:forever")).rejects.toThrow(TIMED_OUT);
  const innocent = await Promise.all(
    Array.from({ length: 100 }, () => backend.mutation("m:patient")),
  );
  expect(new Set(innocent)).toEqual(new Set(["done"]));
  await guilty;
  expect(await backend.query("m:rows")).toBe(500);
});

test("a function that takes more than 64 MB fails with the platform's text, by one large array or many small", async () => {
  const before = await backend.query("m:rows");
  await expect(backend.action("m:hog")).rejects.toThrow(OUT_OF_MEMORY);
  await expect(backend.action("m:hugeArrays")).rejects.toThrow(
    /ran out of memory|Invalid array length|timed out/,
  );
  expect(await backend.query("m:rows")).toBe(before);
});

test("a nested call that never ends takes its whole transaction with it", async () => {
  const before = await backend.query("m:rows");
  await expect(backend.mutation("m:outer")).rejects.toThrow(TIMED_OUT);
  expect(await backend.query("m:rows")).toBe(before);
});

test("a scheduled mutation that never ends has failed, and is not retried", async () => {
  await backend.mutation("m:plan");
  await expect.poll(() => backend.query("m:states"), { timeout: 20_000 }).toEqual(["failed"]);
  expect(runs).toEqual(["m:forever"]);
});

test("an action's endless loop ends with the action's time", async () => {
  // Its own backend: starting a thread counts as an action's time, and where the machine is busy takes longer than this.
  const runner = { isolation: "threads", actionTimeoutMs: { node: 500 } } as const;
  const hasty = await startTestBackend(SOURCES, { runner });
  try {
    await expect(hasty.action("node:loop")).rejects.toThrow(/execution timed out/);
  } finally {
    await hasty.stop();
  }
});

test("process.exit() and endless recursion end the call alone", async () => {
  await expect(backend.action("node:exit")).rejects.toThrow("process.exit(3)");
  await expect(backend.query("m:recurse")).rejects.toThrow("Maximum call stack size exceeded");
  expect(await backend.mutation("m:patient")).toBe("done");
});

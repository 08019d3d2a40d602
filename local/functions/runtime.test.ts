import { afterEach, expect, test } from "vitest";
import { wallEnvironment, type Environment } from "../environment.js";
import { PRELUDE, startTestBackend, type TestBackend } from "./testing.js";
import type { LogLine } from "./types.js";

let backend: TestBackend;
afterEach(() => backend.stop());

async function start(module: string, clock?: Environment): Promise<void> {
  backend = await startTestBackend({ "": { "lib.ts": PRELUDE + module } }, clock ? { clock } : {});
}

test("time stands still in a mutation, in whole milliseconds, and goes on in an action", async () => {
  await start(`
    const clocks = () => [Date.now(), new Date().getTime(), Date.parse(new Date().toISOString())];
    export const frozen = mutation(async (ctx) => {
      const before = clocks();
      for (let i = 0; i < 20; i++) await ctx.db.insert("rows", {});
      return { all: [...before, ...clocks()], isDate: new Date() instanceof Date, given: new Date(5).getTime() };
    });
    export const real = action(async () => {
      const before = Date.now();
      await new Promise((resolve) => setTimeout(resolve, 5));
      return Date.now() - before;
    });`);
  const { all, isDate, given } = await backend.mutation("lib:frozen");
  expect(new Set(all).size).toBe(1);
  expect(Number.isInteger(all[0])).toBe(true);
  expect({ isDate, given }).toEqual({ isDate: true, given: 5 });
  expect(await backend.action("lib:real")).toBeGreaterThanOrEqual(4);
});

test("all randomness of a mutation comes from its seed", async () => {
  // The same seed whenever one is asked for: so two calls that differ in nothing draw the same.
  const oneSeed = { ...wallEnvironment, randomBytes: (length: number) => new Uint8Array(length) };
  await start(
    `export const draw = mutation(() => [Math.random(), crypto.randomUUID(), [...crypto.getRandomValues(new Uint8Array(4))], Math.random()]);`,
    oneSeed,
  );
  const first = await backend.mutation("lib:draw");
  expect(await backend.mutation("lib:draw")).toEqual(first);
  expect(first[0]).not.toBe(first[3]);
  expect(first[1]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test("digests work in mutations", async () => {
  await start(`
    export const hash = mutation(async (ctx, { text }) =>
      await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));`);
  const digest = Buffer.from(await backend.mutation("lib:hash", { text: "abc" })).toString("hex");
  expect(digest).toMatch(/^ba7816bf/);
});

const REFUSED = /Can't use \w+ in queries and mutations. Please consider using an action. /;

test.each(["setTimeout(() => {}, 1)", "setInterval(() => {}, 1)", `fetch("http://127.0.0.1")`])(
  "%s ends a mutation, also in a try",
  async (call) => {
    await start(`export const run = mutation(async () => { try { ${call}; } catch {} });`);
    await expect(backend.mutation("lib:run")).rejects.toThrow(REFUSED);
  },
);

test("a fetch that is awaited is refused in a mutation, with an error that can be caught", async () => {
  await start(`export const run = mutation(() =>
    fetch("http://127.0.0.1").catch((e) => [e instanceof Error, e.message]));`);
  const [isError, message] = await backend.mutation("lib:run");
  expect([isError, REFUSED.test(message)]).toEqual([true, true]);
});

test("a module cannot be imported while a query or mutation runs, and can in an action", async () => {
  const attempt = `async () => {
    try { return (await import("convex/values")).v === v; } catch (e) { return [e instanceof TypeError, e.message]; }
  }`;
  await start(`
    export const ask = query(${attempt});
    export const change = mutation(${attempt});
    export const act = action(${attempt});`);
  const refused = [true, "dynamic module import unsupported"];
  expect(await backend.query("lib:ask")).toEqual(refused);
  expect(await backend.mutation("lib:change")).toEqual(refused);
  expect(await backend.action("lib:act")).toBe(true);
});

test("console lines carry their level, quote strings, and reach caller and listeners", async () => {
  await start(`
    export const talk = mutation(() => {
      console.log("text", 3, { a: [1n, null] });
      console.warn(new Map([["k", 1]]));
      console.error("bad");
    });`);
  const lines: LogLine[] = [];
  backend.runner.onLog((line) => lines.push(line));
  const result = await backend.runner.mutation(
    { namespace: "", path: "lib:talk" },
    {},
    { identity: { kind: "none" }, publicOnly: true, requestId: "r" },
  );
  expect(result.logs).toEqual([
    "[LOG] 'text' 3 { a: [ 1n, null ] }",
    "[WARN] Map(1) { 'k' => 1 }",
    "[ERROR] 'bad'",
  ]);
  expect(lines.map(({ level, text, path }) => [level, text, path])).toEqual([
    ["LOG", "[LOG] 'text' 3 { a: [ 1n, null ] }", "lib:talk"],
    ["WARN", "[WARN] Map(1) { 'k' => 1 }", "lib:talk"],
    ["ERROR", "[ERROR] 'bad'", "lib:talk"],
  ]);
});

test("an error reads as the platform's, with the place in the sources", async () => {
  await start(`
    function helper() { throw new TypeError("no good"); }
    export const fail = mutation(() => helper());`);
  await expect(backend.mutation("lib:fail")).rejects.toThrow(
    /^Uncaught TypeError: no good\n {4}at helper \(.*lib\.ts:\d+:\d+\)/,
  );
});

test("a ConvexError's data reaches the caller, through a nested call and an action", async () => {
  await start(`
    export const inner = internalMutation(() => { throw new ConvexError({ code: "no", n: 7n }); });
    export const outer = mutation((ctx) => ctx.runMutation(internal.lib.inner));
    export const act = action((ctx) => ctx.runMutation(api.lib.outer));`);
  for (const [kind, path] of [
    ["mutation", "lib:outer"],
    ["action", "lib:act"],
  ] as const) {
    const error = await backend[kind](path).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ data: { code: "no", n: { $integer: "BwAAAAAAAAA=" } } });
  }
});

test("arguments and results that do not match their validators are refused, and nothing is written", async () => {
  await start(`
    export const strict = mutation({
      args: { n: v.number() }, returns: v.string(),
      handler: async (ctx, { n }) => { await ctx.db.insert("rows", { n }); return n; },
    });
    export const count = query(async (ctx) => (await ctx.db.query("rows").collect()).length);`);
  await expect(backend.mutation("lib:strict", { n: "1" })).rejects.toThrow(
    /^ArgumentValidationError: [^]*\.n/,
  );
  await expect(backend.mutation("lib:strict", {})).rejects.toThrow(/^ArgumentValidationError: /);
  await expect(backend.mutation("lib:strict", { n: 1 })).rejects.toThrow(
    /^ReturnsValidationError: /,
  );
  expect(await backend.query("lib:count")).toBe(0);
});

test("a function called as another type than its own is refused by both names", async () => {
  await start(`export const read = query(() => 1);`);
  await expect(backend.mutation("lib:read")).rejects.toThrow(
    "Trying to execute lib:read as Mutation, but it is defined as Query.",
  );
});

test("one call's globals are not another's, though they run at the same time", async () => {
  await start(`
    export const talk = action(async (ctx, { name }) => {
      for (let i = 0; i < 3; i++) { console.log(name, i); await new Promise((resolve) => setTimeout(resolve, 1)); }
    });`);
  const logs = await Promise.all(
    ["a", "b"].map(async (name) => {
      const options = { identity: { kind: "none" }, publicOnly: true, requestId: name } as const;
      return (await backend.runner.action({ namespace: "", path: "lib:talk" }, { name }, options))
        .logs;
    }),
  );
  expect(logs).toEqual([
    ["[LOG] 'a' 0", "[LOG] 'a' 1", "[LOG] 'a' 2"],
    ["[LOG] 'b' 0", "[LOG] 'b' 1", "[LOG] 'b' 2"],
  ]);
});

test("an action's timers end with it, and calls that it did not await are reported", async () => {
  await start(`
    export const noop = internalMutation(() => {});
    export const leave = action((ctx) => { setInterval(() => console.log("late"), 1); void ctx.runMutation(internal.lib.noop); });`);
  const options = { identity: { kind: "none" }, publicOnly: true, requestId: "r" } as const;
  const { logs } = await backend.runner.action({ namespace: "", path: "lib:leave" }, {}, options);
  expect(logs).toHaveLength(1);
  expect(logs[0]).toMatch(/^\[WARN\] '1 unawaited operation: \[1.0\/actions\/mutation\]/);
});

test('a module that says "use node" runs with Node\'s modules', async () => {
  backend = await startTestBackend({
    "": {
      "node.ts": `"use node";${PRELUDE}
        import { createHash } from "node:crypto";
        export const hash = action((ctx, { text }) => createHash("sha256").update(text).digest("hex"));`,
    },
  });
  expect(await backend.action("node:hash", { text: "abc" })).toMatch(/^ba7816bf/);
});

test("a mutation can read its use so far and the remainder", async () => {
  await start(`
    export const measure = mutation(async (ctx) => {
      await ctx.db.insert("rows", {});
      await ctx.scheduler.runAfter(60_000, internal.lib.measure, {});
      return ctx.meta.getTransactionMetrics();
    });`);
  expect(await backend.mutation("lib:measure")).toMatchObject({
    documentsWritten: { used: 1, remaining: 15_999 },
    functionsScheduled: { used: 1, remaining: 999 },
  });
});

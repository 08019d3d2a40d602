import { afterAll, beforeAll, expect, test } from "vitest";
import { wallEnvironment } from "../environment.js";
import { PRELUDE, startTestBackend, type TestBackend } from "./testing.js";
import type { ModuleSource } from "./types.js";
import { errorOf } from "./uncaught.js";

/**
 * Errors that are of none of the backend's classes: each with the text that its caller reads, as far as that is fixed.
 */
const ODD: [code: string, said: RegExp][] = [
  [`throw null;`, /Uncaught null/],
  [`throw undefined;`, /Uncaught undefined/],
  [`throw 5n;`, /Uncaught 5n/],
  [`throw Symbol("s");`, /Uncaught Symbol\(s\)/],
  [`throw [1, 2];`, /Uncaught \[ 1, 2 \]/],
  [`throw Object.create(null);`, /Uncaught \[Object: null prototype\]/],
  [`throw { message: "plain", stack: 5 };`, /Uncaught Error: plain/],
  [`throw Object.assign(new Error("x"), { stack: null });`, /Uncaught Error: x/],
  [`throw Object.assign(new Error("x"), { message: Symbol("s") });`, /Uncaught/],
  [`throw Object.assign(new Error("x"), { name: Symbol("s") });`, /Uncaught/],
  [`throw { message: { toString() { throw new Error("again"); } } };`, /Uncaught/],
  [`throw { get message() { throw new Error("getter"); } };`, /Uncaught/],
  [`throw { message: "m", get stack() { throw 1; } };`, /Uncaught/],
  [`throw new Proxy({}, { has() { throw new Error("trap"); } });`, /Uncaught/],
  [`throw new Proxy({}, { getPrototypeOf() { throw new Error("trap"); } });`, /Uncaught/],
  [`throw { [Symbol.for("nodejs.util.inspect.custom")]() { throw new Error("again"); } };`, /./],
  [`throw Object.assign(new ConvexError("x"), { data: "not json" });`, /Uncaught/],
  [`throw Object.assign(new ConvexError("x"), { data: undefined });`, /Uncaught/],
  [`(function deeper() { deeper(); })();`, /Maximum call stack/],
  [`return { then() { throw new Error("then"); } };`, /then/],
  [`return new Map();`, /Map/],
  [`return () => 1;`, /not a supported Convex type/],
];

let backend: TestBackend;
beforeAll(async () => {
  const functions = ODD.map(
    ([code], i) =>
      `export const odd${i} = mutation(async (ctx) => { await ctx.db.insert("rows", {}); ${code} });`,
  );
  const count = `export const count = query(async (ctx) => (await ctx.db.query("rows").collect()).length);`;
  const later = `
    export const plan = mutation((ctx) => ctx.scheduler.runAfter(0, api.m.odd6, {}));
    export const states = query(async (ctx) =>
      (await ctx.db.system.query("_scheduled_functions").collect()).map(({ state }) => state.kind));`;
  backend = await startTestBackend({
    "": { "m.ts": [PRELUDE, ...functions, count, later].join("\n") },
  });
});
afterAll(() => backend.stop());

test.each(ODD.map(([code, said], i) => ({ code, said, i })))(
  "is the app's failure, and undone: $code",
  async ({ said, i }) => {
    // A result with `ok: false`: a failure of the platform would be a rejection here.
    const options = { identity: { kind: "none" }, publicOnly: true, requestId: "r" } as const;
    const address = { namespace: "", path: `m:odd${i}` };
    const result = await backend.runner.mutation(address, {}, options);
    expect(result).toMatchObject({ ok: false, message: expect.stringMatching(said) as unknown });
    expect(await backend.query("m:count")).toBe(0);
  },
);

test("a scheduled function that throws oddly has failed, and is not retried", async () => {
  let runs = 0;
  backend.runner.onCompletion(({ scheduled }) => scheduled && runs++);
  await backend.mutation("m:plan");
  // Taken for the platform's failure, it would stay pending and be retried without end.
  while ((await backend.query("m:states"))[0] !== "failed") {
    expect(runs).toBeLessThan(2);
    await wallEnvironment.sleep(1);
  }
  expect(runs).toBe(1);
});

test("frames of Convex's own library are left out, also where it is bundled with the app", () => {
  const sourceMap = (source: string) =>
    JSON.stringify({ version: 3, sources: [source], names: [], mappings: "AAAA" });
  const module = (path: string, source: string): ModuleSource => ({
    ...{ path, source: "", environment: "isolate", sourceMap: sourceMap(source) },
  });
  const modules = new Map(
    [
      module("lib.js", "lib.ts"),
      module("_deps/A.js", "../node_modules/convex/src/server/impl/registration_impl.ts"),
    ].map((one) => [one.path, one]),
  );
  const frame = { name: "f", line: 1, column: 1 };
  const frames = [...modules.keys()].map((path) => ({ ...frame, module: path }));
  const { message } = errorOf({ ours: false, message: "Uncaught Error: no", frames }, modules);
  expect(message).toBe("Uncaught Error: no\n    at f (lib.ts:1:0)");
});

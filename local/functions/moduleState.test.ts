import { describe, expect, test } from "vitest";
import { createVirtualClock } from "../virtual/clock.js";
import { bindingsOf } from "./moduleBindings.js";
import { createSandbox } from "./sandbox.js";
import { importHost } from "./importHost.js";
import type { Environment } from "../environment.js";
import type { ModuleSource } from "./types.js";

const clock: Environment = createVirtualClock({ seed: 1 });

function source(path: string, code: string): [string, ModuleSource] {
  return [path, { path, source: code, environment: "isolate" }];
}

/** Runs `run` once in a sandbox, and returns the state that it left. */
async function left(code: string, carried: string[] = [], others: [string, string][] = []) {
  const modules = new Map([source("m.js", code), ...others.map((other) => source(...other))]);
  const sandbox = createSandbox(modules, { clock, watch: new Set(carried) });
  const { run } = (await sandbox.import("m.js")) as { run: () => unknown };
  sandbox.enter(importHost(clock));
  await run();
  sandbox.leave();
  const change = sandbox.changed();
  return change === null ? null : `${change.of}:${change.name}`;
}

test("the bindings of a module are found, and nothing of its functions", () => {
  const code = `
    import { z } from "z";
    import.meta.x;
    const { a, b: [c, ...d] } = z;
    let e = 1, f;
    if (e) { var g = 2; let h; }
    for (var i of []) { var j; }
    export function k(l) { var m; }
    export default class N { static o = 1; }
    export { e as p };
    const q = () => { let r; };
  `;
  expect(bindingsOf(code)).toEqual([..."acdefgijkNq"]);
});

describe("a change that a call leaves in its context is seen:", () => {
  const rows: [what: string, where: string, code: string][] = [
    ["a counter", "m.js:n", "let n = 0; export const run = () => ++n;"],
    ["a map", "m.js:seen", "const seen = new Map(); export const run = () => seen.set(1, 2);"],
    ["a set", "m.js:seen", "const seen = new Set(); export const run = () => seen.add(1);"],
    ["a list", "m.js:list", "const list = []; export const run = () => list.push(1);"],
    [
      "something deep",
      "m.js:o",
      "const o = { a: [{ b: 1 }] }; export const run = () => o.a[0].b++;",
    ],
    ["a static field", "m.js:C", "class C { static n = 0 } export const run = () => C.n++;"],
    [
      "a field of an instance",
      "m.js:c",
      "const c = new (class { n = 0 })(); export const run = () => c.n++;",
    ],
    ["bytes", "m.js:b", "const b = new Uint8Array(4); export const run = () => b[2]++;"],
    ["a date", "m.js:d", "const d = new Date(0); export const run = () => d.setTime(1);"],
    ["where a pattern goes on", "m.js:r", "const r = /a/g; export const run = () => r.test('aa');"],
    [
      "a variable that `var` hoists",
      "m.js:v",
      "if (true) { var v = 1; } export const run = () => v++;",
    ],
    [
      "an accessor that was put in place of a value",
      "m.js:o",
      "const o = { a: 1 }; export const run = () => Object.defineProperty(o, 'a', { get: () => 1 });",
    ],
    ["a global", "globalThis:globalThis", "export const run = () => { globalThis.n = 1; };"],
    [
      "a patched built-in",
      "globalThis:Array",
      "export const run = () => { Array.prototype.last = () => 1; };",
    ],
    [
      "a built-in that is replaced",
      "globalThis:JSON",
      "export const run = () => { JSON.parse = () => 1; };",
    ],
    [
      "a variable of the environment",
      "globalThis:globalThis",
      "export const run = () => { process.env.N = '1'; };",
    ],
  ];
  test.each(rows)("%s", async (_, where, code) => {
    expect(await left(code)).toBe(where);
  });

  test("in another module", async () => {
    const code = `import { count } from "./lib.js"; export const run = () => count();`;
    const lib = `let n = 0; export const count = () => ++n;`;
    expect(await left(code, [], [["lib.js", lib]])).toBe("lib.js:n");
  });
});

describe("nothing is seen", () => {
  test("of a call that only computes", async () => {
    const code = `
      const table = new Map([["a", 1]]);
      const encoder = new TextEncoder();
      export const run = async () => {
        let sum = 0;
        for (const [, n] of table) sum += n;
        return [sum, encoder.encode("x"), "aXbX".replace(/X/g, ""), new Date(0).toISOString(), structuredClone({})];
      };`;
    expect(await left(code)).toBeNull();
  });

  test("of names that may be carried", async () => {
    const code = `let cache; export const run = () => (cache ??= 1);`;
    expect([await left(code, ["m.js"]), await left(code, ["m.js:cache"])]).toEqual([null, null]);
    expect(await left(code, ["m.js:other"])).toBe("m.js:cache");
    const memo = `class C { get() { return (this.memo ??= 1); } } const c = new C(); export const run = () => c.get();`;
    expect([await left(memo), await left(memo, [".memo"])]).toEqual(["m.js:c", null]);
  });

  test("of a module's own evaluation, even after the first call", async () => {
    const registry = `export const all = []; export const run = () => {};`;
    const late = `import { all } from "./m.js"; all.push("late"); export const run = () => {};`;
    const modules = new Map([source("m.js", registry), source("late.js", late)]);
    const sandbox = createSandbox(modules, { clock, watch: new Set() });
    for (const path of ["m.js", "late.js"]) {
      const { run } = (await sandbox.import(path)) as { run: () => void };
      sandbox.enter(importHost(clock));
      run();
      sandbox.leave();
    }
    expect(sandbox.changed()).toBeNull();
  });
});

import { describe, expect, test } from "vitest";
import type { Definition, EnvDeclaration } from "./definitions.js";
import { appEnvironment, changeEnvironment, componentEnvironment } from "./environment.js";

const builtin = new Map([["CONVEX_CLOUD_URL", "http://here"]]);

describe("environment variables", () => {
  test("are 512 at most, and existing ones may be changed and removed", () => {
    const set = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) => ({ name: `V${from + i}`, value: "x" }));
    const full = changeEnvironment(new Map(), set(0, 512), builtin);
    expect(() => changeEnvironment(full, set(512, 513), builtin)).toThrow(
      "The environment variable limit (512) has been met.",
    );
    const swapped = [{ name: "V0", value: null }, ...set(511, 513)];
    expect(changeEnvironment(full, swapped, builtin).size).toBe(512);
  });

  test("a component sees variables that it declares and is bound, not the app's", () => {
    const parent = new Map([
      ["SECRET", "s"],
      ["REGION", "eu"],
    ]);
    const env = componentEnvironment(
      definition("kid", { PLACE: {}, MODE: {} }),
      [
        ["PLACE", { type: "envVar", name: "REGION" }],
        ["MODE", { type: "value", value: "fast" }],
      ],
      parent,
      builtin,
    );
    expect(Object.fromEntries(env)).toEqual({
      PLACE: "eu",
      MODE: "fast",
      CONVEX_CLOUD_URL: "http://here",
    });
  });

  test("a component with routes finds its prefix in the site's URL", () => {
    const site = new Map([["CONVEX_SITE_URL", "http://site/"]]);
    const env = componentEnvironment(definition("kid", {}), [], new Map(), site, "/kid/inner/");
    expect(env.get("CONVEX_SITE_URL")).toBe("http://site/kid/inner");
  });

  test("a name has at most 256 characters, a value 8 KiB", () => {
    const change = (name: string, value: string) =>
      changeEnvironment(new Map(), [{ name, value }], builtin).size;
    expect(change("N".repeat(256), "v".repeat(8192))).toBe(1);
    expect(() => change("N".repeat(257), "v")).toThrow("at most 256 letters");
    expect(() => change("N", "ü".repeat(4097))).toThrow("has 8194 bytes; at most 8192");
  });

  test("a component that is given an undeclared variable refuses, and lists its declared ones", () => {
    expect(() =>
      componentEnvironment(
        definition("kid", { PLACE: { optional: true } }),
        [["PALCE", { type: "value", value: "x" }]],
        new Map(),
        builtin,
      ),
    ).toThrow("which it does not declare. It declares: PLACE.");
  });

  test("declared variables without a value are all named, in the sentence the CLI reads", () => {
    const app = definition("", { A: {}, B: {}, C: { optional: true } });
    expect(() => appEnvironment(app, new Map(), builtin)).toThrow(/are not set: A, B\./);
  });

  test("changes apply to a copy, so that a refused change leaves all as it was", () => {
    const current = new Map([["A", "1"]]);
    expect(() =>
      changeEnvironment(
        current,
        [
          { name: "A", value: null },
          { name: "not a name", value: "x" },
        ],
        builtin,
      ),
    ).toThrow("cannot be an environment variable's name");
    expect(current.get("A")).toBe("1");
  });

  test("built-in variables cannot be set", () => {
    const change = [{ name: "CONVEX_CLOUD_URL", value: "http://elsewhere" }];
    expect(() => changeEnvironment(new Map(), change, builtin)).toThrow("is built in");
  });
});

function definition(path: string, env: Record<string, { optional?: true }>): Definition {
  const declarations = Object.entries(env).map(([name, options]): [string, EnvDeclaration] => [
    name,
    { type: "value", value: '{"type":"string"}', ...options },
  ]);
  return {
    path,
    definitionType: path === "" ? { type: "app" } : { type: "childComponent", name: path },
    childComponents: [],
    httpMounts: {},
    envVars: declarations,
  };
}

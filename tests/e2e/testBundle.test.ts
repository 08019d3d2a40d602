/** The content of `convex-conveyor/test`: one file, in step with the component's folder. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/paths.js";
import type * as Suite from "../../src/test.js";

const suite = async () => (await import(path.join(root, "dist/test.js"))) as typeof Suite;

test("has each module of the component, with the functions that its source has", async () => {
  const { default: bundled } = await suite();
  const names = readdirSync(path.join(root, "src/component"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .map((file) => `../component/${file.split(path.sep).join("/")}`);
  expect(Object.keys(bundled.modules).sort()).toEqual(names.sort());
  const loaded = (await bundled.modules["../component/lib.ts"]!()) as Record<string, unknown>;
  const source = readFileSync(path.join(root, "src/component/lib.ts"), "utf8");
  const exported = [...source.matchAll(/^export const (\w+) =/gm)].map(([, name]) => name!);
  expect(Object.keys(loaded).sort()).toEqual(expect.arrayContaining(exported.sort()));
});

test("is one file: it loads no other of this package", () => {
  const text = readFileSync(path.join(root, "dist/test.js"), "utf8");
  const imported = [...text.matchAll(/^(?:import|export) [^;]*?from "([^"]+)"/gm)].map(
    ([, name]) => name!,
  );
  expect(imported.filter((name) => name.startsWith("."))).toEqual([]);
  expect(text).not.toMatch(/import\(["'.]/);
});

/** This package's snippets of `docs/internals/choices/compared` compile. */
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { linkPackage } from "../support/link.js";
import { root } from "../support/paths.js";

const compared = path.join(root, "docs/internals/choices/compared");
const app = path.join(import.meta.dirname, "app");
const copy = path.join(app, ".compared");
const MAILER = `
export declare function deliver(to: string): Promise<void>;
export declare function frames(scene: string, signal: AbortSignal): AsyncIterable<number>;
`;

afterAll(() => rmSync(copy, { recursive: true, force: true }));

test("Conveyor's snippets compile, together as one app", () => {
  linkPackage(app);
  const convex = path.join(copy, "convex");
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(convex, { recursive: true });
  cpSync(path.join(app, "convex/_generated"), path.join(convex, "_generated"), { recursive: true });
  copyFileSync(path.join(app, "convex/schema.ts"), path.join(convex, "schema.ts"));
  writeFileSync(path.join(convex, "mailer.ts"), MAILER);
  const files = readdirSync(path.join(compared, "conveyor"), {
    recursive: true,
    encoding: "utf8",
  }).filter((file) => /\.tsx?$/.test(file));
  for (const file of files)
    copyFileSync(path.join(compared, "conveyor", file), path.join(convex, path.basename(file)));
  const modules = files
    .map((file) => path.basename(file))
    .filter((file) => /^[a-z]+\.ts$/.test(file) && file !== "worker.ts")
    .map((file) => file.slice(0, -3));
  const generated = path.join(convex, "_generated/api.d.ts");
  const api = readFileSync(generated, "utf8")
    .replaceAll(/^import type \* as .*\n/gm, "")
    .replace(
      /ApiFromModules<\{[^}]*\}>/,
      `ApiFromModules<{ ${modules.map((name) => `${name}: typeof import("../${name}.js")`).join("; ")} }>`,
    );
  writeFileSync(generated, api);
  const { compilerOptions } = JSON.parse(
    readFileSync(path.join(app, "tsconfig.json"), "utf8").replace(/\/\*.*?\*\//s, ""),
  ) as { compilerOptions: object };
  const options = { ...compilerOptions, jsx: "react-jsx", types: ["node", "vite/client"] };
  const config = { compilerOptions: options, include: ["convex"] };
  writeFileSync(path.join(copy, "tsconfig.json"), JSON.stringify(config));
  const tsc = path.join(root, "node_modules/typescript-7/bin/tsc");
  const { stdout } = spawnSync(process.execPath, [tsc, "-p", copy], { encoding: "utf8" });
  expect(stdout).toBe("");
}, 120_000);

/** Changes of source files, of real ones. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { watchSources } from "./changes.js";

let folder: string;
let end = () => {};
const seen: string[] = [];
let changed: Promise<void>;
let tell = () => {};

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "conveyor-watch-"));
  for (const name of ["src/deep", "node_modules/x", ".git"])
    mkdirSync(path.join(folder, name), { recursive: true });
  seen.length = 0;
  expectChange();
  end = watchSources(folder, (file) => {
    seen.push(file);
    tell();
  });
});
afterEach(() => {
  end();
  rmSync(folder, { recursive: true, force: true });
});

function expectChange(): void {
  changed = new Promise((resolve) => (tell = resolve));
}
const write = (file: string) => writeFileSync(path.join(folder, file), String(seen.length));

test("a source file at any depth is told, and other files are not", async () => {
  for (const file of ["node_modules/x/a.ts", ".git/b.ts", "c.log", "src/.d.ts"]) write(file);
  write("src/deep/worker.ts");
  await changed;
  expect(seen).toEqual(["src/deep/worker.ts"]);
});

test("files that are written together are one change", async () => {
  for (const file of ["a.ts", "b.mjs", "src/c.json"]) write(file);
  await changed;
  expect(seen).toEqual(["src/c.json"]);
});

test("a file in a folder that came later is told", async () => {
  mkdirSync(path.join(folder, "new"));
  await changed;
  expectChange();
  write("new/worker.js");
  await changed;
  expect(seen).toEqual(["new", "new/worker.js"]);
});

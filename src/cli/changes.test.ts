/** Changes of source files, of real ones. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, watch, writeFileSync } from "node:fs";
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
  end = watchSources(folder, hear, fail);
});
afterEach(() => {
  end();
  rmSync(folder, { recursive: true, force: true });
});

function hear(file: string): void {
  seen.push(file);
  tell();
}

function fail(_: string, error: Error): never {
  throw error;
}

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

test.each([
  ["deleted", () => rmSync(path.join(folder, "src"), { recursive: true })],
  ["moved away", () => renameSync(path.join(folder, "src"), path.join(folder, ".src"))],
])("a folder that was %s and has come again is watched, and what is below it", async (_, take) => {
  take();
  await changed;
  expectChange();
  mkdirSync(path.join(folder, "src/deep"), { recursive: true });
  await changed;
  expectChange();
  write("src/deep/worker.ts");
  await changed;
  expect(seen).toEqual(["src", "src", "src/deep/worker.ts"]);
});

test("a folder that is replaced at once is watched too", async () => {
  rmSync(path.join(folder, "src"), { recursive: true });
  mkdirSync(path.join(folder, "src"));
  await changed;
  expectChange();
  write("src/worker.ts");
  await changed;
  expect(seen).toEqual(["src", "src/worker.ts"]);
});

test("a folder that cannot be watched is told once, and the rest is watched", async () => {
  end();
  const told: string[] = [];
  const refusing = ((one: string, listener: () => void) => {
    if (one === folder) return watch(one, listener);
    throw new Error("ENOSPC: no space left on device, watch");
  }) as typeof watch;
  for (const name of ["a", "b"]) mkdirSync(path.join(folder, name));
  end = watchSources(
    folder,
    hear,
    (one, error) => told.push(`${path.relative(folder, one)}: ${error.message}`),
    refusing,
  );
  write("worker.ts");
  await changed;
  expect(seen).toEqual(["worker.ts"]);
  expect(told).toEqual(["a: ENOSPC: no space left on device, watch"]);
});

test("an app of more folders than are watched is told of it, once", () => {
  end();
  for (let n = 0; n < 2_001; n += 1) mkdirSync(path.join(folder, `f${n}`));
  const told: string[] = [];
  const none = (() => ({ on: () => undefined, close: () => undefined })) as unknown as typeof watch;
  end = watchSources(folder, hear, (_, error) => told.push(error.message), none);
  expect(told).toEqual([expect.stringContaining("at most 2000 folders are watched")]);
});

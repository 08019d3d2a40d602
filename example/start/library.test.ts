import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { libraryIsStale } from "./library.js";

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "library-"));
  write("tsconfig.build.json", 100);
  write("package.json", 100);
  write("src/client/index.ts", 100);
});

afterEach(() => rmSync(root, { recursive: true }));

/** With a time of its own: the file system's clock may be too coarse to tell two writes apart. */
function write(path: string, seconds: number): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), "");
  utimesSync(join(root, path), seconds, seconds);
}

test("a fresh clone has no build yet", () => {
  expect(libraryIsStale(root)).toBe(true);
});

test("a build newer than every source is kept: a second start is quick", () => {
  write("dist/client/index.js", 200);
  expect(libraryIsStale(root)).toBe(false);
});

test("a source changed after the build makes it stale", () => {
  write("dist/client/index.js", 200);
  write("src/worker/worker.ts", 300);
  expect(libraryIsStale(root)).toBe(true);
});

test("a changed test does not: tests are not built", () => {
  write("dist/client/index.js", 200);
  write("src/worker/worker.test.ts", 300);
  expect(libraryIsStale(root)).toBe(false);
});

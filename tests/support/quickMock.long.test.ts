/** The mock that the component's tests run on answers as the official one does. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { root } from "./paths.js";
import { quicker } from "./quickMock.js";

const OFFICIAL = path.join(root, "node_modules/convex-test/dist");
const PROGRAM = path.join(root, "tests/support/quickMockPlayed.ts");

/** Where the mock finds its packages. */
const cache = path.join(root, "node_modules/.cache");
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(path.join(cache, "quick-mock-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A mock keeps its hands on the globals of its process: each has one of its own. */
function played(index: string): unknown[][] {
  const args = ["--import", "tsx", PROGRAM, index];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })) as unknown[][];
}

test("random transactions and queries have the same results on both, row by row", () => {
  cpSync(OFFICIAL, folder, { recursive: true });
  writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
  const index = path.join(folder, "index.js");
  writeFileSync(index, quicker(readFileSync(index, "utf8")));
  const expected = played(path.join(OFFICIAL, "index.js"));
  expect(played(index)).toEqual(expected);
  expect(expected.filter((rows) => rows.length > 1).length).toBeGreaterThan(100);
});

/** The table in `coverage.ts` is true: its cases, tests and files exist, and every case belongs to a point. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { CASES } from "./cases/index.js";
import { COVERAGE } from "./coverage.js";

/** Of the package; of the repository: see `tests` there. */
const root = path.resolve(import.meta.dirname, "../..");
const ids = CASES.map(({ id }) => id);
const matching = (pattern: string) =>
  pattern.endsWith("*")
    ? ids.filter((id) => id.startsWith(pattern.slice(0, -1)))
    : ids.filter((id) => id === pattern);

test("every point is held by a case or a test, or is left out by name", () => {
  const held = ({ cases, tests, leftOut }: (typeof COVERAGE)[number]) =>
    (cases ?? []).length + (tests ?? []).length > 0 || leftOut !== undefined;
  expect(COVERAGE.filter((point) => !held(point))).toEqual([]);
});

test("every case that is named exists", () => {
  const named = COVERAGE.flatMap(({ cases = [] }) => cases);
  expect(named.filter((pattern) => matching(pattern).length === 0)).toEqual([]);
});

test("every test that is named exists", () => {
  const named = COVERAGE.flatMap(({ tests = [] }) => tests);
  expect(named.filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
});

test("a point that is left out is listed in the local backend's README", () => {
  const readme = readFileSync(path.join(root, "local/README.md"), "utf8");
  const leftOut = COVERAGE.flatMap(({ leftOut }) => leftOut ?? []);
  expect(leftOut.filter((name) => !readme.includes(`**${name}**`))).toEqual([]);
});

test("every case stands for a point", () => {
  const covered = new Set(COVERAGE.flatMap(({ cases = [] }) => cases.flatMap(matching)));
  expect(ids.filter((id) => !covered.has(id))).toEqual([]);
});

test("ids are unique, and begin with their section", () => {
  expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([]);
  expect(ids.filter((id) => !/^([1-9]|13)(\.\d)?\.[a-z][a-zA-Z0-9-]*$/.test(id))).toEqual([]);
});

test("there are cases enough", () => {
  expect(CASES.length).toBeGreaterThanOrEqual(200);
});

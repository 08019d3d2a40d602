/** The arguments with which a process of a pool runs its module. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { moduleFile, nodeArguments, type Runtime } from "./fork.js";

let folder: string;
let withTsx: string;
let file: string;
const old: Runtime = { version: "v20.20.2", strips: false, flag: undefined };

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "conveyor-fork-"));
  file = path.join(folder, "worker.ts");
  writeFileSync(file, "");
  const app = path.join(folder, "app");
  const tsx = path.join(app, "node_modules/tsx");
  mkdirSync(tsx, { recursive: true });
  writeFileSync(path.join(tsx, "package.json"), '{ "name": "tsx", "exports": "./loader.mjs" }');
  writeFileSync(path.join(tsx, "loader.mjs"), "");
  withTsx = path.join(app, "worker.ts");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("a module in TypeScript", () => {
  test("runs by the tsx of its app, where the app has it", () => {
    const loader = pathToFileURL(path.join(folder, "app/node_modules/tsx/loader.mjs")).href;
    for (const runtime of [old, { ...old, strips: true }])
      expect(nodeArguments(withTsx, [], runtime)).toEqual(["--import", loader]);
  });

  test("runs by Node's type stripping, by itself or with its flag", () => {
    expect(nodeArguments(file, [], { ...old, strips: true })).toEqual([]);
    const flag = "--experimental-strip-types";
    expect(nodeArguments(file, [], { ...old, flag })).toEqual([flag]);
  });

  test("is refused where neither is there, with the ways out", () => {
    expect(() => nodeArguments(file, [], old)).toThrow(
      /v20\.20\.2 does not run TypeScript.*npm install --save-dev tsx.*22\.18.*\.js/,
    );
  });

  test("runs as its pool does, where that runs by tsx", () => {
    const given = ["--import", "file:///app/node_modules/tsx/dist/loader.mjs"];
    expect(nodeArguments(file, given, old)).toEqual(given);
  });
});

test("a module in JavaScript needs nothing, and no debugger's port is asked for twice", () => {
  const given = ["--inspect-brk=9229", "--max-old-space-size=64"];
  expect(nodeArguments("/app/worker.js", given, old)).toEqual(["--max-old-space-size=64"]);
});

test("a file may be a path or a URL, and one that is not there is refused", () => {
  expect(moduleFile(file)).toBe(file);
  expect(moduleFile(pathToFileURL(file))).toBe(file);
  expect(moduleFile(path.relative(process.cwd(), file))).toBe(file);
  expect(() => moduleFile("./nowhere.ts")).toThrow(/no file .*nowhere\.ts for the pool/);
});

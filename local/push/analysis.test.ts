import { describe, expect, test } from "vitest";
import type { ModuleSource } from "../functions/types.js";
import { analyzeModules } from "./analysis.js";
import { exportsOf } from "./exports.js";
import { sandboxImporter } from "./importing.js";

const importer = sandboxImporter(new Map());

describe("analysis of pushed modules", () => {
  test("finds functions by their marks, with visibility and validators, and nothing else", async () => {
    const { functions } = await analyze({
      "lib.js": `
        const mark = (marks) => Object.assign(async () => {}, marks);
        export const add = mark({ isMutation: true, isPublic: true, exportArgs: () => '{"type":"object","value":{}}' });
        export const peek = mark({ isQuery: true, isInternal: true, exportReturns: () => '{"type":"number"}' });
        export const helper = () => 1;
        export const limit = 5;`,
    });
    expect(functions.get("lib.js")).toEqual([
      {
        name: "add",
        udfType: "Mutation",
        visibility: "public",
        args: '{"type":"object","value":{}}',
        returns: "null",
      },
      {
        name: "peek",
        udfType: "Query",
        visibility: "internal",
        args: '{"type":"any"}',
        returns: '{"type":"number"}',
      },
    ]);
  });

  const SEND = "export const send = Object.assign(() => {}, { isPublic: true,";

  test.each([
    [
      `exportArgs: () => '{"type":"union","value":[]}'`,
      /Args validator must be an object or any, and is union/,
    ],
    [
      `exportArgs: () => '{"type":"object","value":{"a-b":{"fieldType":{"type":"any"},"optional":false}}}'`,
      /"a-b" cannot be a field's name/,
    ],
    [
      `exportReturns: () => '{"type":"array","value":{"type":"object","value":{"_":{"fieldType":{"type":"any"},"optional":false}}}}'`,
      /"_" cannot be a field's name/,
    ],
  ])("refuses %s", async (validators, message) => {
    await expect(analyze({ "lib.js": `${SEND} isQuery: true, ${validators} });` })).rejects.toThrow(
      message,
    );
  });

  test('a module that says "use node" holds actions and nothing else', async () => {
    const node = (mark: string) => ({ "lib.js": `"use node"; ${SEND} ${mark}: true });` });
    await expect(analyze(node("isAction"), "node")).resolves.toBeDefined();
    await expect(analyze(node("isMutation"), "node")).rejects.toThrow(
      /`send` defined in `lib.js` is a Mutation function. Only actions can be defined in Node.js/,
    );
  });

  test("shared chunks are loaded through their importers only: they export no functions", async () => {
    const { functions } = await analyze({
      "lib.js": `import { value } from "./_deps/A.js"; export { value };`,
      "_deps/A.js": `export const value = 1;`,
    });
    expect([...functions.keys()]).toEqual(["lib.js"]);
  });

  test("validators that cannot be read name the function", async () => {
    const modules = {
      "lib.js": `export const add = Object.assign(() => {}, {
        isMutation: true, isPublic: true, exportArgs() { throw new Error("circular import?") } });`,
    };
    await expect(analyze(modules)).rejects.toThrow(
      /validators of "add" cannot be read. Error: circular import/,
    );
  });
});

describe("a component's exports", () => {
  test("hold public functions only, by module path, as the CLI writes ComponentApi from them", async () => {
    const mark = (marks: string) => `Object.assign(() => {}, { isQuery: true, ${marks} })`;
    const { functions } = await analyze({
      "jobs/list.js": `
        export const all = ${mark("isPublic: true")};
        export const hidden = ${mark("isInternal: true")};`,
      "lib.js": `export const one = ${mark("isPublic: true")};`,
    });
    expect(exportsOf(functions)).toEqual({
      type: "branch",
      branch: [
        [
          "jobs",
          branch([
            [
              "list",
              branch([["all", { type: "leaf", leaf: "_reference/function/jobs/list:all" }]]),
            ],
          ]),
        ],
        ["lib", branch([["one", { type: "leaf", leaf: "_reference/function/lib:one" }]])],
      ],
    });
  });
});

function branch(entries: [string, unknown][]): unknown {
  return { type: "branch", branch: entries };
}

function analyze(
  sources: Record<string, string>,
  environment: ModuleSource["environment"] = "isolate",
) {
  const modules = Object.entries(sources).map(([path, source]): [string, ModuleSource] => [
    path,
    { path, source, environment },
  ]);
  return analyzeModules(new Map(modules), "", importer);
}

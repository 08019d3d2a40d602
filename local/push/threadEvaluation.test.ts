/** Modules that never end, or end their process, while they are imported: the push is refused, by the module's name. */
import { expect, test } from "vitest";
import { wallEnvironment } from "../environment.js";
import type { ModuleSource } from "../functions/types.js";
import type { PushRequest } from "./request.js";
import { evaluateInThread } from "./threadEvaluation.js";

const LIMIT_MS = 300;

function evaluate(sources: Record<string, string>, environment: "isolate" | "node" = "isolate") {
  const module = (path: string, source: string): ModuleSource => ({ path, source, environment });
  const request = {
    functions: "convex/",
    serverVersion: "1.48.0",
    app: {
      path: "",
      definition: {
        ...module(
          "convex.config.js",
          `export default { export: () => ({ definitionType: { type: "app" }, childComponents: [], httpMounts: {} }) };`,
        ),
        environment: "isolate",
      },
      dependencies: [],
      schema: null,
      modules: Object.entries(sources).map(([path, source]) => module(path, source)),
      unchanged: [],
    },
    components: [],
  } as unknown as PushRequest;
  const task = { request, env: new Map<string, string>(), deployed: new Map() };
  return { request, evaluation: evaluateInThread(wallEnvironment, task, LIMIT_MS) };
}

test("a push's definitions come back, and its modules are the objects that were sent", async () => {
  const source = `
    export const read = Object.assign(() => {}, { isQuery: true, isPublic: true });`;
  const { request, evaluation } = evaluate({ "lib.js": source });
  const { component } = (await evaluation).definitions.get("")!;
  expect(component.functions.get("lib.js")).toMatchObject([{ name: "read", udfType: "Query" }]);
  expect(component.modules.get("lib.js")).toBe(request.app.modules[0]);
});

test.each([
  "for (;;);",
  "await (async () => { for (;;) await null; })();",
  "await new Promise(() => {});",
])("a module that never ends (%s) refuses the push by its name", async (source) => {
  const { evaluation } = evaluate({ "good.js": "export {};", "stuck.js": source });
  await expect(evaluation).rejects.toMatchObject({
    status: 400,
    code: "InvalidModules",
    message: expect.stringMatching(/Failed to analyze stuck\.js: .*too long/) as string,
  });
});

test("a module that throws, or ends its process, refuses the push by its name", async () => {
  await expect(evaluate({ "bad.js": `throw new Error("no");` }).evaluation).rejects.toThrow(
    /Failed to analyze bad\.js: Uncaught Error: no/,
  );
  await expect(evaluate({ "bad.js": `process.exit(4);` }, "node").evaluation).rejects.toThrow(
    /Failed to analyze bad\.js: it ended its process: process\.exit\(4\)/,
  );
});

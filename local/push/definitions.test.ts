import { describe, expect, test } from "vitest";
import type { ModuleSource } from "../functions/types.js";
import { evaluateDefinitions } from "./definitions.js";
import { sandboxImporter } from "./importing.js";
import type { DefinitionSource } from "./request.js";

const importer = sandboxImporter(new Map());

describe("definitions", () => {
  test("a child's path and default name reach the definition that uses it", async () => {
    const child = source("../kid", component("kid"));
    const app = source("", appUsing("../kid"), ["../kid"]);
    // The app comes first in a push: order must not matter.
    const definitions = await evaluateDefinitions([app, child], importer);
    expect(definitions.get("")!.childComponents).toEqual([
      { name: "kid", path: "../kid", env: null },
    ]);
    expect(definitions.get("../kid")!.definitionType).toEqual({
      type: "childComponent",
      name: "kid",
    });
  });

  test("components that contain each other are refused, and the circle is shown", async () => {
    const sources = [
      source("", appUsing("a"), ["a"]),
      source("a", component("a"), ["b"]),
      source("b", component("b"), ["a"]),
    ];
    await expect(evaluateDefinitions(sources, importer)).rejects.toThrow("a → b → a");
  });

  test("a component that was not pushed is named, with the pushed ones", async () => {
    const sources = [source("", appUsing("gone"), ["gone"]), source("here", component("here"))];
    await expect(evaluateDefinitions(sources, importer)).rejects.toThrow(
      "The app imports the component gone, which the push does not contain. Defined are: here.",
    );
  });

  test("a definition of the wrong kind says which function to call", async () => {
    await expect(evaluateDefinitions([source("", component("x"))], importer)).rejects.toThrow(
      "must be made by defineApp()",
    );
  });

  test("a definition that throws is a refusal with its message, not a crash", async () => {
    const sources = [source("", `throw new TypeError("no such thing");`)];
    await expect(evaluateDefinitions(sources, importer)).rejects.toMatchObject({
      status: 400,
      code: "InvalidModules",
      message: expect.stringContaining("TypeError: no such thing") as unknown,
    });
  });
});

function source(path: string, code: string, dependencies: string[] = []): DefinitionSource {
  const definition: ModuleSource = {
    path: "convex.config.js",
    source: code,
    environment: "isolate",
  };
  return { path, definition, dependencies, schema: null, modules: [], unchanged: [] };
}

/** A result of `defineComponent` and `defineApp`, reduced to the fields that the push reads. */
function component(name: string): string {
  return `export default { export: () => ({
    definitionType: { type: "childComponent", name: ${JSON.stringify(name)} },
    childComponents: [], httpMounts: {},
  }) };`;
}

function appUsing(path: string): string {
  const specifier = `./_componentDeps/${Buffer.from(path).toString("base64url")}`;
  return `import child from ${JSON.stringify(specifier)};
  export default { export: () => ({
    definitionType: { type: "app" },
    childComponents: [{ name: child.defaultName, path: child.componentDefinitionPath, env: null }],
    httpMounts: {},
  }) };`;
}

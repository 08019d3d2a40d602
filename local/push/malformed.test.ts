/** Bodies that no CLI sends: refused as the sender's mistake, never taken for a fault of the backend. */
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { createCore, type Core } from "../backend.js";
import { createVirtualClock } from "../virtual/clock.js";

const clock = createVirtualClock({ seed: 1 });
let core: Core;
beforeAll(async () => {
  const urls = { cloud: "http://backend.test", site: "http://site.test" };
  core = await clock.run(createCore(urls, { quiet: true, env: clock }));
});
afterAll(() => clock.run(core.close()));

/** The backend's report about itself when something fails that must not. */
const crashes = vi.spyOn(console, "error").mockImplementation(() => {});
beforeEach(() => crashes.mockClear());

type Json = fc.JsonValue;

async function post(path: string, body: Json): Promise<{ status: number; body: any }> {
  const request = new Request(`http://backend.test/api/deploy2/${path}`, {
    method: "POST",
    headers: { authorization: `Convex ${core.adminKey}` },
    body: JSON.stringify(body),
  });
  const response = await clock.run(core.fetch(request));
  return { status: response.status, body: await response.json() };
}

/** The modules' exports are part of the tree, so that they are broken too. */
const exported = {
  app: {
    definitionType: { type: "app" },
    childComponents: [
      { name: "child", path: "child", env: [["STEP", { type: "value", value: "1" }]] },
    ],
    httpMounts: { "/child/": "_reference/childComponent/child" },
    envVars: [["NAME", { type: "value", value: '{"type":"string"}', optional: true }]],
  },
  child: {
    definitionType: { type: "childComponent", name: "child" },
    childComponents: [],
    httpMounts: {},
    envVars: [["STEP", { type: "value", value: '{"type":"string"}' }]],
  },
  schema: {
    tables: [
      {
        tableName: "rows",
        indexes: [{ indexDescriptor: "by_n", fields: ["n"] }],
        searchIndexes: [],
        vectorIndexes: [],
        documentType: {
          type: "object",
          value: { n: { fieldType: { type: "number" }, optional: false } },
        },
      },
    ],
    schemaValidation: true,
  },
  args: { type: "object", value: {} },
};

const sources = (of: Record<string, Json>): Record<string, string> => ({
  app: `export default { export: () => (${JSON.stringify(of["app"])}) }`,
  child: `export default { export: () => (${JSON.stringify(of["child"])}) }`,
  schema: `export default { export: () => ${JSON.stringify(JSON.stringify(of["schema"]))} }`,
  lib: `export const read = Object.assign(() => {}, { isQuery: true, isPublic: true, invokeQuery() {},
    exportArgs: () => ${JSON.stringify(JSON.stringify(of["args"]))}, exportReturns: () => "null" })`,
});

const module = (path: string, source: string) => ({ path, source, environment: "isolate" });

/** As the CLI of convex 1.48 sends it; `$name` stands for a module of `sources`. */
const PUSH = {
  exported,
  body: {
    functions: "convex/",
    dryRun: false,
    appDefinition: {
      definition: module("convex.config.js", "$app"),
      dependencies: ["child"],
      schema: module("schema.js", "$schema"),
      changedModules: [module("lib.js", "$lib")],
      unchangedModuleHashes: [],
      udfServerVersion: "1.48.0",
    },
    componentDefinitions: [
      {
        definitionPath: "child",
        definition: module("convex.config.js", "$child"),
        dependencies: [],
        schema: null,
        functions: [module("lib.js", "$lib")],
        udfServerVersion: "1.48.0",
      },
    ],
  },
} satisfies Json;

function bodyOf(push: Json): Json {
  const { exported, body } = push as { exported: Record<string, Json>; body: Json };
  const texts = sources(exported ?? {});
  return JSON.parse(JSON.stringify(body ?? null), (_, value: unknown) =>
    typeof value === "string" && value.startsWith("$") ? (texts[value.slice(1)] ?? value) : value,
  ) as Json;
}

type Path = readonly (string | number)[];

/** Where something can be broken: every field and every element, at any depth. */
function pathsOf(value: Json, at: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const path = [...at, name];
    return [path, ...pathsOf(inner as Json, path)];
  });
}

/** A copy in which the value there is another, or gone. */
function broken(value: Json, [name, ...rest]: Path, by: Json | undefined): Json {
  const copy = structuredClone(value) as Record<string, Json>;
  if (rest.length > 0) copy[name!] = broken(copy[name!] ?? null, rest, by);
  else if (by === undefined) delete copy[name!];
  else copy[name!] = by;
  return copy;
}

const anything = fc.oneof(
  fc.constantFrom<(Json | undefined)[]>(
    undefined,
    null,
    "",
    0,
    -1,
    true,
    [],
    {},
    [null],
    [[]],
    [{}],
    ["x", "x"],
  ),
  // Passes for an object until it is made a text, or is asked for its kind.
  fc.constantFrom<Json[]>(
    { toString: 1 },
    { type: "app" },
    JSON.parse('{"__proto__":null}') as Json,
  ),
  fc.jsonValue({ maxDepth: 3 }),
);

/** After any body, the backend stands. */
function expectRefused({ status, body }: { status: number; body: any }): void {
  expect(crashes.mock.calls).toEqual([]);
  expect(status).toBeLessThan(500);
  if (status !== 200) expect(body.code).toMatch(/^[A-Z]\w+$/);
}

test("the whole body that all variations start from is pushed", async () => {
  const started = await post("start_push", bodyOf(PUSH));
  expect(started).toMatchObject({ status: 200, body: { analysis: { child: {}, "": {} } } });
  const { schemaChange } = started.body;
  expect(await post("wait_for_schema", { schemaChange })).toMatchObject({
    body: { type: "complete" },
  });
  expect(await post("finish_push", { startPush: started.body, dryRun: true })).toMatchObject({
    status: 200,
  });
});

test("packages that the platform would install are refused by name", async () => {
  const nodeDependencies = [{ name: "sharp", version: "0.34.0" }];
  expect(await post("start_push", { ...(bodyOf(PUSH) as object), nodeDependencies })).toMatchObject(
    {
      status: 400,
      body: {
        code: "UnsupportedByLocalBackend",
        message: expect.stringMatching(/external packages \(sharp\)/),
      },
    },
  );
});

test.each(["start_push", "evaluate_push", "wait_for_schema", "finish_push"])(
  "any JSON to %s is refused with a code",
  async (path) => {
    await fc.assert(
      fc.asyncProperty(anything, async (body) => expectRefused(await post(path, body ?? null))),
      { numRuns: 60, seed: 1 },
    );
  },
);

test("a push with one thing in it broken is refused with a code, or pushed when it makes no difference", async () => {
  const refused = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...pathsOf(PUSH)), anything, async (path, by) => {
      const answer = await post("start_push", bodyOf(broken(PUSH, path, by)));
      expectRefused(answer);
      refused.add(answer.body.code);
      if (answer.status !== 200) return;
      expectRefused(await post("wait_for_schema", { schemaChange: answer.body.schemaChange }));
      expectRefused(await post("finish_push", { startPush: answer.body, dryRun: false }));
    }),
    { numRuns: 150, seed: 1 },
  );
  expect([...refused]).toEqual(
    expect.arrayContaining(["InvalidPushRequest", "InvalidDefinition", "InvalidSchema"]),
  );
});

test("a later step of a push with one thing broken is refused with a code, or goes on", async () => {
  const { body: started } = await post("start_push", bodyOf(PUSH));
  const steps: [string, Json][] = [
    ["wait_for_schema", { schemaChange: started.schemaChange, timeoutMs: 10, dryRun: false }],
    ["finish_push", { startPush: started, dryRun: true }],
  ];
  for (const [path, body] of steps) {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...pathsOf(body)), anything, async (at, by) =>
        expectRefused(await post(path, broken(body, at, by))),
      ),
      { numRuns: 100, seed: 1 },
    );
  }
});

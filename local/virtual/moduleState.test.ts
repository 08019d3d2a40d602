import { fileURLToPath } from "node:url";
import { anyApi } from "convex/server";
import { beforeAll, expect, test } from "vitest";
import type { RunnerOptions } from "../functions/types.js";
import { bundleApp, type AppBundle } from "./appBundle.js";
import { createWorld, type World } from "./world.js";

const FOLDER = fileURLToPath(new URL("./fixtures/busy", import.meta.url));
const { bump } = anyApi["busy"]!;

let clean: AppBundle;

beforeAll(async () => {
  clean = await bundleApp(FOLDER);
});

/** The busy app, with a mutation that returns the value of `expression`. */
function planted(declaration: string, expression: string): AppBundle {
  const app = structuredClone(clean);
  const { changedModules } = app.startPush["appDefinition"] as {
    changedModules: { path: string; source: string }[];
  };
  const module = changedModules.find(({ path }) => path === "busy.js")!;
  const parts = module.source.split(/console\.log\(\w+, ?Math\.random\(\), ?Date\.now\(\)\)/);
  expect(parts).toHaveLength(2);
  module.source = `${declaration}\n${parts.join(`console.log(${expression})`)}`;
  return app;
}

async function open(app: AppBundle, runner?: RunnerOptions): Promise<World> {
  const world = await createWorld({ seed: 1, jitter: 0, trace: true, ...(runner && { runner }) });
  await world.push(app);
  return world;
}

async function bumpOften(world: World): Promise<string[]> {
  const client = world.httpClient();
  for (let i = 0; i < 4; i++) await world.run(client.mutation(bump!, { by: "a" }));
  const said = world.trace.lines.filter((line) => line.includes(" logs "));
  return said.map((line) => line.slice(line.indexOf("[")));
}

test("a module that counts calls is caught, and named", async () => {
  const world = await open(planted("let calls = 0;", "calls++"));
  await expect(bumpOften(world)).rejects.toThrow(
    /"calls" of module "busy.js" \(bundled from .*convex\/busy\.ts.*\) was changed by a call \(seen after "busy:bump"\)/,
  );
  await world.close();
});

test("a call that patches a built-in is caught", async () => {
  const world = await open(planted("", "Array.prototype.last = () => 1"));
  await expect(bumpOften(world)).rejects.toThrow(/The global "Array" was changed/);
  await world.close();
});

test("state that may be carried is; in contexts of their own calls find nothing", async () => {
  const app = planted("let calls = 0;", "calls++");
  const kept = await open(app, { carried: ["busy.js:calls"] });
  expect(await bumpOften(kept)).toContain("[LOG] 1");
  await kept.close();
  const fresh = await open(app, { contexts: "fresh" });
  expect(new Set(await bumpOften(fresh))).toEqual(new Set(["[LOG] 0"]));
  await fresh.close();
});

test("an app that carries nothing happens the same whether it is watched or not", async () => {
  const traces: string[] = [];
  for (const contexts of ["watched", "reused"] as const) {
    const world = await open(clean, { contexts });
    await bumpOften(world);
    traces.push(world.trace.digest());
    await world.close();
  }
  expect(traces[0]).toBe(traces[1]);
});

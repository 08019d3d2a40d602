/**
 * For tests: a deployment made from sources written in the test, bundled as the CLI bundles them, on an engine of its own.
 * Nothing but tests may import this.
 */
import { build, type Plugin } from "esbuild";
import { convexToJson, jsonToConvex, type JSONValue, type Value } from "convex/values";
import { createDatabase, openDatabase } from "../engine/database.js";
import type { Database, DatabaseOptions, Namespace, TableSpec } from "../engine/types.js";
import { wallEnvironment, type Environment } from "../environment.js";
import { evaluateCrons } from "../push/crons.js";
import { sandboxImporter } from "../push/importing.js";
import { createVirtualClock, type ClockOptions, type VirtualClock } from "../virtual/clock.js";
import { createFunctionRunner } from "./runner.js";
import { createSandbox } from "./sandbox.js";
import type {
  AnalyzedFunction,
  CallOptions,
  ComponentInstance,
  Deployment,
  FunctionResult,
  FunctionRunner,
  HttpDefinition,
  HttpRoute,
  ModuleSource,
  RunnerOptions,
  UdfType,
} from "./types.js";

/** By namespace, then by file: `{ "": { "lib.ts": "…" }, child: { "lib.ts": "…", "schema.ts": "…" } }`. */
export type Sources = Record<Namespace, Record<string, string>>;

/** The head of every test module: the imports that `_generated` files would give. */
export const PRELUDE = `
  import {
    queryGeneric as query, internalQueryGeneric as internalQuery, mutationGeneric as mutation,
    internalMutationGeneric as internalMutation, actionGeneric as action, httpActionGeneric as httpAction, httpRouter, internalActionGeneric as internalAction,
    anyApi as api, componentsGeneric, cronJobs, createFunctionHandle, defineSchema, defineTable,
  } from "convex/server";
  import { ConvexError, v } from "convex/values";
  const internal = api;
  const components = componentsGeneric();
`;

/** Namespaces are nested by slashes; each component is mounted under the last part of its namespace. */
export async function makeDeployment(
  sources: Sources,
  env: Record<Namespace, Record<string, string>> = {},
  http: Record<Namespace, Partial<HttpDefinition>> = {},
  plugins: readonly Plugin[] = [],
): Promise<Deployment> {
  const instances = new Map<Namespace, ComponentInstance>();
  for (const [namespace, files] of Object.entries(sources)) {
    const modules = await bundle(files, plugins);
    const schema = await schemaOf(modules);
    modules.delete("schema.js");
    const functions = await functionsOf(modules);
    const routes = await routesOf(modules);
    const unserved = routes === null && http[namespace] === undefined;
    instances.set(namespace, {
      namespace,
      definition: {
        path: namespace,
        modules,
        functions,
        crons: await evaluateCrons(modules, functions, namespace, sandboxImporter(new Map())),
        tables: schema.tables,
        schemaValidation: schema.validated,
        ...(unserved ? {} : { http: { routes, prefix: null, mounts: [], ...http[namespace] } }),
      },
      children: new Map(childrenOf(namespace, Object.keys(sources))),
      env: new Map(Object.entries(env[namespace] ?? {})),
    });
  }
  return { instances };
}

export interface TestBackend {
  database: Database;
  runner: FunctionRunner;
  /**
   * The value, or an error with the message and, for a `ConvexError`, `data`. Callers are internal unless the options
   * say otherwise.
   */
  query(path: string, args?: object, options?: Partial<CallOptions>): Promise<any>;
  mutation(path: string, args?: object, options?: Partial<CallOptions>): Promise<any>;
  action(path: string, args?: object, options?: Partial<CallOptions>): Promise<any>;
  push(sources: Sources): Promise<void>;
  stop(): Promise<void>;
}

/** The wall clock, and a way to put it forward: timers due until then fire at once. */
export interface TestClock extends Environment {
  advance(ms: number): void;
}

export function createTestClock(): TestClock {
  let ahead = 0;
  const timers = new Set<{ at: number; fire: () => void }>();
  const now = () => wallEnvironment.now() + ahead;
  return {
    ...wallEnvironment,
    now,
    timer(ms, run) {
      const cancel = () => {
        timers.delete(timer);
        real.cancel();
      };
      const fire = () => {
        cancel();
        run();
      };
      const timer = { at: now() + ms, fire };
      const real = wallEnvironment.timer(ms, fire);
      timers.add(timer);
      return { cancel };
    },
    advance(ms) {
      ahead += ms;
      for (const timer of [...timers].sort((a, b) => a.at - b.at))
        if (timer.at <= now()) timer.fire();
    },
  };
}

let isolation: NonNullable<RunnerOptions["isolation"]> = "inline";

/** Where functions run in backends started from now on, unless their options say otherwise. */
export function isolateIn(where: typeof isolation): void {
  isolation = where;
}

export interface TestOptions {
  clock?: Environment;
  database?: DatabaseOptions;
  runner?: RunnerOptions;
  env?: Record<Namespace, Record<string, string>>;
  /** A namespace's prefix, and the children mounted below it; its routes are in its `http.ts`. */
  http?: Record<Namespace, Partial<HttpDefinition>>;
}

export async function startTestBackend(
  sources: Sources,
  options: TestOptions = {},
): Promise<TestBackend> {
  const clock = options.clock ?? wallEnvironment;
  const { store, ...rest } = options.database ?? {};
  const database =
    store === undefined
      ? createDatabase(clock, rest)
      : await openDatabase(clock, { ...rest, store });
  const runner = createFunctionRunner(clock, database, { isolation, ...options.runner });
  const push = async (pushed: Sources) => {
    const deployment = await clock.outside(makeDeployment(pushed, options.env, options.http));
    for (const [namespace, { definition }] of deployment.instances) {
      const enforce = definition.schemaValidation;
      await database.applySchema(namespace, definition.tables, { enforce });
    }
    await runner.install(deployment);
  };
  await push(sources);
  const call =
    (kind: "query" | "mutation" | "action") =>
    async (path: string, args: object = {}, given: Partial<CallOptions> = {}) => {
      const slash = path.lastIndexOf("::");
      const address = {
        namespace: slash === -1 ? "" : path.slice(0, slash),
        path: slash === -1 ? path : path.slice(slash + 2),
      };
      const result = await runner[kind](address, convexToJson(args as Value), {
        identity: { kind: "none" },
        publicOnly: false,
        requestId: "test",
        ...given,
      });
      return unwrap(result);
    };
  return {
    database,
    runner,
    query: call("query"),
    mutation: call("mutation"),
    action: call("action"),
    push,
    stop: () => runner.stop(5000),
  };
}

/** On virtual time, which only `clock` lets pass: `clock.run(() => backend.mutation(…))`, `clock.advance(ms)`. */
export async function startVirtualBackend(
  sources: Sources,
  { costs, ...options }: Omit<TestOptions, "clock"> & Pick<ClockOptions, "costs"> = {},
): Promise<{ backend: TestBackend; clock: VirtualClock }> {
  const clock = createVirtualClock({ seed: 1, ...(costs === undefined ? {} : { costs }) });
  const backend = await clock.run(() => startTestBackend(sources, { ...options, clock }));
  return { backend, clock };
}

function unwrap(result: FunctionResult): Value {
  if (result.ok) return jsonToConvex(result.value);
  throw Object.assign(new Error(result.message), { data: result.data });
}

const SOURCE_FILES = "test-sources";
const REPOSITORY = new URL("../..", import.meta.url).pathname;
const OUT = `${REPOSITORY}out/`;

/**
 * One module a file and shared chunks under `_deps`, as the CLI makes them. A first line "use node" is kept apart.
 * `plugins` are asked before any file is read.
 */
export async function bundle(
  files: Record<string, string>,
  plugins: readonly Plugin[] = [],
): Promise<Map<string, ModuleSource>> {
  const paths = Object.keys(files);
  const result = await build({
    absWorkingDir: REPOSITORY,
    entryPoints: Object.fromEntries(paths.map((path) => [withoutExtension(path), path])),
    bundle: true,
    write: false,
    splitting: true,
    format: "esm",
    target: "esnext",
    platform: "browser",
    external: ["node:*"],
    conditions: ["convex", "module"],
    // Nothing is written there. Within the repository, for source maps that are the same wherever that is.
    outdir: OUT,
    chunkNames: "_deps/[hash]",
    sourcemap: true,
    plugins: [
      ...plugins,
      {
        name: SOURCE_FILES,
        setup(esbuild) {
          esbuild.onResolve({ filter: /.*/ }, ({ path, kind, namespace }) => {
            const file = path.replace(/^\.\//, "").replace(/\.js$/, ".ts");
            const known = files[file] !== undefined;
            if (kind !== "entry-point" && (namespace !== SOURCE_FILES || !known)) return null;
            return { path: file, namespace: SOURCE_FILES };
          });
          esbuild.onLoad({ filter: /.*/, namespace: SOURCE_FILES }, ({ path }) => ({
            contents: files[path]!,
            loader: "ts",
            resolveDir: REPOSITORY,
          }));
        },
      },
    ],
  });
  const outputs = new Map(
    result.outputFiles.map(({ path, text }) => [path.slice(OUT.length), text]),
  );
  const modules = new Map<string, ModuleSource>();
  for (const [path, source] of outputs) {
    if (path.endsWith(".map")) continue;
    const original = files[path.replace(/\.js$/, ".ts")] ?? "";
    const environment = original.startsWith(`"use node"`) ? "node" : "isolate";
    modules.set(path, { path, source, sourceMap: outputs.get(`${path}.map`) ?? "", environment });
  }
  return modules;
}

function withoutExtension(path: string): string {
  return path.replace(/\.[^.]+$/, "");
}

function* childrenOf(parent: Namespace, all: Namespace[]): Generator<[string, Namespace]> {
  const prefix = parent === "" ? "" : `${parent}/`;
  for (const namespace of all) {
    if (namespace === "" || !namespace.startsWith(prefix)) continue;
    const name = namespace.slice(prefix.length);
    if (name !== "" && !name.includes("/")) yield [name, namespace];
  }
}

async function schemaOf(
  modules: Map<string, ModuleSource>,
): Promise<{ tables: TableSpec[]; validated: boolean }> {
  if (!modules.has("schema.js")) return { tables: [], validated: false };
  const { default: schema } = await createSandbox(modules).import("schema.js");
  const exported = JSON.parse((schema as { export(): string }).export()) as {
    tables: {
      tableName: string;
      indexes: { indexDescriptor: string; fields: string[] }[];
      documentType: JSONValue;
    }[];
    schemaValidation: boolean;
  };
  return {
    tables: exported.tables.map(({ tableName, indexes, documentType }) => ({
      name: tableName,
      indexes: indexes.map(({ indexDescriptor, fields }) => ({ name: indexDescriptor, fields })),
      documentType,
    })),
    validated: exported.schemaValidation,
  };
}

async function routesOf(modules: Map<string, ModuleSource>): Promise<HttpRoute[] | null> {
  if (!modules.has("http.js")) return null;
  const { default: router } = await createSandbox(modules).import("http.js");
  const listed = (router as { getRoutes(): [string, string, unknown][] }).getRoutes();
  return listed.map(([path, method]) => ({ path, method }));
}

interface Registered {
  isQuery?: boolean;
  isMutation?: boolean;
  isAction?: boolean;
  isPublic?: boolean;
  exportArgs(): string;
  exportReturns(): string;
}

async function functionsOf(
  modules: Map<string, ModuleSource>,
): Promise<Map<string, AnalyzedFunction[]>> {
  const sandbox = createSandbox(modules);
  const functions = new Map<string, AnalyzedFunction[]>();
  for (const path of modules.keys()) {
    if (path.startsWith("_deps/")) continue;
    const analyzed: AnalyzedFunction[] = [];
    for (const [name, value] of Object.entries(await sandbox.import(path))) {
      const udfType = typeof value === "function" ? typeOf(value as unknown as Registered) : null;
      if (udfType === null) continue;
      const registered = value as Registered;
      analyzed.push({
        name,
        udfType,
        visibility: registered.isPublic ? "public" : "internal",
        args: registered.exportArgs(),
        returns: registered.exportReturns(),
      });
    }
    functions.set(path, analyzed);
  }
  return functions;
}

function typeOf({ isQuery, isMutation, isAction }: Registered): UdfType | null {
  if (isQuery) return "Query";
  if (isMutation) return "Mutation";
  return isAction ? "Action" : null;
}

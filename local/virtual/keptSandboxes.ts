/**
 * Sandboxes that are kept from world to world, of deployments that are too: a world that starts with both makes no
 * context and evaluates no module. A module's work while it is imported must then be no world's: its time stands still,
 * its randomness has one seed, and all modules are imported in one order, for any first call. So a world happens the
 * same, whether it finds sandboxes of earlier worlds or makes them all.
 */
import type { Environment } from "../environment.js";
import { createSandbox, type CallSandbox, type SandboxOptions } from "../functions/sandbox.js";
import { createSandboxPool, type PoolOptions, type SandboxPool } from "../functions/sandboxPool.js";
import type { ModuleSource } from "../functions/types.js";
import { START_MS } from "./clock.js";
import { randomStream } from "./random.js";

/** For `RunnerOptions.sandboxes`, of any number of worlds, one after the other or at the same time. */
export function keepSandboxes(options: Omit<PoolOptions, "create"> = {}): SandboxPool {
  return createSandboxPool(importClock(), { ...options, create: createKept });
}

/** Modules that put something else in the place of the language's objects, or fail: for them nothing is fixed. */
const unfixed = new WeakSet<ReadonlyMap<string, ModuleSource>>();

function createKept(
  modules: ReadonlyMap<string, ModuleSource>,
  options: SandboxOptions,
): CallSandbox {
  const create = (): CallSandbox =>
    createSandbox(modules, { ...options, clock: importClock(), fixed: !unfixed.has(modules) });
  let sandbox = create();
  const imported = new Map<ModuleSource["environment"], Promise<void>>();
  const importAll = async (environment: ModuleSource["environment"]): Promise<void> => {
    // The same order also where a context for Node's modules comes in addition.
    if (environment === "node") await importOnce("isolate");
    let failed = false;
    for (const path of entriesOf(modules, environment)) {
      // A call of a function of a module that fails gets the error then.
      await sandbox.import(path).catch(() => (failed = true));
    }
    if (unfixed.has(modules) || (!failed && sandbox.replaced() === null)) return;
    unfixed.add(modules);
    sandbox = create();
    imported.clear();
    await importOnce(environment);
  };
  const importOnce = (environment: ModuleSource["environment"]): Promise<void> => {
    const known = imported.get(environment) ?? importAll(environment);
    imported.set(environment, known);
    return known;
  };
  return {
    async import(path) {
      await importOnce(modules.get(path)?.environment ?? "isolate");
      return sandbox.import(path);
    },
    enter: (host) => sandbox.enter(host),
    leave: () => sandbox.leave(),
    changed: () => sandbox.changed(),
    replaced: () => sandbox.replaced(),
  };
}

/** The modules that are no shared chunks. */
function entriesOf(
  modules: ReadonlyMap<string, ModuleSource>,
  environment: ModuleSource["environment"],
): string[] {
  return [...modules.values()]
    .filter((module) => module.environment === environment && !module.path.startsWith("_deps/"))
    .map(({ path }) => path)
    .sort();
}

/** One for each sandbox: the draws of one change nothing in another. */
function importClock(): Pick<Environment, "now" | "random" | "randomBytes" | "outside"> {
  const random = randomStream(0, "imports");
  return {
    now: () => START_MS,
    random: () => random.next(),
    randomBytes: (length) => random.bytes(length),
    outside: () =>
      Promise.reject(
        new Error(
          "In a context kept from world to world, a module cannot wait for other threads while it is imported " +
            "(digests, WebAssembly): their results come at no world's time. Do it in a function, or do not keep contexts.",
        ),
      ),
  };
}

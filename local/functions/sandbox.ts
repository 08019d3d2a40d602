/**
 * A `vm` context with the platform's globals, holding the modules of one component.
 *
 * It knows modules and globals, and nothing of transactions or functions: both come in through the host of the running
 * call. Not a security boundary: code pushed here is the developer's own.
 *
 * The modules' state survives from call to call in one sandbox, and calls are spread over several. The platform
 * promises neither that module state is kept nor that it is fresh, so functions must rely on neither.
 */
import { builtinModules, createRequire } from "node:module";
import path from "node:path/posix";
import vm from "node:vm";
import { wallEnvironment, type Environment } from "../environment.js";
import { compileModule } from "./codeCache.js";
import { fixGlobals, type FixedGlobals } from "./fixedGlobals.js";
import { installGlobals } from "./globals.js";
import type { Host } from "./host.js";
import { importHost } from "./importHost.js";
import { EXPOSE, exposeBindings, type Expose } from "./moduleBindings.js";
import type { Root } from "./moduleState.js";
import { ownerOfCode, watched, watchRealm } from "./rejections.js";
import { StateWatch } from "./stateWatch.js";
import type { ModuleSource, Sandbox } from "./types.js";

export interface SandboxOptions {
  /** The variables of `process.env`. Defaults to nothing. */
  env?: ReadonlyMap<string, string>;
  /** Called when code reads a variable of `process.env` that is not there. */
  onMissingVariable?: (name: string) => void;
  /** Time and randomness of code that runs while modules are evaluated. Defaults to the wall clock. */
  clock?: Pick<Environment, "now" | "random" | "randomBytes" | "outside">;
  /**
   * Remembers the values of modules, except for the names given here, so that `changed` can tell. Modules that say "use
   * node" are not watched.
   */
  watch?: ReadonlySet<string>;
  /** The language's objects are found faster, and keep their values (`fixedGlobals.ts`). Defaults to false. */
  fixed?: boolean;
}

/** A sandbox that calls take turns in. */
export interface CallSandbox extends Sandbox {
  /** Makes the sandbox a call's own. */
  enter(host: Host): void;
  /** Gives it back: code left over from the call finds a host that refuses. */
  leave(): void;
  /** The first change that a call has left behind. `null` also without `watch`. */
  changed(): Root | null;
  /** Where globals are fixed: the first that code has put another in the place of, which other code has not found. */
  replaced(): string | null;
}

const NOBODY = { rejected: () => {} };

type Surroundings = ModuleSource["environment"];

export function createSandbox(
  modules: ReadonlyMap<string, ModuleSource>,
  options: SandboxOptions = {},
): CallSandbox {
  const idle = importHost(options.clock ?? wallEnvironment);
  let host = idle;
  // Modules that say "use node" and all other modules never share a context, as they share no process on the platform.
  const rooms = new Map<Surroundings, Loader>();
  let watch: StateWatch | null = null;
  const fixed: FixedGlobals[] = [];
  // Code that an earlier call has left running finds a host that refuses, not the current call's.
  const hostOfCode = (): Host => {
    const owner = ownerOfCode();
    return owner === undefined || owner === host ? host : idle;
  };
  const room = (surroundings: Surroundings): Loader => {
    const known = rooms.get(surroundings);
    if (known !== undefined) return known;
    const node = surroundings === "node";
    // As on the platform: isolate/src/client.rs:509, --disallow-code-generation-from-strings.
    const context = vm.createContext({}, { codeGeneration: { strings: node, wasm: true } });
    const realm = installGlobals(context, {
      host: hostOfCode,
      env: options.env ?? new Map(),
      ...(options.onMissingVariable && { onMissingVariable: options.onMissingVariable }),
      node,
    });
    watchRealm(realm.Promise.prototype, () => host);
    if (options.fixed === true) fixed.push(fixGlobals(context));
    if (options.watch && !node) watch = new StateWatch(context, options.watch);
    // By the host of the asking code: a module may import another while it is itself imported, and so may actions.
    const mayImport = () => {
      if (host.importsDynamically()) return;
      throw new realm.TypeError(NO_DYNAMIC_IMPORT);
    };
    const load = createLoader(modules, { context, node, mayImport, watch: node ? null : watch });
    rooms.set(surroundings, load);
    return load;
  };
  return {
    // Work that modules start while they are imported has no owner.
    import: (modulePath) =>
      watched(NOBODY, () => room(modules.get(modulePath)?.environment ?? "isolate")(modulePath)),
    enter: (next) => {
      watch?.begin();
      host = next;
    },
    leave: () => {
      host = idle;
    },
    changed: () => watch?.changed() ?? null,
    replaced: () => {
      for (const globals of fixed) {
        const name = globals.replaced();
        if (name !== null) return name;
      }
      return null;
    },
  };
}

/** The platform's words: strings.rs. */
const NO_DYNAMIC_IMPORT = "dynamic module import unsupported";

interface LoaderOptions {
  context: vm.Context;
  node: boolean;
  /** Throws when `import()` is refused to the running call. */
  mayImport: () => void;
  watch: StateWatch | null;
}

type Loader = (modulePath: string) => Promise<Record<string, unknown>>;

function createLoader(
  modules: ReadonlyMap<string, ModuleSource>,
  { context, node, mayImport, watch }: LoaderOptions,
): Loader {
  const instances = new Map<string, vm.Module>();
  // Two graphs that share a module must not be linked at the same time.
  let linking: Promise<unknown> = Promise.resolve();

  const instance = (modulePath: string, from?: string): vm.Module => {
    const known = instances.get(modulePath);
    if (known !== undefined) return known;
    const source = modules.get(modulePath);
    if (source === undefined) throw new Error(notFound(modulePath, from));
    watch?.loading();
    const module = compileModule(watch === null ? source : exposeBindings(source), {
      identifier: modulePath,
      context,
      ...(watch !== null && {
        initializeImportMeta: (meta: ImportMeta) => {
          const expose: Expose = (names, values) => watch.add(modulePath, names, values);
          Object.assign(meta, { [EXPOSE]: expose });
        },
      }),
      importModuleDynamically: async (specifier: string) => {
        mayImport();
        return evaluate(resolve(specifier, modulePath));
      },
    });
    instances.set(modulePath, module);
    return module;
  };

  const resolve = (specifier: string, from: string): vm.Module => {
    if (specifier.startsWith(".")) return instance(path.join(path.dirname(from), specifier), from);
    if (modules.has(specifier)) return instance(specifier, from);
    if (node && isBuiltin(specifier)) return builtin(specifier, context, instances);
    throw new Error(notFound(specifier, from));
  };

  const evaluate = async (module: vm.Module): Promise<vm.Module> => {
    const linked = linking.then(async () => {
      if (module.status === "unlinked") {
        await module.link((specifier, referencing) => resolve(specifier, referencing.identifier));
      }
    });
    linking = linked.catch(() => {});
    await linked;
    await module.evaluate();
    return module;
  };

  return async (modulePath) =>
    (await evaluate(instance(modulePath))).namespace as Record<string, unknown>;
}

const requireBuiltin = createRequire(import.meta.url);

function isBuiltin(specifier: string): boolean {
  return specifier.startsWith("node:") || builtinModules.includes(specifier);
}

function builtin(
  specifier: string,
  context: vm.Context,
  instances: Map<string, vm.Module>,
): vm.Module {
  const key = specifier.startsWith("node:") ? specifier : `node:${specifier}`;
  const known = instances.get(key);
  if (known !== undefined) return known;
  const exports = requireBuiltin(key) as Record<string, unknown>;
  const module = new vm.SyntheticModule(
    [...new Set([...Object.keys(exports), "default"])],
    () => {
      for (const [name, value] of Object.entries(exports)) module.setExport(name, value);
      module.setExport("default", exports["default"] ?? exports);
    },
    { identifier: key, context },
  );
  instances.set(key, module);
  return module;
}

function notFound(specifier: string, from?: string): string {
  const where = from === undefined ? "" : `, imported by "${from}"`;
  const hint = isBuiltin(specifier)
    ? ` It is one of Node's: only modules that begin with "use node" can import it.`
    : "";
  return `There is no module "${specifier}" in the push${where}.${hint}`;
}

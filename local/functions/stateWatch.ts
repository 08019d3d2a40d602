/**
 * Watches a context for state that one call leaves there for the next: a counter in a module, a patched built-in. It
 * knows which values to compare (by `moduleState.ts`), and when; the consequences are its caller's.
 */
import vm from "node:vm";
import { findChange, takeSnapshot, type Root, type Snapshot } from "./moduleState.js";
import type { ComponentInstance, ModuleSource, StateChange } from "./types.js";

interface Kept {
  of: string;
  names: readonly string[];
  values: () => unknown[];
}

/** One context's. */
export class StateWatch {
  readonly #kept: Kept[] = [];
  #snapshot: Snapshot | null = null;
  /** Found when a module was about to be loaded, which may change things by right. */
  #found: Root | null = null;
  readonly #except: ReadonlySet<string>;

  constructor(
    context: vm.Context,
    private readonly carried: ReadonlySet<string>,
  ) {
    const properties = [...carried].filter((name) => name.startsWith("."));
    this.#except = new Set(properties.map((name) => name.slice(1)));
    const builtIn = vm.runInContext(
      `Object.getOwnPropertyNames(globalThis)
        .filter((name) => name !== "globalThis")
        .map((name) => [name, globalThis[name]])`,
      context,
    ) as [name: string, value: unknown][];
    const names = builtIn.map(([name]) => name);
    const values = builtIn.map(([, value]) => value);
    this.#kept.push({ of: "globalThis", names, values: () => values });
    this.#kept.push({ of: "globalThis", names: ["globalThis"], values: () => [context] });
  }

  /** A module tells its bindings when it has been evaluated. */
  add(of: string, names: readonly string[], values: () => unknown[]): void {
    this.#kept.push({ of, names, values });
  }

  /** A module is about to be loaded: a change from before must not pass for its doing. */
  loading(): void {
    if (this.#snapshot === null) return;
    this.#found ??= findChange(this.#snapshot, this.#roots(), this.#except);
    this.#snapshot = null;
  }

  /** A call begins. */
  begin(): void {
    this.#snapshot ??= takeSnapshot(this.#roots(), this.#except);
  }

  /** Since the first call began, or since modules were loaded last. */
  changed(): Root | null {
    if (this.#found !== null || this.#snapshot === null) return this.#found;
    return findChange(this.#snapshot, this.#roots(), this.#except);
  }

  #roots(): Root[] {
    return this.#kept.flatMap(({ of, names, values }) => {
      const held = this.carried.has(of) ? [] : values();
      return held.flatMap((value, index) => {
        const name = names[index]!;
        return this.carried.has(`${of}:${name}`) ? [] : [{ of, name, value }];
      });
    });
  }
}

/**
 * Each function is checked after its first runs, and then after one of so many: state that it leaves stays there to be
 * found.
 */
const FIRST_RUNS = 4;
const ONE_OF = 16;

export function createSampling(): (instance: ComponentInstance, path: string) => boolean {
  const runs = new WeakMap<ComponentInstance, Map<string, number>>();
  return (instance, path) => {
    const counts = runs.get(instance) ?? new Map<string, number>();
    runs.set(instance, counts);
    const count = (counts.get(path) ?? 0) + 1;
    counts.set(path, count);
    return count <= FIRST_RUNS || count % ONE_OF === 0;
  };
}

/** The files in a bundled module, the app's own first. */
export function sourcesOf(module: ModuleSource | undefined): readonly string[] {
  if (module?.sourceMap === undefined) return [];
  const { sources = [] } = JSON.parse(module.sourceMap) as { sources?: readonly string[] };
  const installed = (source: string) => Number(source.includes("node_modules/"));
  return sources
    .map((source) => source.replace(/^(\.\.\/)+/, ""))
    .sort((a, b) => installed(a) - installed(b));
}

const MAX_SOURCES_NAMED = 5;

export function stateError({ module, name, path, sources }: StateChange): Error {
  const named = sources.slice(0, MAX_SOURCES_NAMED).join(", ");
  const more = sources.length > MAX_SOURCES_NAMED ? ", …" : "";
  const bundled = named === "" ? "" : ` (bundled from ${named}${more})`;
  const where =
    module === "globalThis" ? `The global "${name}"` : `"${name}" of module "${module}"${bundled}`;
  return new Error(
    `${where} was changed by a call (seen after "${path}"), and the next call in its context would find it so. ` +
      `The platform promises neither that such state is kept nor that it is fresh, so results must not depend on it. ` +
      `Keep it in the database; or, if it changes no result, allow it with \`carried: ["${module}:${name}"]\`, ` +
      `or as a property, wherever it is, with \`carried: [".property"]\`; ` +
      `or give every call a context of its own with \`contexts: "fresh"\`.`,
  );
}

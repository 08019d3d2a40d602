/**
 * Compiled code of modules, kept so that the second sandbox of a deployment parses nothing.
 *
 * V8's cache is taken before a module runs, as the module interface demands, so it holds the functions that V8 compiled
 * eagerly. It is bound to the source object: a new push is a new set of sources, and the old ones are collected.
 */
import vm from "node:vm";
import type { ModuleSource } from "./types.js";

const compiled = new WeakMap<ModuleSource, Buffer>();

/** Code that another thread has compiled. */
export function rememberCode(source: ModuleSource, code: Buffer): void {
  compiled.set(source, code);
}

export function codeOf(source: ModuleSource): Buffer | undefined {
  return compiled.get(source);
}

/**
 * Code out of V8's cache has lost the callback for modules that it imports while it runs: "callback was not specified".
 */
const IMPORTS_DYNAMICALLY = /\bimport\s*[(/]/;

/** In Node since 13.7, and missing from its types. */
type Cacheable = vm.SourceTextModule & { createCachedData(): Buffer };

export function compileModule(
  source: ModuleSource,
  options: vm.SourceTextModuleOptions,
): vm.SourceTextModule {
  if (IMPORTS_DYNAMICALLY.test(source.source)) {
    return new vm.SourceTextModule(source.source, options);
  }
  const cachedData = compiled.get(source);
  if (cachedData !== undefined) {
    try {
      return new vm.SourceTextModule(source.source, { ...options, cachedData });
    } catch {
      // V8 refuses a cache made under other flags; the source is the truth.
      compiled.delete(source);
    }
  }
  const module = new vm.SourceTextModule(source.source, options);
  compiled.set(source, (module as Cacheable).createCachedData());
  return module;
}

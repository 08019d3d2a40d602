/**
 * Imports pushed modules to read their exports. The sandbox does the evaluating; this file turns an error on the way
 * into a refusal that names the module.
 */
import { createSandbox } from "../functions/sandbox.js";
import type { ModuleSource } from "../functions/types.js";
import { describe, failure } from "./failures.js";

export interface Importable {
  /** `what` is the module's name in errors. */
  import(path: string, what: string): Promise<Record<string, unknown>>;
}

/** A sandbox of its own for each set of modules: one component's modules never see another's globals. */
export type Importer = (modules: Map<string, ModuleSource>) => Importable;

/** `env` holds the variables of `process.env` while modules are evaluated. */
export function sandboxImporter(env: ReadonlyMap<string, string>): Importer {
  return (modules) => {
    const sandbox = createSandbox(modules, { env: new Map(env) });
    return {
      async import(path, what) {
        try {
          return await sandbox.import(path);
        } catch (thrown) {
          throw failure(
            "InvalidModules",
            `Loading the pushed modules encountered the following error:\n` +
              `Failed to analyze ${what}: Uncaught ${describe(thrown)}`,
          );
        }
      },
    };
  };
}

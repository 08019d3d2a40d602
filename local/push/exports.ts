/**
 * The tree of a component's public functions, from which the CLI writes the component's `ComponentApi` type:
 * modules are branches, functions are leaves.
 */
import type { AnalyzedFunction } from "../functions/types.js";

export type ExportNode = ExportBranch | { type: "leaf"; leaf: string };

export interface ExportBranch {
  type: "branch";
  branch: [string, ExportNode][];
}

export function exportsOf(functions: ReadonlyMap<string, AnalyzedFunction[]>): ExportBranch {
  const root: ExportBranch = { type: "branch", branch: [] };
  for (const [path, analyzed] of functions) {
    const module = path.replace(/\.js$/, "");
    for (const { name, visibility } of analyzed) {
      if (visibility !== "public") continue;
      const branch = module.split("/").reduce(childBranch, root);
      branch.branch.push([name, { type: "leaf", leaf: `_reference/function/${module}:${name}` }]);
    }
  }
  return root;
}

function childBranch(parent: ExportBranch, name: string): ExportBranch {
  const existing = parent.branch.find(([key]) => key === name)?.[1];
  if (existing?.type === "branch") return existing;
  const created: ExportBranch = { type: "branch", branch: [] };
  parent.branch.push([name, created]);
  return created;
}

/**
 * Evaluates `convex.config.ts` of the app and of every component: each one's name, its children, its declared
 * environment variables.
 *
 * A definition imports its children's definitions as `./_componentDeps/<base64url of the definition path>`. Nothing
 * lies there: the import gets a stand-in that carries the child's path and default name. So children are evaluated
 * first.
 */
import type { ModuleSource } from "../functions/types.js";
import { failure } from "./failures.js";
import type { Importer } from "./importing.js";
import { parseDefinition } from "./parseDefinition.js";
import type { DefinitionSource } from "./request.js";

/** The exports of `defineApp` and `defineComponent` about themselves, with the path the CLI knows them by. */
export interface Definition {
  path: string;
  definitionType: { type: "app"; httpPrefix?: string } | { type: "childComponent"; name: string };
  childComponents: ChildComponent[];
  httpMounts: Record<string, string>;
  envVars: [name: string, declaration: EnvDeclaration][];
}

export interface ChildComponent {
  name: string;
  path: string;
  env: [name: string, binding: EnvBinding][] | null;
}

export interface EnvDeclaration {
  type: "value";
  /** A JSON validator, as text. */
  value: string;
  optional?: boolean;
}

export type EnvBinding = { type: "value"; value: string } | { type: "envVar"; name: string };

export async function evaluateDefinitions(
  sources: DefinitionSource[],
  importer: Importer,
): Promise<Map<string, Definition>> {
  const definitions = new Map<string, Definition>();
  for (const source of childrenFirst(sources)) {
    const children = source.dependencies.map((path) => definitions.get(path)!);
    definitions.set(source.path, await evaluateDefinition(source, children, importer));
  }
  return definitions;
}

async function evaluateDefinition(
  source: DefinitionSource,
  children: Definition[],
  importer: Importer,
): Promise<Definition> {
  const what = source.path === "" ? "the app's convex.config" : `component ${source.path}`;
  const modules = new Map([[source.definition.path, source.definition]]);
  for (const child of children) {
    const standIn = standInFor(child);
    modules.set(standIn.path, standIn);
  }
  const exports = await importer(modules).import(source.definition.path, what);
  const definition = exports["default"] as { export?: () => unknown } | undefined;
  if (typeof definition?.export !== "function") {
    throw failure(
      "InvalidDefinition",
      `${what} must export an app or a component by default: export default define${source.path === "" ? "App()" : 'Component("name")'}.`,
    );
  }
  let exported: unknown;
  try {
    // The object belongs to another context; through JSON it becomes plain data of this one.
    exported = JSON.parse(JSON.stringify(definition.export()));
  } catch (error) {
    throw failure("InvalidDefinition", `Failed to evaluate ${what}: ${String(error)}`);
  }
  return parseDefinition(exported, source, what);
}

function standInFor(child: Definition): ModuleSource {
  const name = child.definitionType.type === "childComponent" ? child.definitionType.name : "";
  const standIn = { componentDefinitionPath: child.path, defaultName: name };
  return {
    path: `_componentDeps/${Buffer.from(child.path).toString("base64url")}`,
    source: `export default { ...${JSON.stringify(standIn)}, export() {} };`,
    environment: "isolate",
  };
}

/** Dependencies before their dependents; a cycle has no such order and is refused. */
function childrenFirst(sources: DefinitionSource[]): DefinitionSource[] {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const ordered = new Set<DefinitionSource>();
  const visit = (path: string, ancestors: string[]): void => {
    const source = byPath.get(path);
    if (!source) {
      throw failure(
        "InvalidDefinition",
        `${ancestors.at(-1) || "The app"} imports the component ${path}, which the push does not contain. ` +
          `Defined are: ${[...byPath.keys()].filter(Boolean).join(", ") || "none"}.`,
      );
    }
    if (ancestors.includes(path)) {
      throw failure(
        "InvalidDefinition",
        `Components cannot contain each other: ${[...ancestors, path].join(" → ")}.`,
      );
    }
    if (ordered.has(source)) return;
    for (const dependency of source.dependencies) visit(dependency, [...ancestors, path]);
    ordered.add(source);
  };
  for (const source of sources) visit(source.path, []);
  return [...ordered];
}

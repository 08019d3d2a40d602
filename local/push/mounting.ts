/**
 * Lays evaluated definitions out as the tree of mounted instances: one namespace each, children by name, environment
 * bound. The same definition may be mounted many times.
 */
import type {
  ComponentDefinition,
  ComponentInstance,
  Deployment,
  HttpRoute,
} from "../functions/types.js";
import type { Definition } from "./definitions.js";
import {
  appEnvironment,
  componentEnvironment,
  type BuiltinVariables,
  type EnvironmentVariables,
} from "./environment.js";
import { failure } from "./failures.js";

/** A definition with its modules analyzed: its `convex.config.ts`, and the input of the engine and the runner. */
export interface EvaluatedDefinition {
  definition: Definition;
  component: ComponentDefinition;
}

export type EvaluatedDefinitions = ReadonlyMap<string, EvaluatedDefinition>;

/** A checked component in the CLI's form: the tree as it prints and stores it. */
export interface CheckedComponent {
  definitionPath: string;
  componentPath: string;
  args: Record<string, never>;
  childComponents: Record<string, CheckedComponent>;
  httpRoutes: { httpModuleRoutes: readonly HttpRoute[] | null; mounts: string[] };
  exports: Record<string, never>;
}

export function mount(
  definitions: EvaluatedDefinitions,
  variables: EnvironmentVariables,
  builtin: BuiltinVariables,
): Deployment {
  const instances = new Map<string, ComponentInstance>();
  /** `served`: the path before its routes; `null` when they are served nowhere. */
  const place = (
    path: string,
    namespace: string,
    env: Map<string, string>,
    served: string | null,
  ): void => {
    const { definition, component } = definitions.get(path)!;
    const children = new Map<string, string>();
    instances.set(namespace, { namespace, definition: component, children, env });
    for (const child of definition.childComponents) {
      const childDefinition = definitions.get(child.path)!.definition;
      checkChildName(child.name, path, children);
      const childNamespace = namespace === "" ? child.name : `${namespace}/${child.name}`;
      children.set(child.name, childNamespace);
      const prefix = prefixOf(child.name, definition, served);
      place(
        child.path,
        childNamespace,
        componentEnvironment(childDefinition, child.env ?? [], env, builtin, prefix),
        prefix,
      );
    }
  };
  place("", "", appEnvironment(definitions.get("")!.definition, variables, builtin), "");
  return { instances };
}

/** Mounts within mounts add up. */
function prefixOf(child: string, parent: Definition, served: string | null): string | null {
  const mount = Object.entries(parent.httpMounts).find(
    ([, reference]) => reference === `_reference/childComponent/${child}`,
  );
  if (mount === undefined || served === null) return null;
  return served.replace(/\/$/, "") + mount[0];
}

function checkChildName(name: string, parent: string, taken: ReadonlyMap<string, string>): void {
  if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(name)) {
    throw failure(
      "InvalidDefinition",
      `"${name}" cannot be a component's name: it must begin with a letter and have only letters, digits and underscores.`,
    );
  }
  if (taken.has(name)) {
    throw failure(
      "InvalidDefinition",
      `${parent || "The app"} uses two components named "${name}". Name one of them apart: app.use(component, { name: "…" }).`,
    );
  }
}

export function checkedTree(
  definitions: EvaluatedDefinitions,
  path = "",
  namespace = "",
): CheckedComponent {
  const { definition, component } = definitions.get(path)!;
  return {
    definitionPath: path,
    componentPath: namespace,
    args: {},
    childComponents: Object.fromEntries(
      definition.childComponents.map((child) => [
        child.name,
        checkedTree(
          definitions,
          child.path,
          namespace === "" ? child.name : `${namespace}/${child.name}`,
        ),
      ]),
    ),
    httpRoutes: {
      httpModuleRoutes: component.http?.routes ?? null,
      mounts: Object.keys(definition.httpMounts),
    },
    exports: {},
  };
}

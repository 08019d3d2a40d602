/** The exports of a `convex.config.ts`, checked for shape: later code can rely on it. */
import type { ChildComponent, Definition, EnvBinding, EnvDeclaration } from "./definitions.js";
import { failure } from "./failures.js";
import type { DefinitionSource } from "./request.js";
import { isObject, isPairs, isText } from "./shapes.js";

/** `what` is the definition's name in errors. */
export function parseDefinition(
  exported: unknown,
  { path, dependencies }: Pick<DefinitionSource, "path" | "dependencies">,
  what: string,
): Definition {
  const fields = isObject(exported) ? exported : {};
  const { httpPrefix = null, childComponents, httpMounts, envVars = [] } = fields;
  const wrong = (field: string, value: unknown): Error =>
    failure(
      "InvalidDefinition",
      `${what} exports ${field} ${JSON.stringify(value) ?? "undefined"}, which defineApp() and defineComponent() never make.`,
    );
  const definitionType = parseType(fields["definitionType"], path, what, wrong);
  if (httpPrefix !== null && !isText(httpPrefix)) throw wrong("httpPrefix", httpPrefix);
  if (!Array.isArray(childComponents) || !childComponents.every(isChild)) {
    throw wrong("childComponents", childComponents);
  }
  for (const child of childComponents) {
    // Imports have no cycle; so uses have none.
    if (!dependencies.includes(child.path)) {
      throw failure(
        "InvalidDefinition",
        `${what} uses the component ${child.path}, which it does not import.`,
      );
    }
  }
  if (!isObject(httpMounts) || !Object.values(httpMounts).every(isText)) {
    throw wrong("httpMounts", httpMounts);
  }
  if (!isPairs(envVars, isDeclaration)) throw wrong("envVars", envVars);
  return {
    path,
    definitionType:
      definitionType.type === "app" && httpPrefix !== null
        ? { ...definitionType, httpPrefix }
        : definitionType,
    childComponents: childComponents.map(({ name, path: child, env }) => ({
      name,
      path: child,
      env,
    })),
    httpMounts: httpMounts as Record<string, string>,
    envVars,
  };
}

function parseType(
  value: unknown,
  path: string,
  what: string,
  wrong: (field: string, value: unknown) => Error,
): Definition["definitionType"] {
  const { type, name } = isObject(value) ? value : {};
  const expected = path === "" ? "app" : "childComponent";
  if (type !== expected) {
    throw failure(
      "InvalidDefinition",
      path === ""
        ? `${what} must be made by defineApp(), but it is a component's. The file in the app's folder defines the app.`
        : `${what} must be made by defineComponent(), but it is an app's. Only the app's own convex.config may call defineApp().`,
    );
  }
  if (expected === "app") return { type: "app" };
  if (!isText(name)) throw wrong("definitionType", value);
  return { type: "childComponent", name };
}

function isChild(value: unknown): value is ChildComponent {
  if (!isObject(value)) return false;
  const { name, path, env } = value;
  return isText(name) && isText(path) && (env === null || isPairs(env, isBinding));
}

function isBinding(value: unknown): value is EnvBinding {
  if (!isObject(value)) return false;
  return isText(value["type"] === "value" ? value["value"] : value["name"]);
}

function isDeclaration(value: unknown): value is EnvDeclaration {
  return isObject(value) && value["type"] === "value" && isText(value["value"]);
}

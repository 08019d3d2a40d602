/**
 * Environment variables: the deployment's own, and each mounted component's view of them.
 *
 * The app sees all of them. A component sees the variables that it declares and its parent binds, nothing else.
 */
import { PLATFORM_LIMITS } from "../limits.js";
import type { EnvDeclaration, Definition } from "./definitions.js";
import { failure } from "./failures.js";

export type EnvironmentVariables = ReadonlyMap<string, string>;

/** `CONVEX_CLOUD_URL` and `CONVEX_SITE_URL`, which every app and component has. */
export type BuiltinVariables = EnvironmentVariables;

export interface EnvironmentChange {
  name: string;
  /** `null` removes the variable. */
  value: string | null;
}

/** common/src/types/environment_variables.rs: MAX_NAME_LENGTH, in characters, and MAX_VALUE_LENGTH, in bytes. */
const MAX_NAME_LENGTH = 256;
const MAX_VALUE_BYTES = 8192;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export function changeEnvironment(
  current: EnvironmentVariables,
  changes: EnvironmentChange[],
  builtin: BuiltinVariables,
): Map<string, string> {
  const changed = new Map(current);
  for (const { name, value } of changes) {
    if (value === null) {
      changed.delete(name);
      continue;
    }
    checkVariable(name, value, builtin);
    changed.set(name, value);
  }
  const { environmentVariables: most } = PLATFORM_LIMITS;
  if (changed.size > most && changed.size > current.size) {
    throw failure(
      "EnvVarLimitMet",
      `The environment variable limit (${most}) has been met. Remove some, or put several values into one.`,
    );
  }
  return changed;
}

function checkVariable(name: string, value: string, builtin: BuiltinVariables): void {
  if (!NAME.test(name) || name.length > MAX_NAME_LENGTH) {
    throw failure(
      "InvalidEnvironmentVariable",
      `"${name}" cannot be an environment variable's name. ` +
        `It must begin with a letter or underscore and have at most ${MAX_NAME_LENGTH} letters, digits and underscores.`,
    );
  }
  if (builtin.has(name)) {
    throw failure(
      "InvalidEnvironmentVariable",
      `Environment variable ${name} is built in and cannot be set.`,
    );
  }
  if (Buffer.byteLength(value) > MAX_VALUE_BYTES) {
    throw failure(
      "InvalidEnvironmentVariable",
      `Environment variable ${name} has ${Buffer.byteLength(value)} bytes; at most ${MAX_VALUE_BYTES} are allowed.`,
    );
  }
}

/** The variables of `process.env` in the app. Throws when a declared variable that is not optional has no value. */
export function appEnvironment(
  definition: Definition,
  variables: EnvironmentVariables,
  builtin: BuiltinVariables,
): Map<string, string> {
  requireDeclared(definition.envVars, variables, "convex.config.ts");
  return new Map([...variables, ...builtin]);
}

/** The variables of `process.env` in a mounted component: literals, and references to variables of its parent. */
export function componentEnvironment(
  definition: Definition,
  bindings: [string, { type: "value"; value: string } | { type: "envVar"; name: string }][],
  parent: EnvironmentVariables,
  builtin: BuiltinVariables,
  httpPrefix: string | null = null,
): Map<string, string> {
  const declared = new Map(definition.envVars);
  const bound = new Map<string, string>();
  for (const [name, binding] of bindings) {
    if (!declared.has(name)) {
      throw failure(
        "InvalidDefinition",
        `Component ${definition.path} is given the environment variable ${name}, which it does not declare. ` +
          `It declares: ${[...declared.keys()].join(", ") || "none"}.`,
      );
    }
    const value = binding.type === "value" ? binding.value : parent.get(binding.name);
    if (value !== undefined) bound.set(name, value);
  }
  requireDeclared(definition.envVars, bound, `component ${definition.path}`);
  return new Map([...bound, ...builtin, ...prefixedSite(builtin, httpPrefix)]);
}

/** A component with routes below a prefix finds the prefix in the site's URL: that is where its routes are. */
function prefixedSite(builtin: BuiltinVariables, prefix: string | null): [string, string][] {
  const site = builtin.get("CONVEX_SITE_URL");
  if (site === undefined || prefix === null) return [];
  return [["CONVEX_SITE_URL", site.replace(/\/+$/, "") + prefix.replace(/\/+$/, "")]];
}

function requireDeclared(
  declarations: [string, EnvDeclaration][],
  variables: EnvironmentVariables,
  where: string,
): void {
  const missing = declarations
    .filter(([name, declaration]) => !declaration.optional && !variables.has(name))
    .map(([name]) => name);
  if (missing.length === 0) return;
  // The CLI picks the names out of this sentence, up to the full stop.
  throw failure(
    "MissingEnvironmentVariables",
    `Environment variables declared as required in ${where} are not set: ${missing.join(", ")}.`,
  );
}

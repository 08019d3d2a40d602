/**
 * The deployment, as texts that outlive the process: definitions with their modules and analysis, the functions folder,
 * environment variables. A start mounts them as the push did; nothing is evaluated again.
 */
import { types } from "node:util";
import type { EnvironmentVariables } from "./environment.js";
import type { EvaluatedDefinition, EvaluatedDefinitions } from "./mounting.js";

export interface Kept {
  definitions: EvaluatedDefinitions;
  /** Where the app's functions lie, for the CLI. */
  functions: string;
  variables: EnvironmentVariables;
}

type Settings = ReadonlyMap<string, string>;

const FUNCTIONS = "deployment/functions";
const VARIABLES = "deployment/variables";
const DEFINITION = "deployment/definition/";

/** The changes that make `kept` the stored state; `null` removes. */
export function keeping(
  { definitions, functions, variables }: Kept,
  known: Settings,
): Map<string, string | null> {
  const settings = new Map<string, string | null>();
  for (const name of known.keys()) {
    if (name.startsWith(DEFINITION)) settings.set(name, null);
  }
  settings.set(FUNCTIONS, toText(functions));
  settings.set(VARIABLES, toText(variables));
  for (const [path, definition] of definitions) settings.set(DEFINITION + path, toText(definition));
  return settings;
}

export function kept(settings: Settings): Kept {
  const definitions = new Map<string, EvaluatedDefinition>();
  for (const [name, text] of settings) {
    if (!name.startsWith(DEFINITION)) continue;
    definitions.set(name.slice(DEFINITION.length), fromText(text) as EvaluatedDefinition);
  }
  return {
    definitions,
    functions: fromText(settings.get(FUNCTIONS) ?? '"convex/"') as string,
    variables: fromText(settings.get(VARIABLES) ?? toText(new Map())) as EnvironmentVariables,
  };
}

/** JSON, in which a Map is an array of pairs under this name. */
const MAP = "$map";

export function toText(value: unknown): string {
  return JSON.stringify(value, (name, inner: unknown) => {
    if (types.isMap(inner)) return { [MAP]: [...inner] };
    if (isPlain(inner)) return inner;
    throw new Error(`"${name}" is part of the deployment and cannot be kept as text.`);
  });
}

export function fromText(text: string): unknown {
  return JSON.parse(text, (_name, inner: unknown) => {
    if (typeof inner !== "object" || inner === null || !(MAP in inner)) return inner;
    return new Map(inner[MAP] as [unknown, unknown][]);
  });
}

/** Whether JSON gives the value back as it was. */
function isPlain(value: unknown): boolean {
  if (value === undefined || value === null || Array.isArray(value)) return true;
  if (typeof value !== "object") return typeof value !== "function" && typeof value !== "bigint";
  // By its place in the chain: an object that was evaluated in a context has that context's prototypes.
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

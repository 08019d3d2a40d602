/**
 * The official CLI's push request, checked for shape. This file knows the wire; it evaluates nothing.
 *
 * The shapes are `cli/lib/deployApi`'s, of the `convex` package. Fields that the CLI adds in later versions are
 * ignored.
 */
import { PlatformError } from "../functions/errors.js";
import type { ModuleSource } from "../functions/types.js";
import { failure } from "./failures.js";

export interface ModuleHash {
  path: string;
  environment: ModuleSource["environment"];
  sha256: string;
}

/** A component's (or the app's) `convex.config.ts`, schema and modules as the CLI bundled them. */
export interface DefinitionSource {
  /** Where the component lies, relative to the app's functions: `""` is the app itself. */
  path: string;
  definition: ModuleSource;
  /** The definition paths that its `convex.config.ts` imports. */
  dependencies: string[];
  schema: ModuleSource | null;
  modules: ModuleSource[];
  /** Modules that are the same as in the last push and were therefore not sent again. Only the app has any. */
  unchanged: ModuleHash[];
}

export interface PushRequest {
  dryRun: boolean;
  /** The folder that holds the app's functions, echoed to the CLI when it asks for the deployment. */
  functions: string;
  app: DefinitionSource;
  components: DefinitionSource[];
  /** The CLI's version, which it wants echoed in the analysis. */
  serverVersion: string;
}

type Fields = Record<string, unknown>;

export function parsePushRequest(body: unknown): PushRequest {
  const request = fields(body, "push request");
  const app = fields(request["appDefinition"], "appDefinition");
  refuseExternalPackages(request["nodeDependencies"]);
  return {
    dryRun: request["dryRun"] === true,
    functions: text(request["functions"], "functions"),
    app: {
      path: "",
      definition: parseModule(app["definition"], "appDefinition.definition"),
      dependencies: texts(app["dependencies"], "appDefinition.dependencies"),
      schema: parseOptionalModule(app["schema"], "appDefinition.schema"),
      modules: parseModules(app["changedModules"], "appDefinition.changedModules"),
      unchanged: list(app["unchangedModuleHashes"], "appDefinition.unchangedModuleHashes").map(
        parseHash,
      ),
    },
    components: list(request["componentDefinitions"], "componentDefinitions").map(parseComponent),
    serverVersion: text(app["udfServerVersion"], "appDefinition.udfServerVersion"),
  };
}

/** The platform installs them for its Node processes. */
function refuseExternalPackages(dependencies: unknown): void {
  const names = list(dependencies ?? [], "nodeDependencies").map((one) =>
    text(fields(one, "nodeDependencies")["name"], "nodeDependencies.name"),
  );
  if (names.length === 0) return;
  throw failure(
    "UnsupportedByLocalBackend",
    `The local backend installs no external packages (${names.join(", ")}). Take node.externalPackages out of convex.json ` +
      `to have them bundled.`,
  );
}

function parseComponent(value: unknown): DefinitionSource {
  const component = fields(value, "componentDefinitions");
  const path = text(component["definitionPath"], "componentDefinitions.definitionPath");
  return {
    path,
    definition: parseModule(component["definition"], `${path}.definition`),
    dependencies: texts(component["dependencies"], `${path}.dependencies`),
    schema: parseOptionalModule(component["schema"], `${path}.schema`),
    modules: parseModules(component["functions"], `${path}.functions`),
    unchanged: [],
  };
}

function parseModules(value: unknown, what: string): ModuleSource[] {
  return list(value, what).map((module) => parseModule(module, what));
}

function parseOptionalModule(value: unknown, what: string): ModuleSource | null {
  return value === null || value === undefined ? null : parseModule(value, what);
}

function parseModule(value: unknown, what: string): ModuleSource {
  const module = fields(value, what);
  const sourceMap = module["sourceMap"];
  return {
    path: text(module["path"], `${what}.path`),
    source: text(module["source"], `${what}.source`),
    environment: module["environment"] === "node" ? "node" : "isolate",
    ...(typeof sourceMap === "string" ? { sourceMap } : {}),
  };
}

function parseHash(value: unknown): ModuleHash {
  const hash = fields(value, "unchangedModuleHashes");
  return {
    path: text(hash["path"], "unchangedModuleHashes.path"),
    environment: hash["environment"] === "node" ? "node" : "isolate",
    sha256: text(hash["sha256"], "unchangedModuleHashes.sha256"),
  };
}

function fields(value: unknown, what: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw malformed(what, "an object", value);
  }
  return value as Fields;
}

function list(value: unknown, what: string): unknown[] {
  if (!Array.isArray(value)) throw malformed(what, "an array", value);
  return value;
}

function texts(value: unknown, what: string): string[] {
  return list(value, what).map((item) => text(item, `each of ${what}`));
}

function text(value: unknown, what: string): string {
  if (typeof value !== "string") throw malformed(what, "a string", value);
  return value;
}

function malformed(what: string, expected: string, value: unknown): PlatformError {
  const got = value === null ? "null" : Array.isArray(value) ? "an array" : typeof value;
  return new PlatformError(
    400,
    "InvalidPushRequest",
    `${what} must be ${expected}, got ${got}. The local backend understands the CLI of convex 1.43 and later.`,
  );
}

/** Finds the functions that pushed modules export: type, visibility, validators. */
import type { ValidatorJSON } from "convex/values";
import type { AnalyzedFunction, HttpRoute, ModuleSource, UdfType } from "../functions/types.js";
import { describe, failure } from "./failures.js";
import { HTTP_MODULE, httpRoutesOf } from "./httpRoutes.js";
import { requireIdentifiers } from "./identifiers.js";
import type { Importer } from "./importing.js";

/** The properties by which `query`, `mutation`, `action` and their internal kin mark their results. */
interface FunctionMarks {
  isQuery?: boolean;
  isMutation?: boolean;
  isAction?: boolean;
  isPublic?: boolean;
  isInternal?: boolean;
  exportArgs?: () => string;
  exportReturns?: () => string;
}

export interface ModulesAnalysis {
  functions: Map<string, AnalyzedFunction[]>;
  /** Of `http.ts`; `null` without one. */
  httpRoutes: HttpRoute[] | null;
}

export async function analyzeModules(
  modules: Map<string, ModuleSource>,
  component: string,
  importer: Importer,
): Promise<ModulesAnalysis> {
  let httpRoutes: HttpRoute[] | null = null;
  const functions = new Map<string, AnalyzedFunction[]>();
  const importable = importer(modules);
  for (const path of modules.keys()) {
    if (!mayHoldFunctions(path)) continue;
    const what = component === "" ? path : `${path} of component ${component}`;
    const exports = await importable.import(path, what);
    if (path === HTTP_MODULE) httpRoutes = httpRoutesOf(exports, what);
    const found = functionsOf(exports, what);
    if (modules.get(path)!.environment === "node") requireActions(found, what);
    functions.set(path, found);
  }
  return { functions, httpRoutes };
}

/** Chunks that several modules share hold no functions, and `auth.config` is configuration. */
function mayHoldFunctions(path: string): boolean {
  return !path.startsWith("_deps/") && path !== "auth.config.js";
}

function functionsOf(exports: Record<string, unknown>, what: string): AnalyzedFunction[] {
  const functions: AnalyzedFunction[] = [];
  for (const [name, value] of Object.entries(exports)) {
    if (typeof value !== "function") continue;
    const marks = value as FunctionMarks;
    const udfType = typeOf(marks);
    if (udfType === null) continue;
    try {
      functions.push({
        name,
        udfType,
        visibility: marks.isPublic ? "public" : "internal",
        args: checkArgs(marks.exportArgs?.() ?? ANY_VALIDATOR),
        returns: checkReturns(marks.exportReturns?.() ?? NO_VALIDATOR),
      });
    } catch (thrown) {
      throw failure(
        "InvalidModules",
        `Failed to analyze ${what}: the validators of "${name}" cannot be read. ${describe(thrown)}`,
      );
    }
  }
  return functions.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** node_executor/src/executor.rs:474-482. */
function requireActions(functions: readonly AnalyzedFunction[], what: string): void {
  const other = functions.find(({ udfType }) => udfType !== "Action");
  if (other === undefined) return;
  throw failure(
    "InvalidModules",
    `\`${other.name}\` defined in \`${what}\` is a ${other.udfType} function. Only actions can be defined in Node.js. ` +
      `Move it into a module without "use node".`,
  );
}

/** model/src/modules/function_validators.rs:113; fields: common/src/schemas/json.rs:813. */
function checkArgs(json: string): string {
  const validator = JSON.parse(json) as ValidatorJSON;
  if (validator.type !== "object" && validator.type !== "any") {
    throw new Error(
      `Args validator must be an object or any, and is ${validator.type}. Put it into a field of an object.`,
    );
  }
  requireIdentifiers(validator);
  return json;
}

function checkReturns(json: string): string {
  const validator = JSON.parse(json) as ValidatorJSON | null;
  if (validator !== null) requireIdentifiers(validator);
  return json;
}

const ANY_VALIDATOR = JSON.stringify({ type: "any" });
const NO_VALIDATOR = "null";

function typeOf(marks: FunctionMarks): UdfType | null {
  if (marks.isQuery) return "Query";
  if (marks.isMutation) return "Mutation";
  if (marks.isAction) return "Action";
  return null;
}

/**
 * Turns a push request into evaluated definitions (for the backend) and the analysis of them (for the CLI, which
 * generates code from it). Nothing here is visible outside: evaluating is free of effects.
 */
import type { AnalyzedFunction, HttpRoute, ModuleSource } from "../functions/types.js";
import { analyzeModules } from "./analysis.js";
import { evaluateCrons } from "./crons.js";
import { evaluateDefinitions, type Definition } from "./definitions.js";
import { exportsOf, type ExportBranch } from "./exports.js";
import { completeModules } from "./hashes.js";
import { HTTP_MODULE, httpOf } from "./httpRoutes.js";
import type { Importer } from "./importing.js";
import type { EvaluatedDefinition, EvaluatedDefinitions } from "./mounting.js";
import type { DefinitionSource, PushRequest } from "./request.js";
import { evaluateSchema, toTables, type AnalyzedSchema } from "./schema.js";

/** The CLI's `evaluatedComponentDefinition`. */
export interface DefinitionAnalysis {
  definition: Definition & { exports: ExportBranch };
  schema: AnalyzedSchema | null;
  functions: Record<string, ModuleAnalysis>;
  udfConfig: { serverVersion: string; importPhaseRngSeed: null; importPhaseUnixTimestamp: null };
}

interface ModuleAnalysis {
  functions: {
    name: string;
    pos: null;
    udfType: AnalyzedFunction["udfType"];
    visibility: { kind: AnalyzedFunction["visibility"] };
    args: string;
    returns: string;
  }[];
  httpRoutes: { route: HttpRoute; pos: null }[] | null;
  cronSpecs: null;
  sourceMapped: null;
}

export interface Evaluation {
  definitions: EvaluatedDefinitions;
  analysis: Record<string, DefinitionAnalysis>;
}

/** `deployed` holds the app's modules of the last push, for modules that were left out as unchanged. */
export async function evaluate(
  request: PushRequest,
  importer: Importer,
  deployed: ReadonlyMap<string, ModuleSource>,
): Promise<Evaluation> {
  const sources = [request.app, ...request.components];
  const definitions = await evaluateDefinitions(sources, importer);
  const evaluated = new Map<string, EvaluatedDefinition>();
  const analysis: Record<string, DefinitionAnalysis> = {};
  for (const source of sources) {
    const definition = definitions.get(source.path)!;
    const { component, schema } = await evaluateComponent(source, definition, importer, deployed);
    evaluated.set(source.path, { definition, component });
    analysis[source.path] = {
      definition: { ...definition, exports: exportsOf(component.functions) },
      schema,
      functions: describeModules(component.functions, component.http?.routes ?? null),
      udfConfig: {
        serverVersion: request.serverVersion,
        importPhaseRngSeed: null,
        importPhaseUnixTimestamp: null,
      },
    };
  }
  return { definitions: evaluated, analysis };
}

async function evaluateComponent(
  source: DefinitionSource,
  definition: Definition,
  importer: Importer,
  deployed: ReadonlyMap<string, ModuleSource>,
): Promise<{ component: EvaluatedDefinition["component"]; schema: AnalyzedSchema | null }> {
  const modules = completeModules(source.modules, source.unchanged, deployed);
  const schema = source.schema ? await evaluateSchema(source.schema, source.path, importer) : null;
  const { functions, httpRoutes } = await analyzeModules(modules, source.path, importer);
  const http = httpOf(definition, httpRoutes);
  const crons = await evaluateCrons(modules, functions, source.path, importer);
  const component = {
    path: source.path,
    modules,
    functions,
    tables: toTables(schema),
    schemaValidation: schema?.schemaValidation ?? false,
    crons,
    ...(http === undefined ? {} : { http }),
  };
  return { component, schema };
}

function describeModules(
  functions: ReadonlyMap<string, AnalyzedFunction[]>,
  httpRoutes: readonly HttpRoute[] | null,
): Record<string, ModuleAnalysis> {
  const modules: Record<string, ModuleAnalysis> = {};
  for (const [path, analyzed] of functions) {
    modules[path] = {
      functions: analyzed.map(({ name, udfType, visibility, args, returns }) => ({
        name,
        pos: null,
        udfType,
        visibility: { kind: visibility },
        args,
        returns,
      })),
      httpRoutes:
        path === HTTP_MODULE ? (httpRoutes ?? []).map((route) => ({ route, pos: null })) : null,
      cronSpecs: null,
      sourceMapped: null,
    };
  }
  return modules;
}

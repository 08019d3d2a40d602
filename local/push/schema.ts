/**
 * Evaluates a pushed `schema.ts` into the CLI's form (for `_generated/dataModel`) and into the engine's (tables,
 * indexes, validators).
 */
import type { ValidatorJSON } from "convex/values";
import type { TableSpec } from "../engine/types.js";
import type { ModuleSource } from "../functions/types.js";
import { describe, failure } from "./failures.js";
import { requireIdentifiers } from "./identifiers.js";
import type { Importer } from "./importing.js";
import { isObject, isText, isTexts } from "./shapes.js";

export interface AnalyzedIndex {
  indexDescriptor: string;
  fields: string[];
}

/** One table as `defineSchema(…).export()` describes it. */
export interface AnalyzedTable {
  tableName: string;
  indexes: AnalyzedIndex[];
  searchIndexes: unknown[];
  vectorIndexes: unknown[];
  documentType: unknown;
}

export interface AnalyzedSchema {
  tables: AnalyzedTable[];
  schemaValidation: boolean;
}

export async function evaluateSchema(
  module: ModuleSource,
  component: string,
  importer: Importer,
): Promise<AnalyzedSchema> {
  const what = component === "" ? "schema.ts" : `schema.ts of component ${component}`;
  const exports = await importer(new Map([[module.path, module]])).import(module.path, what);
  const schema = exports["default"] as { export?: () => string } | undefined;
  if (typeof schema?.export !== "function") {
    throw failure(
      "InvalidSchema",
      `${what} must export a schema by default: export default defineSchema({ … }).`,
    );
  }
  let analyzed: unknown;
  try {
    analyzed = JSON.parse(schema.export());
  } catch (error) {
    throw failure("InvalidSchema", `Failed to evaluate ${what}: ${describe(error)}`);
  }
  if (!isSchema(analyzed)) {
    throw failure(
      "InvalidSchema",
      `${what} exports ${JSON.stringify(analyzed)}, which defineSchema() never makes.`,
    );
  }
  for (const table of analyzed.tables) checkTable(table, what);
  return analyzed;
}

function isSchema(value: unknown): value is AnalyzedSchema {
  if (!isObject(value)) return false;
  const { tables, schemaValidation } = value;
  return Array.isArray(tables) && tables.every(isTable) && typeof schemaValidation === "boolean";
}

function isTable(value: unknown): value is AnalyzedTable {
  if (!isObject(value)) return false;
  const { tableName, indexes, searchIndexes, vectorIndexes } = value;
  return (
    isText(tableName) &&
    [indexes, searchIndexes, vectorIndexes].every(Array.isArray) &&
    (indexes as unknown[]).every(
      (index) => isObject(index) && isText(index["indexDescriptor"]) && isTexts(index["fields"]),
    )
  );
}

function checkTable(table: AnalyzedTable, what: string): void {
  try {
    requireIdentifiers(table.documentType as ValidatorJSON);
  } catch (error) {
    throw failure("InvalidSchema", `In ${what}: table "${table.tableName}": ${describe(error)}`);
  }
  if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(table.tableName) || table.tableName.length > 64) {
    throw failure(
      "InvalidSchema",
      `In ${what}: "${table.tableName}" cannot be a table's name. ` +
        `It must begin with a letter and have at most 64 letters, digits and underscores.`,
    );
  }
  const names = new Set(["by_id", "by_creation_time"]);
  for (const index of table.indexes) {
    const where = `In ${what}: index "${index.indexDescriptor}" of table "${table.tableName}"`;
    if (names.has(index.indexDescriptor)) {
      throw failure("InvalidSchema", `${where} exists twice, or is the name of a built-in index.`);
    }
    names.add(index.indexDescriptor);
    if (index.fields.length === 0 || index.fields.length > 16) {
      throw failure(
        "InvalidSchema",
        `${where} must have 1 to 16 fields, but has ${index.fields.length}.`,
      );
    }
    if (index.fields.includes("_creationTime")) {
      throw failure(
        "InvalidSchema",
        `${where} names _creationTime, which every index ends with of itself. Leave it out.`,
      );
    }
    if (new Set(index.fields).size !== index.fields.length) {
      throw failure("InvalidSchema", `${where} names a field twice: ${index.fields.join(", ")}.`);
    }
  }
}

/** The engine's form: search, vector and staged indexes are left out, and a query that asks for one fails there. */
export function toTables(schema: AnalyzedSchema | null): TableSpec[] {
  return (schema?.tables ?? []).map((table) => ({
    name: table.tableName,
    indexes: table.indexes.map((index) => ({ name: index.indexDescriptor, fields: index.fields })),
    ...(schema?.schemaValidation ? { documentType: table.documentType } : {}),
  }));
}

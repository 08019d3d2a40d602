/** Checks the schemas of all mounted instances of a push. */
import type { Database, SchemaChange } from "../engine/types.js";
import type { Deployment } from "../functions/types.js";
import { describe } from "./failures.js";

/** The answers of `wait_for_schema`. Tables lie in memory, so "inProgress" never occurs. */
export type SchemaStatus =
  | { type: "complete" }
  | { type: "raceDetected" }
  | { type: "failed"; error: string; componentPath: string; tableName: string | null };

export async function checkSchemas(
  database: Database,
  deployment: Deployment,
): Promise<SchemaStatus> {
  for (const { namespace, definition } of deployment.instances.values()) {
    if (!definition.schemaValidation) continue;
    try {
      await database.checkSchema(namespace, definition.tables);
    } catch (error) {
      return {
        type: "failed",
        error: describe(error),
        componentPath: namespace,
        tableName: null,
      };
    }
  }
  return { type: "complete" };
}

export function schemasOf(deployment: Deployment): SchemaChange[] {
  return [...deployment.instances.values()].map(({ namespace, definition }) => ({
    namespace,
    tables: definition.tables,
    enforce: definition.schemaValidation,
  }));
}

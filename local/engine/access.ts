/** Which tables an operation may name, and what an app is told when it names another. */
import { isSystemTable } from "./table.js";
import type { Access } from "./types.js";

/** A table's name: what the platform takes for one. */
const TABLE_NAME = /^_?[a-zA-Z][a-zA-Z0-9_]{0,63}$/;

export function requireTableName(name: string): void {
  if (TABLE_NAME.test(name)) return;
  throw new Error(
    `"${name}" is not a table name: letters, digits and "_", at most 64, beginning with a letter. ` +
      `Rename the table.`,
  );
}

export function requireAccess(table: string, access: Access, use: "read" | "write"): void {
  if (isSystemTable(table) === (access.system ?? false)) return;
  if (access.system) throw new Error("User tables cannot be accessed with db.system.");
  throw new Error(
    use === "read"
      ? "System tables can only be accessed with db.system."
      : `System tables (prefixed with \`_\`) are read-only: "${table}" cannot be written.`,
  );
}

/** For calls that name the table as well as the id. */
export function requireTable(operation: string, wanted: string | undefined, found: string): void {
  if (wanted === undefined || wanted === found) return;
  throw new Error(
    `Invalid argument \`id\` for \`${operation}\`: expected to be an Id<"${wanted}">, got Id<"${found}"> instead.`,
  );
}

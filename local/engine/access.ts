/** The tables that an operation may name, and the app's error when it names another. */
import type { Limits } from "../limits.js";
import { isSystemTable } from "./table.js";
import type { Access } from "./types.js";

/** The platform's rule for the name of a table or an index. */
const IDENTIFIER = /^_?[a-zA-Z][a-zA-Z0-9_]*$/;

export function requireTableName(name: string, limits: Limits): void {
  requireIdentifier("table", name, limits);
}

export function requireIdentifier(
  what: "table" | "index",
  name: string,
  { identifierLength }: Limits,
): void {
  if (IDENTIFIER.test(name) && name.length <= identifierLength) return;
  const article = what === "index" ? "an" : "a";
  throw new Error(
    `"${name}" is not ${article} ${what} name: letters, digits and "_", at most ${identifierLength}, beginning with ` +
      `a letter. Rename the ${what}.`,
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

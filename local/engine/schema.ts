/**
 * A push's effect on a namespace's tables: creates missing ones, fills and drops indexes, sets validators, and before
 * that checks the existing rows against them.
 */
import type { ValidatorJSON } from "convex/values";
import type { Limits } from "../limits.js";
import { requireIdentifier, requireTableName } from "./access.js";
import { ownFields } from "./documents.js";
import type { Snapshot } from "./snapshot.js";
import { isBuiltIn, isSystemTable, withIndexes, type Table } from "./table.js";
import type { Doc, IndexSpec, Namespace, TableSpec } from "./types.js";
import { checkValue } from "./validators.js";

/** The tables that such a schema changes, as they will be. Empty when it changes nothing. */
export function changedTables(
  snapshot: Snapshot,
  namespace: Namespace,
  specs: readonly TableSpec[],
  enforce: boolean,
  limits: Limits,
): Table[] {
  requireSpecs(specs, limits);
  let next = snapshot;
  const changed: Table[] = [];
  for (const spec of [...specs, ...undeclared(snapshot, namespace, specs)]) {
    const known = snapshot.table(namespace, spec.name);
    const table = known ?? next.createTable(namespace, spec.name);
    const documentType = enforce ? (spec.documentType as ValidatorJSON | undefined) : undefined;
    const wanted = withDocumentType(withIndexes(table, spec.indexes), documentType);
    if (known !== undefined && !differs(known, wanted)) continue;
    next = next.withTable(wanted);
    if (known === undefined) requireRoom(next, limits);
    changed.push(wanted);
  }
  return changed;
}

/** The first row that does not match, as the message for the push; `null` when all do. */
export function* mismatches(
  snapshot: Snapshot,
  namespace: Namespace,
  specs: readonly TableSpec[],
): Generator<string | null> {
  const tableOf = (id: string) => snapshot.tableOfId(namespace, id)?.name ?? null;
  for (const spec of specs) {
    const documentType = spec.documentType as ValidatorJSON | undefined;
    const rows = snapshot.table(namespace, spec.name)?.indexes.get("by_id")?.tree;
    if (documentType === undefined || rows === undefined) continue;
    for (const doc of rows.values()) {
      const mismatch = checkValue(documentType, ownFields(doc), "", tableOf);
      yield mismatch && describe(spec.name, doc, mismatch);
    }
  }
}

function describe(table: string, doc: Doc, mismatch: string): string {
  return `Document with ID "${doc._id}" in table "${table}" does not match the schema: ${mismatch}`;
}

/** Tables that the schema no longer names keep their rows and lose their declared indexes and their validator. */
function undeclared(
  snapshot: Snapshot,
  namespace: Namespace,
  specs: readonly TableSpec[],
): TableSpec[] {
  const names = new Set(specs.map((spec) => spec.name));
  const kinds = new Set(specs.length > 0 ? specs.map((spec) => isSystemTable(spec.name)) : [false]);
  return [...snapshot.tables(namespace)]
    .filter(({ name }) => !names.has(name) && kinds.has(isSystemTable(name)))
    .map(({ name }) => ({ name, indexes: [] }));
}

function withDocumentType(table: Table, documentType: ValidatorJSON | undefined): Table {
  const { documentType: _old, ...rest } = table;
  return documentType === undefined ? rest : { ...rest, documentType };
}

function differs(known: Table, wanted: Table): boolean {
  const indexes = [...wanted.indexes];
  return (
    known.indexes.size !== indexes.length ||
    indexes.some(([name, index]) => known.indexes.get(name) !== index) ||
    JSON.stringify(known.documentType) !== JSON.stringify(wanted.documentType)
  );
}

/** `snapshot` has the table that was just made. */
export function requireRoom(snapshot: Snapshot, { tables }: Limits): void {
  if (snapshot.userTables <= tables) return;
  throw new Error(
    `TooManyTables: Number of tables cannot exceed ${tables}. Keep rows of several kinds in one table.`,
  );
}

function requireSpecs(specs: readonly TableSpec[], limits: Limits): void {
  for (const { name, indexes } of specs) {
    requireTableName(name, limits);
    if (indexes.length > limits.indexesPerTable) {
      throw new Error(
        `TooManyIndexes: Table "${name}" cannot have more than ${limits.indexesPerTable} indexes, ` +
          `and has ${indexes.length}. ` +
          `One index serves every query on a prefix of its fields.`,
      );
    }
    const names = new Set<string>();
    for (const index of indexes) {
      if (names.has(index.name))
        throw new Error(`Table "${name}" has two indexes "${index.name}".`);
      names.add(index.name);
      requireIndex(name, index, limits);
    }
  }
}

function requireIndex(table: string, { name, fields }: IndexSpec, limits: Limits): void {
  requireIdentifier("index", name, limits);
  if (isBuiltIn(name)) {
    throw new Error(
      `Index ${table}.${name} has a name that every table's own index has. Rename it.`,
    );
  }
  if (fields.length === 0 || fields.length > limits.indexFields) {
    throw new Error(
      `Index ${table}.${name} has ${fields.length} fields; an index has 1 to ${limits.indexFields}. ` +
        `Declare it with more, or fewer, fields.`,
    );
  }
  if (new Set([...fields, "_creationTime", "_id"]).size < fields.length + 2) {
    throw new Error(
      `Index ${table}.${name} names a field twice: [${fields.join(", ")}]. ` +
        `"_creationTime" and "_id" are at the end of every index and are not declared.`,
    );
  }
}

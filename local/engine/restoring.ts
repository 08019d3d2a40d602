/** From a store's contents to the snapshot that they were: tables with their rows, indexes built anew. */
import { Snapshot } from "./snapshot.js";
import type { Store, StoredTable } from "./store.js";
import { keyOf, newTable, withIndexes, type Table } from "./table.js";
import type { Doc, Ts } from "./types.js";
import type { ValidatorJSON } from "convex/values";

export interface Restored {
  /** `null` when the store is new. */
  snapshot: Snapshot | null;
  settings: ReadonlyMap<string, string>;
}

export async function restore(store: Store): Promise<Restored> {
  const state = await store.load();
  const stored = state?.tables ?? [];
  const tables = new Map(stored.map((table) => [keyOfTable(table), emptyTable(table)]));
  for await (const { table, docs } of store.rows()) {
    const known = tables.get(keyOfTable(table));
    if (known === undefined) throw new Error(`Rows of a table that is not there: ${table.name}.`);
    fill(known, docs);
  }
  if (state === null) return { snapshot: null, settings: new Map() };
  const filled = stored.map((table) => finished(tables.get(keyOfTable(table))!, table));
  return { snapshot: snapshotOf(state.ts, filled), settings: state.settings };
}

/** As a store keeps it. */
export function storedTable({
  namespace,
  name,
  number,
  indexes,
  documentType,
}: Table): StoredTable {
  return {
    namespace,
    name,
    number,
    indexes: [...indexes.values()]
      .filter((index) => index.declared)
      // `_creationTime` and `_id` end every index and are not declared.
      .map((index) => ({ name: index.name, fields: index.columns.slice(0, -2) })),
    ...(documentType === undefined ? {} : { documentType }),
  };
}

function keyOfTable({ namespace, name }: StoredTable): string {
  return `${namespace}\0${name}`;
}

function emptyTable({ namespace, name, number }: StoredTable): Table {
  return newTable(namespace, name, number);
}

/** These trees have no other holder yet, so they are written in place. */
function fill(table: Table, docs: readonly Doc[]): void {
  for (const index of table.indexes.values()) {
    for (const doc of docs) index.tree.set(keyOf(index, doc), doc);
  }
}

function finished(table: Table, { indexes, documentType }: StoredTable): Table {
  const indexed = withIndexes(table, indexes);
  if (documentType === undefined) return indexed;
  return { ...indexed, documentType: documentType as ValidatorJSON };
}

function snapshotOf(ts: Ts, tables: readonly Table[]): Snapshot {
  return Snapshot.empty(ts).withTables(tables);
}

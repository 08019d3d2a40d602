/**
 * One table at one moment: its indexes, each a tree of the same documents. Immutable: a write makes another table that
 * shares all but the touched paths of the trees.
 */
import type { Value, ValidatorJSON } from "convex/values";
import { encodeValue, encodeValues, type Key } from "./keys.js";
import { indexId, type IndexId } from "./readSet.js";
import { emptyTree, type Tree } from "./tree.js";
import { NO_TOMBSTONES, withDeaths, withoutExpired, type Tombstones } from "./tombstones.js";
import type { Doc, IndexSpec, Namespace, Ts } from "./types.js";

export interface Index {
  readonly id: IndexId;
  readonly name: string;
  /** Everything a key holds, `_creationTime` and `_id` included. */
  readonly columns: readonly string[];
  /** An index that the schema declares: its keys' bytes are paid for. */
  readonly declared: boolean;
  readonly tree: Tree;
  readonly tombstones: Tombstones;
}

export interface Table {
  readonly namespace: Namespace;
  readonly name: string;
  readonly number: number;
  readonly indexes: ReadonlyMap<string, Index>;
  /** The validator of its documents; absent when nothing is enforced. */
  readonly documentType?: ValidatorJSON;
}

/** A transaction's change of one document: `before` as its snapshot had it, `after` as it will be. */
export interface Write {
  readonly namespace: Namespace;
  readonly table: string;
  readonly id: string;
  readonly before: Doc | null;
  readonly after: Doc | null;
}

/** The indexes that every table has. */
const BUILT_IN: readonly IndexSpec[] = [
  { name: "by_id", fields: [] },
  { name: "by_creation_time", fields: [] },
];

export function isBuiltIn(index: string): boolean {
  return BUILT_IN.some((spec) => spec.name === index);
}

export function isSystemTable(name: string): boolean {
  return name.startsWith("_");
}

export function newTable(namespace: Namespace, name: string, number: number): Table {
  const empty: Table = { namespace, name, number, indexes: new Map() };
  return withIndexes(empty, []);
}

/** Exactly the built-in indexes and these: kept where they are the same, else filled from the table's rows. */
export function withIndexes(table: Table, specs: readonly IndexSpec[]): Table {
  const indexes = new Map<string, Index>();
  for (const spec of [...BUILT_IN, ...specs]) {
    const columns = columnsOf(spec);
    const known = table.indexes.get(spec.name);
    indexes.set(
      spec.name,
      known !== undefined && known.columns.join() === columns.join()
        ? known
        : filledIndex(table, spec.name, columns),
    );
  }
  return { ...table, indexes };
}

function filledIndex(table: Table, name: string, columns: string[]): Index {
  const declared = !isBuiltIn(name);
  const id = indexId(table.namespace, table.name, name);
  const tombstones = NO_TOMBSTONES;
  const index: Index = { id, name, columns, declared, tree: emptyTree(), tombstones };
  for (const doc of table.indexes.get("by_id")?.tree.values() ?? []) {
    index.tree.set(keyOf(index, doc), doc);
  }
  return index;
}

/** Ties in an index's own fields are broken by `_creationTime`, and ties in that by `_id`. */
function columnsOf(spec: IndexSpec): string[] {
  if (spec.name === "by_id") return ["_id"];
  return [...spec.fields, "_creationTime", "_id"];
}

export function keyOf(index: Index, doc: Doc): Key {
  let key = "";
  for (const column of index.columns) key += encodeValue(fieldOf(doc, column));
  return key;
}

/** The value at `a.b.c`; `undefined` where there is none. Paths lead through objects, not into arrays. */
export function fieldOf(doc: Doc, path: string): Value | undefined {
  if (!path.includes(".")) return Object.hasOwn(doc, path) ? doc[path] : undefined;
  let value: Value | undefined = doc;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    if (!Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, Value | undefined>)[name];
  }
  return value;
}

export function documentIn(table: Table, id: string): Doc | null {
  return table.indexes.get("by_id")?.tree.get(encodeValues([id])) ?? null;
}

/**
 * The table after these writes. Trees are cloned once for all of them. Only committed writes, at `ts`, leave
 * tombstones: other transactions do not pass the entries that a transaction has moved on its own.
 */
export function withWrites(table: Table, writes: readonly Write[], ts?: Ts): Table {
  const indexes = new Map<string, Index>();
  for (const [name, index] of table.indexes) {
    const tree = index.tree.clone();
    const died: Key[] = [];
    const revived: Key[] = [];
    for (const { before, after } of writes) {
      const oldKey = before && keyOf(index, before);
      const newKey = after && keyOf(index, after);
      if (after !== null) tree.set(newKey!, after);
      if (oldKey === newKey) continue;
      if (newKey !== null) revived.push(newKey);
      if (oldKey === null) continue;
      tree.delete(oldKey);
      died.push(oldKey);
    }
    const tombstones =
      ts === undefined ? index.tombstones : withDeaths(index.tombstones, died, revived, ts);
    indexes.set(name, { ...index, tree, tombstones });
  }
  return { ...table, indexes };
}

/** The same table when none of its tombstones has expired. */
export function withoutExpiredTombstones(table: Table, now: Ts): Table {
  const kept = [...table.indexes.values()].map((index) => withoutExpired(index.tombstones, now));
  if ([...table.indexes.values()].every(({ tombstones }, i) => tombstones === kept[i]))
    return table;
  const indexes = [...table.indexes].map(([name, index], i): [string, Index] => [
    name,
    { ...index, tombstones: kept[i]! },
  ]);
  return { ...table, indexes: new Map(indexes) };
}

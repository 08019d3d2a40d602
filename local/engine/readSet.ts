/**
 * The reads that a transaction depends on: for each index, the intervals of its keys that were read.
 *
 * Intervals are recorded, not rows: a row that is inserted later into an interval changes the transaction's view, as
 * much as one that is removed from it.
 */
import { IntervalSet } from "./intervals.js";
import { END_OF_KEYS, FIRST_KEY, type Key } from "./keys.js";
import type { Namespace, ReadSet } from "./types.js";

/** One index of one table of one namespace. */
export type IndexId = string & { readonly __indexId: undefined };

export function indexId(namespace: Namespace, table: string, index: string): IndexId {
  return `${namespace}:${table}.${index}` as IndexId;
}

/**
 * Stands for the list of tables, their indexes and their validators. A transaction that resolves a table's name depends
 * on all of it, so the first insert into an undeclared table, and a push that changes a schema, conflict with every
 * transaction.
 */
export const CATALOG = indexId("", "_tables", "by_id");
export const CATALOG_KEY: Key = "";

export class IntervalReadSet implements ReadSet {
  readonly #indexes = new Map<IndexId, { set: IntervalSet; counted: boolean }>();
  #intervals = 0;

  get intervals(): number {
    return this.#intervals;
  }

  /** `counted` is false for system tables: they conflict as all tables do, and are free. */
  add(index: IndexId, start: Key, end: Key, counted: boolean): void {
    let entry = this.#indexes.get(index);
    if (entry === undefined) {
      entry = { set: new IntervalSet(), counted };
      this.#indexes.set(index, entry);
    }
    const before = entry.set.size;
    entry.set.add(start, end);
    if (entry.counted) this.#intervals += entry.set.size - before;
  }

  addCatalog(): void {
    if (!this.#indexes.has(CATALOG)) this.add(CATALOG, FIRST_KEY, END_OF_KEYS, false);
  }

  has(index: IndexId, key: Key): boolean {
    return this.#indexes.get(index)?.set.has(key) ?? false;
  }

  indexes(): Iterable<IndexId> {
    return this.#indexes.keys();
  }

  union(other: ReadSet): IntervalReadSet {
    const both = new IntervalReadSet();
    for (const source of [this, other as IntervalReadSet]) {
      for (const [index, { set, counted }] of source.#indexes) {
        for (const [start, end] of set) both.add(index, start, end, counted);
      }
    }
    return both;
  }
}

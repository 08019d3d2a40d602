/**
 * The one kind of ordered map that the engine stores anything in: a persistent B+ tree by key.
 *
 * `clone()` costs nothing until one side is written, so a snapshot is a set of trees without further writes.
 */
import type BTree from "sorted-btree";
import * as imported from "sorted-btree";
import type { Key } from "./keys.js";
import type { Doc } from "./types.js";

export type OrderedMap<V> = BTree<Key, V>;
/** Rows of an index. */
export type Tree = OrderedMap<Doc>;

// The package is CommonJS. Node's loader gives its exports as `default`, bundlers give the class itself.
const outer: unknown = imported.default;
const BTreeClass = (
  typeof outer === "function" ? outer : (outer as { default: unknown }).default
) as typeof BTree;

/** Keys are binary strings: their order is that of their code units. */
function compareKeys(a: Key, b: Key): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function emptyTree<V = Doc>(): OrderedMap<V> {
  return new BTreeClass<Key, V>(undefined, compareKeys);
}

/**
 * The one kind of ordered map that the engine stores rows in: a persistent B+ tree from keys to documents.
 *
 * `clone()` costs nothing until one side is written, so a snapshot is a set of trees that nobody writes any more.
 */
import type BTree from "sorted-btree";
import * as imported from "sorted-btree";
import type { Key } from "./keys.js";
import type { Doc } from "./types.js";

export type Tree = BTree<Key, Doc>;

// The package is CommonJS. Node's loader gives its exports as `default`, bundlers give the class itself.
const outer: unknown = imported.default;
const BTreeClass = (
  typeof outer === "function" ? outer : (outer as { default: unknown }).default
) as typeof BTree;

/** Keys are binary strings: their order is that of their code units. */
function compareKeys(a: Key, b: Key): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function emptyTree(): Tree {
  return new BTreeClass<Key, Doc>(undefined, compareKeys);
}

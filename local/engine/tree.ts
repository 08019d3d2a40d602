/**
 * The one kind of ordered map that the engine stores anything in: a persistent B+ tree by key.
 *
 * `clone()` costs nothing, and afterwards each side copies the nodes on the path to what it writes, once. Which nodes a
 * tree may change in place is said by the node: it names its owner. So a write touches its path and none of the
 * neighbours, and costs the same however many snapshots share the rest; trees that mark what they share must visit every
 * child of every node they copy, which in a large table are so many misses of the processor's cache.
 */
import type { Key } from "./keys.js";
import type { Doc } from "./types.js";

/** Keys in a leaf, children of a node above. 16 and 64 were measured too, and make no difference that can be told from noise. */
export const MAX_IN_NODE = 32;
/** A node with fewer is joined with a neighbour, if there is room to spare: so it is not split again at once. */
const MIN_IN_NODE = MAX_IN_NODE / 4;
const MAX_JOINED = (MAX_IN_NODE * 3) / 4;

/** Who may change a node in place: a tree, between two clones. */
type Owner = object;

interface Keyed {
  readonly owner: Owner;
  keys: Key[];
  /** Most writes change no key: a copied node keeps the list that it was copied with until one does. */
  ownsKeys: boolean;
}

interface Leaf<V> extends Keyed {
  readonly kind: "leaf";
  readonly values: V[];
}

/** One key less than children: all keys of `children[i]` are less than `keys[i]`, and those of the next are not. */
interface Branch<V> extends Keyed {
  readonly kind: "branch";
  readonly children: Node<V>[];
}

type Node<V> = Leaf<V> | Branch<V>;

/** The right half of a node that was split, and the bound between the two. */
interface Split<V> {
  bound: Key;
  right: Node<V>;
}

/** Told of an entry; says whether to go on. */
export type Visit<V> = (key: Key, value: V) => boolean;

export class OrderedMap<V> {
  #owner: Owner = {};
  #root: Node<V> = leafOf(this.#owner, [], []);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Another map of the same entries. Neither sees what is written to the other from now on. */
  clone(): OrderedMap<V> {
    this.#owner = {};
    const copy = new OrderedMap<V>();
    copy.#root = this.#root;
    copy.#size = this.#size;
    return copy;
  }

  get(key: Key): V | undefined {
    let node = this.#root;
    while (node.kind === "branch") node = node.children[countUpTo(node.keys, key)]!;
    const at = countBelow(node.keys, key);
    return node.keys[at] === key ? node.values[at] : undefined;
  }

  has(key: Key): boolean {
    return this.get(key) !== undefined;
  }

  set(key: Key, value: V): void {
    this.#root = this.#own(this.#root);
    const split = this.#setIn(this.#root, key, value);
    if (split === null) return;
    const { bound, right } = split;
    this.#root = branchOf(this.#owner, [bound], [this.#root, right]);
  }

  /** Whether it was there. */
  delete(key: Key): boolean {
    if (!this.has(key)) return false;
    this.#root = this.#own(this.#root);
    this.#deleteIn(this.#root, key);
    while (this.#root.kind === "branch" && this.#root.children.length === 1) {
      this.#root = this.#root.children[0]!;
    }
    this.#size--;
    return true;
  }

  /** Visits `[start, end)` in order, or in reverse order, until told to stop. */
  scan(start: Key, end: Key, order: "asc" | "desc", visit: Visit<V>): void {
    if (order === "asc") ascend(this.#root, start, end, visit);
    else descend(this.#root, start, end, visit);
  }

  values(): Generator<V, void, void> {
    return valuesOf(this.#root);
  }

  #own<N extends Node<V>>(node: N): N {
    if (node.owner === this.#owner) return node;
    const { owner, keys } = { owner: this.#owner, keys: node.keys };
    const copy: Node<V> =
      node.kind === "leaf"
        ? { kind: "leaf", owner, keys, ownsKeys: false, values: node.values.slice() }
        : { kind: "branch", owner, keys, ownsKeys: false, children: node.children.slice() };
    return copy as N;
  }

  /** `node` is this tree's own. */
  #setIn(node: Node<V>, key: Key, value: V): Split<V> | null {
    if (node.kind === "leaf") {
      const at = countBelow(node.keys, key);
      if (node.keys[at] === key) {
        node.values[at] = value;
        return null;
      }
      this.#size++;
      insertAt(ownKeys(node), at, key);
      insertAt(node.values, at, value);
    } else {
      const at = countUpTo(node.keys, key);
      const child = this.#own(node.children[at]!);
      node.children[at] = child;
      const split = this.#setIn(child, key, value);
      if (split === null) return null;
      insertAt(ownKeys(node), at, split.bound);
      insertAt(node.children, at + 1, split.right);
    }
    return this.#splitIfFull(node, key);
  }

  #splitIfFull(node: Node<V>, key: Key): Split<V> | null {
    if (sizeOf(node) <= MAX_IN_NODE) return null;
    const { owner } = node;
    const keys = ownKeys(node);
    // Rows come mostly in the order of a key: at the end, what is on the left stays full.
    const isAtEnd = keys.at(-1)! <= key;
    const at = isAtEnd ? MAX_IN_NODE : (MAX_IN_NODE + 1) >> 1;
    if (node.kind === "leaf") {
      const right = leafOf(owner, keys.splice(at), node.values.splice(at));
      return { bound: right.keys[0]!, right };
    }
    const [bound, ...rest] = keys.splice(at - 1);
    return { bound: bound!, right: branchOf(owner, rest, node.children.splice(at)) };
  }

  /** `node` is this tree's own, and the key is in it. */
  #deleteIn(node: Node<V>, key: Key): void {
    if (node.kind === "leaf") {
      const at = countBelow(node.keys, key);
      removeAt(ownKeys(node), at);
      removeAt(node.values, at);
      return;
    }
    const at = countUpTo(node.keys, key);
    const child = this.#own(node.children[at]!);
    node.children[at] = child;
    this.#deleteIn(child, key);
    if (sizeOf(child) === 0) {
      removeAt(node.children, at);
      if (node.keys.length > 0) removeAt(ownKeys(node), Math.max(0, at - 1));
    } else if (sizeOf(child) < MIN_IN_NODE) {
      if (!this.#join(node, at)) this.#join(node, at - 1);
    }
  }

  /** Moves what the child after this one holds into it, if both are there and together small. */
  #join(parent: Branch<V>, at: number): boolean {
    const [left, right] = [parent.children[at], parent.children[at + 1]];
    if (left === undefined || right === undefined) return false;
    if (sizeOf(left) + sizeOf(right) > MAX_JOINED) return false;
    const joined = this.#own(left);
    if (joined.kind === "leaf" && right.kind === "leaf") {
      ownKeys(joined).push(...right.keys);
      joined.values.push(...right.values);
    } else if (joined.kind === "branch" && right.kind === "branch") {
      ownKeys(joined).push(parent.keys[at]!, ...right.keys);
      joined.children.push(...right.children);
    }
    parent.children[at] = joined;
    removeAt(parent.children, at + 1);
    removeAt(ownKeys(parent), at);
    return true;
  }
}

/** Rows of an index. */
export type Tree = OrderedMap<Doc>;

export function emptyTree<V = Doc>(): OrderedMap<V> {
  return new OrderedMap<V>();
}

function leafOf<V>(owner: Owner, keys: Key[], values: V[]): Leaf<V> {
  return { kind: "leaf", owner, keys, ownsKeys: true, values };
}

function branchOf<V>(owner: Owner, keys: Key[], children: Node<V>[]): Branch<V> {
  return { kind: "branch", owner, keys, ownsKeys: true, children };
}

/** The keys of a node that may be changed, to be changed. */
function ownKeys(node: Keyed): Key[] {
  if (!node.ownsKeys) {
    node.keys = node.keys.slice();
    node.ownsKeys = true;
  }
  return node.keys;
}

function sizeOf<V>(node: Node<V>): number {
  return node.kind === "leaf" ? node.keys.length : node.children.length;
}

/** Whether to go on. */
function ascend<V>(node: Node<V>, start: Key, end: Key, visit: Visit<V>): boolean {
  const { keys } = node;
  if (node.kind === "leaf") {
    for (let i = countBelow(keys, start); i < keys.length; i++) {
      if (keys[i]! >= end || !visit(keys[i]!, node.values[i]!)) return false;
    }
    return true;
  }
  const first = countUpTo(keys, start);
  for (let i = first; i < node.children.length; i++) {
    if (i > first && keys[i - 1]! >= end) return false;
    if (!ascend(node.children[i]!, start, end, visit)) return false;
  }
  return true;
}

function descend<V>(node: Node<V>, start: Key, end: Key, visit: Visit<V>): boolean {
  const { keys } = node;
  if (node.kind === "leaf") {
    for (let i = countBelow(keys, end) - 1; i >= 0; i--) {
      if (keys[i]! < start || !visit(keys[i]!, node.values[i]!)) return false;
    }
    return true;
  }
  const first = countBelow(keys, end);
  for (let i = first; i >= 0; i--) {
    if (i < first && keys[i]! <= start) return false;
    if (!descend(node.children[i]!, start, end, visit)) return false;
  }
  return true;
}

function* valuesOf<V>(node: Node<V>): Generator<V, void, void> {
  if (node.kind === "leaf") yield* node.values;
  else for (const child of node.children) yield* valuesOf(child);
}

/** How many of these sorted keys are less. Keys are binary strings: their order is that of their code units. */
function countBelow(keys: readonly Key[], key: Key): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** How many are less or the same. */
function countUpTo(keys: readonly Key[], key: Key): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle]! <= key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** `splice` would make an array of what it removes, each time, and `copyWithin` is slow. */
function insertAt<T>(list: T[], at: number, item: T): void {
  list.push(item);
  for (let i = list.length - 1; i > at; i--) list[i] = list[i - 1]!;
  list[at] = item;
}

function removeAt<T>(list: T[], at: number): void {
  for (let i = at + 1; i < list.length; i++) list[i - 1] = list[i]!;
  list.pop();
}

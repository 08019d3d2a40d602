/**
 * The entries of an index that are dead but still in a scan's way: old keys of documents that were deleted, or moved.
 *
 * The platform's store keeps them for a while, so that transactions that began earlier can still read the past, and
 * every later scan walks over them. Here no scan walks over them: they are remembered so that a scan can say how many
 * it would have passed. A row's own key never comes back for another document, but it may come back for the same one.
 *
 * Immutable, as the trees are: each snapshot sees the entries that were dead when it was taken. Kept in one ordered map
 * for each minute, so that forgetting is dropping a map.
 */
import type { Key } from "./keys.js";
import { INDEX_RETENTION_MS, MAX_TOMBSTONES, TOMBSTONE_GENERATION_MS } from "./limits.js";
import type { KeyInterval } from "./range.js";
import { emptyTree, type OrderedMap } from "./tree.js";
import type { Ts } from "./types.js";

const NS_PER_MS = 1_000_000n;
const GENERATION_NS = BigInt(TOMBSTONE_GENERATION_MS) * NS_PER_MS;
const RETENTION_NS = BigInt(INDEX_RETENTION_MS) * NS_PER_MS;

interface Generation {
  readonly since: Ts;
  /** Key to the commit that killed it. */
  readonly dead: OrderedMap<Ts>;
}

/** Oldest first. */
export type Tombstones = readonly Generation[];

export const NO_TOMBSTONES: Tombstones = [];

/** The moment before which nothing dead is left. */
export function retainedSince(now: Ts): Ts {
  return now - RETENTION_NS;
}

/** A commit's change of the dead entries of an index. */
export function withDeaths(
  tombstones: Tombstones,
  died: readonly Key[],
  revived: readonly Key[],
  ts: Ts,
): Tombstones {
  const kept = revived.some((key) => tombstones.some(({ dead }) => dead.has(key)))
    ? tombstones.map((generation) => without(generation, revived))
    : tombstones;
  if (died.length === 0) return kept;
  const last = kept.at(-1);
  const open = last !== undefined && ts < last.since + GENERATION_NS;
  const dead = open ? last.dead.clone() : emptyTree<Ts>();
  for (const key of died) dead.set(key, ts);
  const next = [...(open ? kept.slice(0, -1) : kept), { since: open ? last.since : ts, dead }];
  return bounded(withoutExpired(next, ts));
}

/** The same list when nothing in it has expired. */
export function withoutExpired(tombstones: Tombstones, now: Ts): Tombstones {
  const horizon = retainedSince(now) - GENERATION_NS;
  const first = tombstones.findIndex(({ since }) => since >= horizon);
  if (first === 0 || tombstones.length === 0) return tombstones;
  return first === -1 ? NO_TOMBSTONES : tombstones.slice(first);
}

/** How many a scan of `[start, end)` passes that died at `since` or later. */
export function countDead(tombstones: Tombstones, { start, end }: KeyInterval, since: Ts): number {
  let count = 0;
  for (const { dead } of tombstones) {
    dead.forRange(start, end, false, (_, diedAt) => void (diedAt >= since && count++));
  }
  return count;
}

function without(generation: Generation, keys: readonly Key[]): Generation {
  const { since, dead } = generation;
  const there = keys.filter((key) => dead.has(key));
  if (there.length === 0) return generation;
  const left = dead.clone();
  for (const key of there) left.delete(key);
  return { since, dead: left };
}

function bounded(tombstones: Tombstones): Tombstones {
  let count = 0;
  for (let i = tombstones.length - 1; i >= 0; i--) {
    count += tombstones[i]!.dead.size;
    if (count > MAX_TOMBSTONES && i < tombstones.length - 1) return tombstones.slice(i + 1);
  }
  return tombstones;
}

/**
 * A set of keys as disjoint intervals `[start, end)`, kept in order and merged as they are added.
 *
 * A stream adds its interval anew after each row it yields, a little longer each time: adding is a binary search and
 * replaces the intervals that it swallows, so a read set is as long as its gaps are many.
 */
import type { Key } from "./keys.js";

export class IntervalSet {
  readonly #starts: Key[] = [];
  readonly #ends: Key[] = [];

  /** Number of intervals after merging: the platform's limit is on these. */
  get size(): number {
    return this.#starts.length;
  }

  /** Adds `[start, end)`. Empty intervals add nothing; intervals that touch become one. */
  add(start: Key, end: Key): void {
    if (start >= end) return;
    const first = firstIndex(this.#ends, (known) => known >= start);
    const beyond = firstIndex(this.#starts, (known) => known > end);
    const merged = beyond - first;
    const lowest = this.#starts[first];
    const highest = this.#ends[beyond - 1];
    const mergedStart = merged > 0 && lowest! < start ? lowest! : start;
    const mergedEnd = merged > 0 && highest! > end ? highest! : end;
    this.#starts.splice(first, merged, mergedStart);
    this.#ends.splice(first, merged, mergedEnd);
  }

  has(key: Key): boolean {
    const end = this.#ends[firstIndex(this.#starts, (known) => known > key) - 1];
    return end !== undefined && key < end;
  }

  *[Symbol.iterator](): Generator<readonly [Key, Key]> {
    for (const [i, start] of this.#starts.entries()) yield [start, this.#ends[i]!];
  }
}

/** The first place in a sorted array where `holds` is true; its length if nowhere. */
function firstIndex(sorted: readonly Key[], holds: (key: Key) => boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(sorted[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** With which cursor a claimer looks next. Pure. */
import type { Id } from "./_generated/dataModel.js";
import { type Basket } from "./basket.js";
import { type Scan } from "./candidates.js";
import {
  boundOf,
  compareKeys,
  encodeCursor,
  type Bound,
  type Key,
  type PrivateCursor,
} from "./cursors.js";

/** The cursor with which to look next: raised where rows were dealt with, and as it was everywhere else. */
export function nextCursor(before: PrivateCursor, scans: readonly Scan[], basket: Basket): string {
  const next = before.queues;
  for (const scan of scans) {
    const raised = deadBelow(scan, basket.dealtWith);
    if (raised === null) continue;
    const epoch = basket.queues.get(scan.queue)!.epoch;
    let known = next.get(scan.queue);
    if (known?.epoch !== epoch) {
      known = { epoch, bounds: [] };
      next.set(scan.queue, known);
    }
    const key = higher(boundOf([known], epoch, scan.order, scan.shard), raised);
    const bound: Bound = { order: scan.order, shard: scan.shard, ...key };
    known.bounds = [...known.bounds.filter((b) => !isSamePlace(b, bound)), bound];
  }
  return encodeCursor(before);
}

/**
 * Up to where all rows of a scan are dealt with, or not for this claimer at all; it never passes one that was seen and not
 * taken, nor the key of the last one: others that began in the same instant may have it too, and not have been seen.
 */
function deadBelow(scan: Scan, dealtWith: ReadonlySet<Id<"jobs">>): Key | null {
  let below: Key | null = null;
  for (const row of scan.rows) {
    if (!row.isPassed && !dealtWith.has(row.id)) return below;
    below = row.key;
  }
  return scan.end ?? below;
}

function higher(a: Key, b: Key): Key {
  return compareKeys(a, b) >= 0 ? a : b;
}

function isSamePlace(a: Bound, b: Bound): boolean {
  return a.order === b.order && a.shard === b.shard;
}

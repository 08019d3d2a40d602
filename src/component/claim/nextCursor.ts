/** The cursor from which a claimer's next scan starts. Pure. */
import type { Id } from "../_generated/dataModel.js";
import { type LeaseBatch } from "./leaseBatch.js";
import { type Scan } from "./choose.js";
import {
  boundOf,
  boundsToRaise,
  compareKeys,
  encodeCursor,
  type Bound,
  type Key,
  type PrivateCursor,
} from "../rows/cursors.js";

/**
 * The next scan's cursor: raised where rows were dealt with, for a budget also where they are too dear for it, and
 * unchanged in every other place.
 */
export function nextCursor(
  before: PrivateCursor,
  scans: readonly Scan[],
  batch: LeaseBatch,
): string {
  const { maxCost } = batch.offer;
  for (const scan of scans) {
    const dead = scan.isBehindDear ? null : deadBelow(scan, batch.dealtWith, false);
    if (dead !== null) raise(before, scan, dead, batch);
    const passed = maxCost === undefined ? null : deadBelow(scan, batch.dealtWith, true);
    if (passed === null || (dead !== null && compareKeys(passed, dead) <= 0)) continue;
    raise(before, scan, passed, batch, maxCost);
  }
  return encodeCursor(before);
}

function raise(
  cursor: PrivateCursor,
  { queue, order, shard }: Scan,
  key: Key,
  { queues }: LeaseBatch,
  maxCost?: number,
): void {
  const { epoch } = queues.get(queue)!;
  const known = boundsToRaise(cursor, queue, epoch, maxCost);
  const raised = higher(boundOf([known], epoch, order, shard), key);
  const bound: Bound = { order, shard, ...raised };
  known.bounds = [...known.bounds.filter((b) => !isSamePlace(b, bound)), bound];
}

/**
 * Up to where all rows of a scan are dealt with, or not for this claimer at all, or `passesDear` it; it never passes
 * one that was seen and not taken, nor the key of the last one: other rows that began in the same instant may have it
 * too, and not have been seen.
 */
function deadBelow(
  scan: Scan,
  dealtWith: ReadonlySet<Id<"jobs">>,
  passesDear: boolean,
): Key | null {
  let below: Key | null = null;
  for (const row of scan.rows) {
    const isLeft = !row.isPassed && !dealtWith.has(row.id);
    if (isLeft && !(passesDear && row.isDear)) return below;
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

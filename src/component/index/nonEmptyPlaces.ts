/**
 * The places with waiting jobs, in a queue of more places than may be read one by one: the index is skipped through,
 * from each place in which there is a row to the next. It costs a range or two for each such place, however many there
 * could be, and comes by them in the order of priorities.
 *
 * Reads `jobs` without cursors, so that dead index entries are walked over: only for a queue with more places than the
 * budget has ranges.
 */
import { ORDER_PAUSED } from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { DatabaseReader } from "../_generated/server.js";
import { bytesOf } from "../rows/rowBytes.js";
import type { ScanContext, Place } from "./scan.js";

export interface Filled {
  /** Whether there is a row in this place. */
  has: (place: Pick<Place, "order" | "shard">) => boolean;
  /** Whether all places were covered, or only the first in the order of the index. */
  isWhole: boolean;
}

/** Of these places of one queue the ones with waiting jobs. Spends at most half of the remaining budget. */
export async function filledOf(scanning: ScanContext, places: readonly Place[]): Promise<Filled> {
  const { left } = scanning;
  const kept = { ranges: left.ranges / 2, rows: left.rows / 2, bytes: left.bytes / 2 };
  const sorted = [...places].sort(byIndex);
  const found = new Set<string>();
  const has: Filled["has"] = (place) => found.has(nameOf(place));
  for (let next = sorted[0]; next !== undefined;) {
    const isOver = left.ranges <= kept.ranges || left.rows <= kept.rows || left.bytes <= kept.bytes;
    if (isOver) return { has, isWhole: false };
    const job = await firstFrom(scanning, next);
    if (job === null) break;
    const at = firstNotBefore(sorted, job);
    const isThere = at < sorted.length && byIndex(sorted[at]!, job) === 0;
    if (isThere) found.add(nameOf(job));
    next = sorted[isThere ? at + 1 : at];
  }
  return { has, isWhole: true };
}

type At = Pick<Place, "order" | "shard">;

function nameOf({ order, shard }: At): string {
  return `${order}:${shard}`;
}

function byIndex(a: At, b: At): number {
  return a.order - b.order || a.shard - b.shard;
}

/** By halving, since there may be a hundred thousand of them. */
function firstNotBefore(sorted: readonly At[], at: At): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (byIndex(sorted[middle]!, at) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first pending row in this place or behind it. Paused items lie behind every band. */
export async function firstFrom(
  { db, left }: Pick<ScanContext, "db" | "left">,
  place: Place,
): Promise<Doc<"jobs"> | null> {
  for (const read of [inBand, behindBand]) {
    left.ranges -= 1;
    const job = await read(db, place);
    if (job === null) continue;
    left.rows -= 1;
    left.bytes -= bytesOf(job);
    return job;
  }
  return null;
}

async function inBand(db: DatabaseReader, { queue, order, shard }: Place) {
  return await db
    .query("jobs")
    .withIndex("status", (q) =>
      q.eq("queue", queue).eq("status", "pending").eq("order", order).gte("shard", shard),
    )
    .first();
}

async function behindBand(db: DatabaseReader, { queue, order }: Place) {
  return await db
    .query("jobs")
    .withIndex("status", (q) =>
      q.eq("queue", queue).eq("status", "pending").gt("order", order).lt("order", ORDER_PAUSED),
    )
    .first();
}

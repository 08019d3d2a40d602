/**
 * Which new public bounds a sweep publishes: see `cursors.ts`. Snapshot reads only, of `planSweep`; writes nothing.
 */
import { v, type Infer } from "convex/values";
import {
  FINISHED_STATUSES,
  JANITOR_OVERDUE_MS,
  PUBLISH_BYTES_MAX,
  PUBLISH_PLACES_MAX,
  PUBLISHED_BOUNDS_MAX,
  QUEUES_MAX,
  rotate,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { DatabaseReader, QueryCtx } from "../_generated/server.js";
import { finishedFrom } from "../count/finished.js";
import { keyOf, snapshotOf } from "../index/scan.js";
import {
  afterCommit,
  boundOf,
  compareKeys,
  pendingFrom,
  publicBounds,
  START,
  type Bound,
  type Key,
  type Place,
} from "../rows/cursors.js";
import { findQueue, type Queue } from "../rows/queues.js";
import { placesOf } from "../rows/routes.js";
import { bytesOf } from "../rows/rowBytes.js";
import { vBound, vKey } from "../rows/stored.js";

/** A queue's cursors are not published again within this: `hasWork` is invalidated by each. */
const PUBLISH_EVERY_MS = JANITOR_OVERDUE_MS;

/** A drained queue gets no new floor for fewer ended jobs: claims and `hasWork` pass by these. */
const PUBLISH_AFTER = 8;
/** The bytes of these jobs: of as many queues as a sweep publishes, half of what it reads for it. */
const ENDED_BYTES = PUBLISH_BYTES_MAX / (2 * QUEUES_MAX);

export const vPublished = v.object({
  queue: v.string(),
  epoch: v.number(),
  bounds: v.array(vBound),
  floor: v.optional(vKey),
});
type Published = Infer<typeof vPublished>;

/**
 * New public bounds for used queues with stale ones, the oldest first: one sweep's reads are bounded, and a queue for
 * which there is no room left comes first in the next. Quiet queues, which keep their old floor, come after all others:
 * their bounds stay old, and would take the room of others in each sweep.
 */
export async function findBounds(
  ctx: QueryCtx,
  queues: readonly string[],
  now: number,
): Promise<Published[]> {
  const known = await Promise.all(
    queues.map(async (name) => ({ name, old: await publicBounds(ctx.db, name) })),
  );
  const left = { bytes: PUBLISH_BYTES_MAX };
  const due = known.filter(({ old }) => now >= (old?.publishedAt ?? -Infinity) + PUBLISH_EVERY_MS);
  const found = await Promise.all(due.map((one) => withQueue(ctx.db, one, left)));
  const stale = found
    .flatMap((one) => one ?? [])
    .sort(
      (a, b) =>
        Number(a.isQuiet) - Number(b.isQuiet) ||
        (a.old?.publishedAt ?? 0) - (b.old?.publishedAt ?? 0),
    );
  const published: Published[] = [];
  let room = PUBLISH_PLACES_MAX;
  for (const { name, old, queue, isQuiet } of stale) {
    if (left.bytes <= 0) break;
    const places = await placesOf(ctx.db, queue);
    const read = Math.min(places.length, PUBLISH_PLACES_MAX);
    // No queue behind it either: the routes of each would be read, and are as many bytes as the first rows.
    if (read > room) break;
    room -= read;
    const bounds = await boundsOf(ctx, queue, places, old, left);
    if (bounds.bounds.length === 0 && isQuiet) continue;
    published.push({ queue: name, epoch: queue.epoch, ...bounds });
  }
  return published;
}

async function withQueue(
  db: DatabaseReader,
  { name, old }: { name: string; old: Doc<"cursors"> | undefined },
  left: { bytes: number },
) {
  const queue = await findQueue(db, name);
  if (queue === null) return null;
  return { name, old, queue, isQuiet: await hasGoodFloor(db, queue, old, left) };
}

/**
 * Whether the jobs that have ended since the last floor of a drained queue are too few for a new one: each job of a quiet queue
 * would run the subscriptions of its workers once more. Large rows are as many as are read.
 */
async function hasGoodFloor(
  db: DatabaseReader,
  { name, epoch }: Queue,
  old: Doc<"cursors"> | undefined,
  left: { bytes: number },
): Promise<boolean> {
  if (old?.floor === undefined || old.epoch !== epoch) return false;
  let [ended, bytes] = [0, 0];
  for (const status of FINISHED_STATUSES) {
    const room = { bytes: ENDED_BYTES - bytes };
    const rows = await finishedFrom(db, name, status, old.floor, PUBLISH_AFTER - ended, room);
    const read = rows.reduce((sum, row) => sum + bytesOf(row), 0);
    [ended, bytes, left.bytes] = [ended + rows.length, bytes + read, left.bytes - read];
    if (ended >= PUBLISH_AFTER || bytes >= ENDED_BYTES) return false;
  }
  return true;
}

/**
 * For each place with waiting jobs, its first row. All other places are empty, and nothing can become claimable there
 * but with a `seq` above this snapshot: one floor covers all of them, also places that do not exist yet.
 *
 * A queue of more places than are read here, or of larger rows, gets no new floor: the places that were seen are then
 * named one by one, from a random one on, and the known bounds of the other places stay.
 */
async function boundsOf(
  ctx: QueryCtx,
  queue: Queue,
  places: readonly { order: number; shard: number }[],
  old: Doc<"cursors"> | undefined,
  left: { bytes: number },
): Promise<{ bounds: Bound[]; floor?: Key }> {
  const snapshot = snapshotOf(ctx);
  const end = snapshot === null ? null : afterCommit(snapshot);
  const areFew = end !== null && places.length <= PUBLISH_PLACES_MAX;
  const scans = (areFew ? places : rotate(places, Math.random())).map((place) => ({
    place: { queue: queue.name, ...place },
    from: boundOf([old], queue.epoch, place.order, place.shard),
  }));
  const firsts = await firstRows(ctx.db, scans.slice(0, PUBLISH_PLACES_MAX), left);
  const isWhole = firsts.length === scans.length;
  const bounds = scans.flatMap(({ place: { order, shard }, from }, i): Bound[] => {
    const first = firsts[i];
    if (first === undefined && isWhole && end !== null) return [];
    const seen = first === undefined ? ((i < firsts.length ? end : null) ?? from) : keyOf(first);
    return [{ order, shard, ...(compareKeys(seen, from) > 0 ? seen : from) }];
  });
  if (isWhole && end !== null) return { bounds, floor: end };
  const floor = old?.epoch === queue.epoch ? old.floor : undefined;
  // The first are the ones just seen. A bound that is left out is a lower one, which is always right.
  const named = bounds.filter(isAbove(floor)).slice(0, PUBLISHED_BOUNDS_MAX);
  return { bounds: named, ...(floor === undefined ? {} : { floor }) };
}

/** Places whose first rows are read at the same time. One after the other 512 took a sweep 0.8 s. */
const PLACES_AT_ONCE = 16;

/** The first row of each of these places, or of as many as fit: `undefined` where a place has none. */
async function firstRows(
  db: DatabaseReader,
  scans: readonly { place: Omit<Place, "status">; from: Key }[],
  left: { bytes: number },
): Promise<(Doc<"jobs"> | undefined)[]> {
  const firsts: (Doc<"jobs"> | undefined)[] = [];
  while (firsts.length < scans.length && left.bytes > 0) {
    const some = scans.slice(firsts.length, firsts.length + PLACES_AT_ONCE);
    const rows = await Promise.all(some.map(({ place, from }) => pendingFrom(db, place, from, 1)));
    for (const [first] of rows) {
      firsts.push(first);
      if (first !== undefined) left.bytes -= bytesOf(first);
    }
  }
  return firsts;
}

function isAbove(floor: Key = START): (bound: Bound) => boolean {
  return (bound) => compareKeys(bound, floor) !== 0;
}

/** How long the jobs of a queue have waited, as a snapshot shows it. May not write. */
import { msOfCommit, ORDER_PAUSED } from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { DatabaseReader } from "../_generated/server.js";
import { boundOf, pendingFrom, publicBounds, type QueueBounds } from "../rows/cursors.js";
import type { Budget, Place } from "../index/scan.js";
import { mayRunInside } from "../edges/mayTake.js";
import type { Queue } from "../rows/queues.js";
import { bytesOf } from "../rows/rowBytes.js";
import { fewPlacesOf } from "../rows/routes.js";

/** Ranges that are read unless the caller has fewer: a quarter of a transaction's ranges. */
export const RANGES_READ = 1_024;
/** Bytes of rows read per range: of larger rows fewer are read. */
const BYTES_PER_RANGE = 1_536;
/** With fewer ranges the routes and cursor, which give the places, would be most of the reads. */
const RANGES_FEW = 32;
/** Places that are read at the same time. */
const AT_ONCE = 32;

/** When the job that has been claimable longest of the ones that may run inside became so; `null` if none is. */
export async function oldestIn(
  db: DatabaseReader,
  queue: Queue,
  ranges = RANGES_READ,
): Promise<number | null> {
  const job = await oldestJobIn(db, queue, ranges, mayRunInside);
  return job === null ? null : msOfCommit(job.seq as bigint);
}

/**
 * The job that has been claimable longest, as far as a place's first row shows; `null` if none is. Place by place from
 * the public cursors on, at two ranges each. With more places than that allows the index is skipped through, and the
 * oldest of the first rows is taken: in the first place where a job waits, some job waits the longer the longer none is
 * claimed.
 */
export async function oldestJobIn(
  db: DatabaseReader,
  queue: Queue,
  ranges = RANGES_READ,
  counts: (job: Doc<"jobs">) => boolean = () => true,
): Promise<Doc<"jobs"> | null> {
  const [bounds, places] =
    ranges < RANGES_FEW
      ? [undefined, null]
      : await Promise.all([
          publicBounds(db, queue.name),
          fewPlacesOf(db, queue, Math.floor((ranges - 2) / 2)),
        ]);
  const firsts =
    places === null
      ? await firstsBySkipping(db, queue.name, ranges - 2)
      : await firstsOf(db, queue, places, bounds, ranges * BYTES_PER_RANGE);
  return firsts.reduce<Doc<"jobs"> | null>(
    (one, job) => older(one, counts(job) ? job : null),
    null,
  );
}

async function firstsOf(
  db: DatabaseReader,
  { name, epoch }: Queue,
  places: readonly { order: number; shard: number }[],
  bounds: QueueBounds | undefined,
  bytes: number,
): Promise<Doc<"jobs">[]> {
  const found: Doc<"jobs">[] = [];
  let left = bytes;
  for (let done = 0; done < places.length && left > 0; done += AT_ONCE) {
    const some = await Promise.all(
      places.slice(done, done + AT_ONCE).map(async ({ order, shard }) => {
        const from = boundOf([bounds], epoch, order, shard);
        return await pendingFrom(db, { queue: name, order, shard }, from, 1);
      }),
    );
    found.push(...some.flat());
    for (const job of some.flat()) left -= bytesOf(job);
  }
  return found;
}

/**
 * Of the places the ones with waiting jobs, at a range or two each. Without cursors, so that dead index entries are
 * walked over.
 */
async function firstsBySkipping(
  db: DatabaseReader,
  queue: string,
  ranges: number,
): Promise<Doc<"jobs">[]> {
  const left = { ranges, rows: ranges, bytes: ranges * BYTES_PER_RANGE };
  const found: Doc<"jobs">[] = [];
  let next = { queue, order: 0, shard: 0 };
  while (left.ranges >= 2 && left.bytes > 0) {
    const job = await firstFrom(db, left, next);
    if (job === null) break;
    found.push(job);
    next = { queue, order: job.order, shard: job.shard + 1 };
  }
  return found;
}

/** The first pending row in this place or behind it. Paused items lie behind every band. */
async function firstFrom(
  db: DatabaseReader,
  left: Budget,
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

function older(one: Doc<"jobs"> | null, other: Doc<"jobs"> | null): Doc<"jobs"> | null {
  if (one === null || other === null) return one ?? other;
  return (other.seq as bigint) < (one.seq as bigint) ? other : one;
}

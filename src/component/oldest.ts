/** How long the jobs of a queue have waited, as a snapshot shows it. May not write. */
import { msOfCommit } from "../shared/index.js";
import type { Doc } from "./_generated/dataModel.js";
import type { DatabaseReader } from "./_generated/server.js";
import { boundOf, pendingFrom, publicBounds } from "./cursors.js";
import { firstFrom } from "./filled.js";
import { mayRunInside } from "./mayTake.js";
import type { Queue } from "./queues.js";
import { fewPlacesOf } from "./routes.js";

/** Ranges that are read unless the caller has fewer: a quarter of what a transaction may read. */
const RANGES_READ = 1_024;

/** When the job that has been claimable longest of those that may run inside became so; `null` if none is. */
export async function oldestIn(
  db: DatabaseReader,
  queue: Queue,
  ranges = RANGES_READ,
): Promise<number | null> {
  const job = await oldestJobIn(db, queue, ranges, mayRunInside);
  return job === null ? null : msOfCommit(job.seq as bigint);
}

/**
 * The job that has been claimable longest, as far as a place's first row tells; `null` if none is. Place by place from the
 * public cursors on, at two ranges each. With more places than that allows the index is skipped through, and the oldest of
 * the first rows is taken: in the first place where a job waits, some job waits the longer the longer none is claimed.
 */
export async function oldestJobIn(
  db: DatabaseReader,
  queue: Queue,
  ranges = RANGES_READ,
  counts: (job: Doc<"jobs">) => boolean = () => true,
): Promise<Doc<"jobs"> | null> {
  const [bounds, places] = await Promise.all([
    publicBounds(db, queue.name),
    fewPlacesOf(db, queue, Math.floor((ranges - 2) / 2)),
  ]);
  const firsts =
    places === null
      ? await firstsBySkipping(db, queue.name, ranges - 2)
      : await Promise.all(
          places.map(async ({ order, shard }) => {
            const from = boundOf([bounds], queue.epoch, order, shard);
            const [job] = await pendingFrom(db, { queue: queue.name, order, shard }, from, 1);
            return job ?? null;
          }),
        );
  return firsts.reduce((one, job) => older(one, job !== null && counts(job) ? job : null), null);
}

async function firstsBySkipping(
  db: DatabaseReader,
  queue: string,
  ranges: number,
): Promise<Doc<"jobs">[]> {
  const left = { ranges, rows: ranges };
  const found: Doc<"jobs">[] = [];
  let next = { queue, order: 0, shard: 0 };
  while (left.ranges >= 2) {
    const job = await firstFrom({ db, left }, next);
    if (job === null) break;
    found.push(job);
    next = { queue, order: job.order, shard: job.shard + 1 };
  }
  return found;
}

function older(one: Doc<"jobs"> | null, other: Doc<"jobs"> | null): Doc<"jobs"> | null {
  if (one === null || other === null) return one ?? other;
  return (other.seq as bigint) < (one.seq as bigint) ? other : one;
}

/** How long the jobs of a queue have waited, as a snapshot shows it. May not write. */
import { msOfCommit } from "../shared/index.js";
import type { Doc } from "./_generated/dataModel.js";
import type { DatabaseReader } from "./_generated/server.js";
import { boundOf, pendingFrom, publicBounds } from "./cursors.js";
import type { Queue } from "./queues.js";
import { placesOf } from "./routes.js";

/** Of more places than these the others are not looked at: what waits there is found by lanes. */
const PLACES_READ = 1_024;

/** When the job that has been claimable longest became so; `null` if none is. */
export async function oldestIn(db: DatabaseReader, queue: Queue): Promise<number | null> {
  const job = await oldestJobIn(db, queue);
  return job === null ? null : msOfCommit(job.seq as bigint);
}

/** The job that has been claimable longest, as far as a place's first row tells; `null` if none is. */
export async function oldestJobIn(db: DatabaseReader, queue: Queue): Promise<Doc<"jobs"> | null> {
  const [bounds, places] = await Promise.all([publicBounds(db, queue.name), placesOf(db, queue)]);
  const firsts = await Promise.all(
    places.slice(0, PLACES_READ).map(async ({ order, shard }) => {
      const from = boundOf([bounds], queue.epoch, order, shard);
      const [job] = await pendingFrom(db, { queue: queue.name, order, shard }, from, 1);
      return job ?? null;
    }),
  );
  return firsts.reduce((oldest, job) => {
    if (job === null || oldest === null) return job ?? oldest;
    return (job.seq as bigint) < (oldest.seq as bigint) ? job : oldest;
  }, null);
}

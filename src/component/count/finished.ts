/**
 * Finished jobs in the order in which they finished: `seq` is the finish time in commit order, so that a key which was
 * passed once is never needed again. Only a `retry` takes a row out, and none ever comes in below a key that was seen.
 */
import { ORDER_BY_COMMIT, type FinishedStatus } from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { DatabaseReader } from "../_generated/server.js";
import { jobsFrom, START, type Key } from "../rows/cursors.js";
import { takeWithin } from "../rows/rowBytes.js";

/** For each finished status the first key that is still to be dealt with. */
export type FinishedKeys = readonly ({ status: FinishedStatus } & Key)[];

export function keyOfStatus(keys: FinishedKeys, status: FinishedStatus): Key {
  return keys.find((key) => key.status === status) ?? START;
}

/** How far a queue's finished jobs have been counted, or `null` if none ever was. */
export async function findCounted(
  db: DatabaseReader,
  queue: string,
): Promise<Doc<"counted"> | null> {
  return await db
    .query("counted")
    .withIndex("queue", (q) => q.eq("queue", queue))
    .unique();
}

/**
 * The first finished jobs of a status from a key on; with `before`, of commits before that; with `bytes`, as many as come to so
 * many.
 */
export async function finishedFrom(
  db: DatabaseReader,
  queue: string,
  status: FinishedStatus,
  from: Key,
  count: number,
  { before, bytes }: { before?: bigint | undefined; bytes?: number } = {},
): Promise<Doc<"jobs">[]> {
  const place = { queue, status, order: ORDER_BY_COMMIT, shard: 0 };
  const upTo = before === undefined ? before : before - 1n;
  if (bytes === undefined) return await jobsFrom(db, place, from, count, upTo);
  let left = bytes;
  return await jobsFrom(db, place, from, count, upTo, async (range, most) => {
    // None of the later commits while rows of the key's own are left.
    if (left <= 0) return [];
    const taken = await takeWithin(range, most, left);
    left -= taken.bytes;
    return taken.rows;
  });
}

/**
 * The other jobs with the key of the last of these: jobs of callers that began in the same instant, and that one commit
 * has ended. They are as many as a transaction ends at most, which is a hundred or two.
 */
export async function tiedWithLast(
  db: DatabaseReader,
  queue: string,
  status: FinishedStatus,
  jobs: readonly Doc<"jobs">[],
): Promise<Doc<"jobs">[]> {
  const { seq, _creationTime } = jobs.at(-1)!;
  const tied = await db
    .query("jobs")
    .withIndex("status", (q) =>
      q
        .eq("queue", queue)
        .eq("status", status)
        .eq("order", ORDER_BY_COMMIT)
        .eq("shard", 0)
        .eq("seq", seq)
        .eq("_creationTime", _creationTime),
    )
    .collect();
  const known = new Set(jobs.map(({ _id }) => _id));
  return tied.filter(({ _id }) => !known.has(_id));
}

/**
 * Finished jobs in the order in which they finished: `seq` is the finish time in commit order, so that a key which was
 * passed once is never needed again. Only a `retry` takes a row out, and none ever comes in below what was seen.
 */
import { ORDER_BY_COMMIT, type FinishedStatus } from "../shared/index.js";
import type { Doc } from "./_generated/dataModel.js";
import type { DatabaseReader } from "./_generated/server.js";
import { START, type Key } from "./cursors.js";

/** For each finished status the first key that is still to be dealt with. */
export type FinishedKeys = readonly ({ status: FinishedStatus } & Key)[];

export function keyOfStatus(keys: FinishedKeys, status: FinishedStatus): Key {
  return keys.find((key) => key.status === status) ?? START;
}

/**
 * The first finished jobs of a status from a key on; with `before`, of commits before that.
 *
 * Two reads where the key lies within a transaction's rows, as an index range cannot begin at a pair of fields.
 */
export async function finishedFrom(
  db: DatabaseReader,
  queue: string,
  status: FinishedStatus,
  from: Key,
  count: number,
  before?: bigint,
): Promise<Doc<"jobs">[]> {
  if (before !== undefined && before <= from.seq) return [];
  const tie =
    from.creationTime === 0
      ? []
      : await db
          .query("jobs")
          .withIndex("status", (q) =>
            q
              .eq("queue", queue)
              .eq("status", status)
              .eq("order", ORDER_BY_COMMIT)
              .eq("shard", 0)
              .eq("seq", from.seq)
              .gte("_creationTime", from.creationTime),
          )
          .take(count);
  if (tie.length === count) return tie;
  const rest = await db
    .query("jobs")
    .withIndex("status", (q) => {
      const place = q
        .eq("queue", queue)
        .eq("status", status)
        .eq("order", ORDER_BY_COMMIT)
        .eq("shard", 0);
      const above =
        from.creationTime === 0 ? place.gte("seq", from.seq) : place.gt("seq", from.seq);
      return before === undefined ? above : above.lt("seq", before);
    })
    .take(count - tie.length);
  return [...tie, ...rest];
}

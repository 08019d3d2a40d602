/**
 * A walk over the jobs of a queue and status in the order of the index, in either direction, a few rows at a time: from a
 * whole key on, so that index entries of rows that went away on the way are not walked again.
 *
 * Rows of callers that began in the same instant may share the whole key, once one commit has moved them: rows of the key
 * reached are distinguished by their ids.
 */
import type { Status } from "../../shared/index.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import type { DatabaseReader } from "../_generated/server.js";

/** A row's whole place within its queue and status. */
export interface WalkKey {
  order: number;
  shard: number;
  seq: bigint;
  creationTime: number;
}

export type Direction = "asc" | "desc";

export function walkKeyOf(job: Doc<"jobs">): WalkKey {
  const { order, shard, seq, _creationTime } = job;
  return { order, shard, seq: seq as bigint, creationTime: _creationTime };
}

export function isSameKey(a: WalkKey, b: WalkKey): boolean {
  const isSamePlace = a.order === b.order && a.shard === b.shard;
  return isSamePlace && a.seq === b.seq && a.creationTime === b.creationTime;
}

/**
 * The next rows from a key on, without the rows that have been `passed`, or the first. An index range can only be open
 * at one field, so there is a read for each part of the key, until there are rows enough.
 */
export async function walkOn(
  db: DatabaseReader,
  { queue, status, direction }: { queue: string; status: Status; direction: Direction },
  after: WalkKey | null,
  count: number,
  passed: readonly Id<"jobs">[],
): Promise<Doc<"jobs">[]> {
  const beyond = direction === "asc" ? "gt" : "lt";
  const from = direction === "asc" ? "gte" : "lte";
  const jobs = () => db.query("jobs");
  if (after === null) {
    return await jobs()
      .withIndex("status", (q) => q.eq("queue", queue).eq("status", status))
      .order(direction)
      .take(count);
  }
  const { order, shard, seq, creationTime } = after;
  /* eslint-disable no-unexpected-multiline -- a bound of either direction, at the end of a chain of equalities */
  const ranges = [
    () =>
      jobs().withIndex("status", (q) =>
        q
          .eq("queue", queue)
          .eq("status", status)
          .eq("order", order)
          .eq("shard", shard)
          .eq("seq", seq)
          [from]("_creationTime", creationTime),
      ),
    () =>
      jobs().withIndex("status", (q) =>
        q
          .eq("queue", queue)
          .eq("status", status)
          .eq("order", order)
          .eq("shard", shard)
          [beyond]("seq", seq),
      ),
    () =>
      jobs().withIndex("status", (q) =>
        q.eq("queue", queue).eq("status", status).eq("order", order)[beyond]("shard", shard),
      ),
    () =>
      jobs().withIndex("status", (q) =>
        q.eq("queue", queue).eq("status", status)[beyond]("order", order),
      ),
  ];
  /* eslint-enable no-unexpected-multiline */
  const rows: Doc<"jobs">[] = [];
  for (const [i, range] of ranges.entries()) {
    if (rows.length >= count) break;
    const known = i === 0 ? passed.length : 0;
    const found = await range()
      .order(direction)
      .take(count - rows.length + known);
    rows.push(...found.filter(({ _id }) => !passed.includes(_id)));
  }
  return rows.slice(0, count);
}

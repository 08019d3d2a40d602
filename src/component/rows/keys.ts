/**
 * Uniqueness keys: the only writer of `keys`. At most one row per queue and key; it names the job that has the key,
 * until that job ends or, with `until`, until then, however the job ends. A row with a passed `until` counts as absent
 * and is overwritten; the purge deletes remaining ones.
 *
 * Reads for real: the row of the key, which is absent for a new one: of two transactions that take a key at once, one
 * retries and finds the other's. Writes: that row. Conflicts with: a transaction that takes or frees the same key, and
 * with no other.
 */
import type { UniqueKey } from "../../shared/index.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import type { DatabaseReader, DatabaseWriter } from "../_generated/server.js";

type Job = Pick<Doc<"jobs">, "_id" | "queue" | "key" | "keyUntil">;

/** A key as it was found: its row, if there is one, and the job that has it now, if any. */
export interface FoundKey {
  row: Doc<"keys"> | null;
  owner: Id<"jobs"> | null;
}

export async function findKey(
  db: DatabaseReader,
  queue: string,
  key: string,
  now: number,
): Promise<FoundKey> {
  const row = await db
    .query("keys")
    .withIndex("key", (q) => q.eq("queue", queue).eq("key", key))
    .first();
  const isOver = row?.until !== undefined && row.until <= now;
  return { row, owner: row === null || isOver ? null : row.job };
}

/** Until when a key taken now is kept; nothing for as long as its job is active. */
export function keptUntil(key: UniqueKey, now: number): { until?: number } {
  return key.windowMs === undefined ? {} : { until: now + key.windowMs };
}

/** Gives a job a key that is free, or that its owner is about to lose. */
export async function giveKey(
  db: DatabaseWriter,
  { row }: FoundKey,
  key: { queue: string; key: string; job: Id<"jobs">; until?: number },
): Promise<void> {
  // In its row rather than in a new one: a key that is replaced over and over leaves no tombstones behind.
  if (row === null) await db.insert("keys", key);
  else await db.replace("keys", row._id, key);
}

/** Frees the key of a job that has ended, unless it is kept for a window, or another job has it. */
export async function freeKey(db: DatabaseWriter, job: Job): Promise<void> {
  if (job.key === undefined || job.keyUntil !== undefined) return;
  const { row } = await findKey(db, job.queue, job.key, 0);
  if (row?.job === job._id) await db.delete("keys", row._id);
}

/**
 * Takes the key of a finished job again, which is about to be made active. `false`, and nothing is written, if another
 * job has it. A window is not begun again: its remaining time still belongs to its job, and once it is over the job has
 * no key.
 */
export async function retakeKey(db: DatabaseWriter, job: Job, now: number): Promise<boolean> {
  if (job.key === undefined) return true;
  const found = await findKey(db, job.queue, job.key, now);
  if (found.owner !== null) return found.owner === job._id;
  if (job.keyUntil === undefined) {
    await giveKey(db, found, { queue: job.queue, key: job.key, job: job._id });
  }
  return true;
}

/** The windows of a queue, the first to end first. */
export async function windowsOf(
  db: DatabaseReader,
  queue: string,
  count: number,
): Promise<(Doc<"keys"> & { until: number })[]> {
  const rows = await db
    .query("keys")
    .withIndex("until", (q) => q.eq("queue", queue).gte("until", 0))
    .take(count);
  return rows.flatMap((row) => (row.until === undefined ? [] : [{ ...row, until: row.until }]));
}

/** Deletes rows with a window that is over; they count as absent. Returns how many. */
export async function forgetWindows(
  db: DatabaseWriter,
  queue: string,
  count: number,
  now: number,
): Promise<number> {
  const over = (await windowsOf(db, queue, count)).filter(({ until }) => until <= now);
  for (const { _id } of over) await db.delete("keys", _id);
  return over.length;
}

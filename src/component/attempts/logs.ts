/**
 * Log entries of jobs: written by reports, read in pages. The only writer of `logs`, but for `remove.ts`, which deletes them
 * with their job.
 *
 * Reads for real, of one job: the entry that is changed, the job's last entry. Writes: entries of that job. A page
 * reads its own stretch of the job's entries and nothing else: it is invalidated when one of them comes or changes.
 */
import type { Value } from "convex/values";
import {
  checkInteger,
  LOGS_MAX,
  PAGE_DEFAULT,
  PAGE_MAX,
  REPORT_MAX_BYTES,
  type LogPage,
  type LogUpdate,
} from "../../shared/index.js";
import { getConvexSize } from "convex/values";
import type { Doc } from "../_generated/dataModel.js";
import type { DatabaseReader, DatabaseWriter, QueryCtx } from "../_generated/server.js";
import { findJobOf } from "../rows/jobs.js";
import { decodePlace, encodePlace, type Place } from "./pages.js";

// --- Writing ------------------------------------------------------------------------------------

/**
 * Adds and changes entries of one attempt. A new one must have a greater number than the last, so that the last row is
 * the job's count; the worker sends them in order, one call at a time. A job keeps so many, and entries of earlier
 * attempts go first.
 */
export async function addLogs(
  db: DatabaseWriter,
  job: Doc<"jobs">,
  logs: readonly LogUpdate[],
  now: number,
): Promise<{ logsDropped?: number }> {
  if (logs.length === 0) return {};
  let last = await lastLog(db, job);
  const isNew = (one: Pick<LogUpdate, "attempt" | "entry">) =>
    last === null || last.attempt < one.attempt || last.entry < one.entry;
  const wanted = (last?.total ?? 0) + logs.filter(isNew).length - LOGS_MAX;
  const gone = wanted > 0 ? await dropOldest(db, job, wanted) : 0;
  let dropped = 0;
  for (const { entry, attempt, level, message, data, revision } of logs) {
    const change = {
      ...{ level, message, data: data as Value | undefined },
      ...(revision === undefined ? {} : { revision }),
    };
    if (!isNew({ attempt, entry })) {
      if (!(await changeLog(db, job, entry, change, now))) dropped += 1;
      continue;
    }
    const total = (last?.total ?? 0) + 1;
    if (total - gone > LOGS_MAX) {
      dropped += 1;
      continue;
    }
    const { data: value, ...rest } = change;
    const row = { job: job._id, attempt, entry, ...rest, at: now, total };
    await db.insert("logs", value === undefined ? row : { ...row, data: value });
    last = { attempt, entry, total };
  }
  return dropped === 0 ? {} : { logsDropped: dropped };
}

/** Deletes entries of earlier attempts until so many are gone in all, if it can. Returns how many are. */
async function dropOldest(db: DatabaseWriter, job: Doc<"jobs">, wanted: number): Promise<number> {
  const oldest = db.query("logs").withIndex("job", (q) => q.eq("job", job._id));
  let gone = 0;
  for await (const { _id, attempt, total } of oldest) {
    gone = total - 1;
    if (gone >= wanted || attempt === job.attempt) break;
    await db.delete("logs", _id);
    gone = total;
  }
  return gone;
}

/** Changes an entry that is there, unless it has been changed since. False: there is none of this number. */
async function changeLog(
  db: DatabaseWriter,
  job: Doc<"jobs">,
  entry: number,
  change: Pick<Doc<"logs">, "level" | "message" | "revision"> & { data: Value | undefined },
  now: number,
): Promise<boolean> {
  const row = await db
    .query("logs")
    .withIndex("job", (q) => q.eq("job", job._id).eq("attempt", job.attempt).eq("entry", entry))
    .unique();
  if (row === null) return false;
  const [before, after] = [row.revision ?? 0, change.revision ?? Infinity];
  // The same revision is the same call again.
  if (after > before) await db.patch("logs", row._id, { ...change, updatedAt: now });
  return true;
}

async function lastLog(
  db: DatabaseReader,
  job: Doc<"jobs">,
): Promise<Pick<Doc<"logs">, "attempt" | "entry" | "total"> | null> {
  return await db
    .query("logs")
    .withIndex("job", (q) => q.eq("job", job._id))
    .order("desc")
    .first();
}

// --- Reading ------------------------------------------------------------------------------------

/** The entries behind the cursor, in order; `null` for an id that names no job, or one of another queue. */
export async function logs(
  ctx: QueryCtx,
  args: { id: string; queue?: string; cursor?: string; limit?: number },
): Promise<LogPage | null> {
  const limit = args.limit ?? PAGE_DEFAULT;
  checkInteger("limit", limit, 1, PAGE_MAX);
  const job = await findJobOf(ctx.db, args.id, args.queue);
  if (job === null) return null;
  const from = decodePlace(args.cursor);
  const entries: LogPage["entries"] = [];
  let at: Place = from;
  let bytes = 0;
  let isDone = true;
  for await (const row of behind(ctx.db, job, from)) {
    bytes += getConvexSize(row);
    if (entries.length === limit || bytes > REPORT_MAX_BYTES) {
      isDone = false;
      break;
    }
    const { attempt, entry, level, message, data, at: when, updatedAt } = row;
    entries.push({
      ...{ attempt, entry, level, message, at: when },
      ...(data === undefined ? {} : { data: data as Value }),
      ...(updatedAt === undefined ? {} : { updatedAt }),
    });
    at = [attempt, entry];
  }
  return { queue: job.queue, entries, cursor: encodePlace(at), isDone };
}

/** The rest of the cursor's attempt, then the attempts after it. */
async function* behind(
  db: DatabaseReader,
  job: Doc<"jobs">,
  [attempt, entry]: Place,
): AsyncGenerator<Doc<"logs">> {
  yield* db
    .query("logs")
    .withIndex("job", (q) => q.eq("job", job._id).eq("attempt", attempt).gt("entry", entry));
  yield* db.query("logs").withIndex("job", (q) => q.eq("job", job._id).gt("attempt", attempt));
}

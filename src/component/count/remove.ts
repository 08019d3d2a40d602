/**
 * Remove: a job goes for good, with all its rows.
 *
 * A job's rows have no bound (it may have streamed a million chunks). So they go in parts, each bounded by rows and by
 * bytes read, and the job's own row goes with the last. Between two parts a place is kept, so that the index entries of
 * deleted rows are not walked again. Only rows that end by themselves stay: a row of `expiries` forgets a job that is
 * gone, one of `cancels` goes with the lease, and a key that is kept for a window is the purge's.
 *
 * `onComplete` is not called: an app that wants it to know cancels the job first. A callback that was still owed is
 * owed no more.
 *
 * Reads for real: the job's payload, result and context if they lie apart, its key, its marks if it may have any, and
 * all rows that name it; how far jobs have been counted. Writes: deletes them, of `attempts`, `logs`, `chunks`,
 * `progress` and `callbacks` by itself; a row for the counts. Conflicts with: a call that moves the job or reads its
 * row for real, as `cancel.ts`; its worker's reports; the delivery of its callback; a transaction that takes or frees
 * its key; the count of jobs.
 */
import { getConvexSize, type Value } from "convex/values";
import { PAYLOAD_MAX_BYTES, REMOVE_BYTES, REMOVE_ROWS } from "../../shared/index.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import type { DatabaseWriter, MutationCtx } from "../_generated/server.js";
import { noteDeleted, type CountedUpTo } from "./uncounted.js";
import { freeKey } from "../rows/keys.js";
import { deleteMarks } from "../index/listIndex.js";
import { deletePayload, type Stored } from "../rows/payloads.js";
import { deleteJob } from "../rows/jobNotes.js";
import { bytesOf } from "../rows/rowBytes.js";

/** The remaining deletions that one transaction may do. */
export interface Room {
  rows: number;
  bytes: number;
  /** How far has been counted, as this transaction has read it. Only `uncounted.ts` uses it. */
  counted: CountedUpTo;
}

export function newRoom(): Room {
  return { rows: REMOVE_ROWS, bytes: REMOVE_BYTES, counted: {} };
}

export function isSpent(room: Room): boolean {
  return room.rows <= 0 || room.bytes <= 0;
}

/** Where the next transaction goes on with a job: above this row of this table. */
export type Place = {
  job: Id<"jobs">;
  table: (typeof TABLES)[number];
  attempt: number;
  /** The entry of a log, the index of a chunk. */
  within: number | null;
};

/**
 * Removes a job, or, from the place on that an earlier transaction reached, the rest of it. Returns the place to go on
 * from if there is no more room; the job's row is still there then, unless it is to go `atOnce`.
 */
export async function removeJob(
  ctx: MutationCtx,
  job: Doc<"jobs">,
  room: Room,
  { from, atOnce = false }: { from?: Place | undefined; atOnce?: boolean } = {},
): Promise<Place | null> {
  const place = await removeRows(ctx.db, job._id, room, from);
  if (place !== null && !atOnce) return place;
  for (const stored of [job.payload, job.result, job.context]) {
    await removeStored(ctx.db, stored, room);
  }
  await freeKey(ctx.db, job);
  room.rows -= await deleteMarks(ctx.db, job);
  await noteDeleted(ctx, job, room.counted);
  room.bytes -= bytesOf(job);
  await deleteJob(ctx.db, job._id);
  return place;
}

/** Tables with rows that name a job, in the order in which they are emptied. */
export const TABLES = ["attempts", "logs", "chunks", "progress", "callbacks"] as const;

/**
 * Rows read at a time: a chunk has up to 64 KB, a result that is owed a megabyte, and rows that were read have been
 * paid for.
 */
const PAGES = { attempts: 64, logs: 32, chunks: 8, progress: 2, callbacks: 2 } as const;

/** Of all tables at the same time: most jobs have no such rows, and one read after the other took a purge 6 ms a job. */
const FIRST = { attempts: 16, logs: 8, chunks: 2, progress: 2, callbacks: 1 } as const;
/** Where rows fill a first page, a second is read, of two ranges, whether or not there are more: it costs as much as so many rows. */
const SECOND_PAGE = 2;

/** Removes the rows that name a job, which may itself be gone already. */
export async function removeRows(
  db: DatabaseWriter,
  job: Id<"jobs">,
  room: Room,
  from?: Place,
): Promise<Place | null> {
  const begun = from?.job === job ? TABLES.indexOf(from.table) : 0;
  const places = TABLES.slice(begun).map((table): Place => {
    const isBegun = from?.job === job && from.table === table;
    return isBegun ? from : { job, table, attempt: -1, within: null };
  });
  const firsts = await Promise.all(places.map((one) => rowsAbove(db, one, FIRST[one.table])));
  for (const [i, first] of places.entries()) {
    const { table } = first;
    let [place, rows]: [Place, Row[] | null] = [first, firsts[i]!];
    for (let count: number = FIRST[table]; ; count = Math.min(PAGES[table], room.rows)) {
      if (isSpent(room)) return place;
      rows ??= await rowsAbove(db, place, count);
      for (const row of rows) {
        charge(room, row);
        if ("handle" in row) await forgetOwed(db, row, room);
        await db.delete(table, row._id);
      }
      if (rows.length < count) {
        if (rows !== firsts[i]) room.rows -= SECOND_PAGE;
        break;
      }
      [place, rows] = [placeOf(job, table, rows.at(-1)!), null];
    }
  }
  return null;
}

type Row = Doc<Place["table"]>;

/** The next rows of a place's table: of the same attempt, or of the next ones. */
async function rowsAbove(
  db: DatabaseWriter,
  { job, table, attempt, within }: Place,
  count: number,
): Promise<Row[]> {
  if (table === "progress" || table === "callbacks") {
    const rows = db.query(table).withIndex("job", (q) => q.eq("job", job));
    return await rows.take(count);
  }
  const later = async (more: number) =>
    await db
      .query(table)
      .withIndex("job", (q) => q.eq("job", job).gt("attempt", attempt))
      .take(more);
  if (within === null) return await later(count);
  const same =
    table === "logs"
      ? await db
          .query("logs")
          .withIndex("job", (q) => q.eq("job", job).eq("attempt", attempt).gt("entry", within))
          .take(count)
      : await db
          .query("chunks")
          .withIndex("job", (q) => q.eq("job", job).eq("attempt", attempt).gt("index", within))
          .take(count);
  return same.length === count ? same : [...same, ...(await later(count - same.length))];
}

function placeOf(job: Id<"jobs">, table: Place["table"], row: Doc<Place["table"]>): Place {
  const within = "entry" in row ? row.entry : "index" in row ? row.index : null;
  return { job, table, attempt: "attempt" in row ? row.attempt : -1, within };
}

/** A result that was still owed to a callback may be older than the one that the job's row names. */
async function forgetOwed(
  db: DatabaseWriter,
  { outcome }: Doc<"callbacks">,
  room: Room,
): Promise<void> {
  if (outcome.status === "succeeded") await removeStored(db, outcome.result, room);
}

async function removeStored(
  db: DatabaseWriter,
  stored: Stored | undefined,
  room: Room,
): Promise<void> {
  if (stored === undefined || "inline" in stored) return;
  room.rows -= 1;
  room.bytes -= stored.bytes ?? PAYLOAD_MAX_BYTES;
  await deletePayload(db, stored.row);
}

function charge(room: Room, row: object): void {
  room.rows -= 1;
  room.bytes -= getConvexSize(row as Value);
}

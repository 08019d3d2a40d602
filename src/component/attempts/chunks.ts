/**
 * Streamed output of jobs: written by reports, part by part; read in pages, attempt by attempt. The only writer of `chunks`,
 * but for `remove.ts`, which deletes them with their job.
 *
 * Reads for real, of one job: its last part; where it has much, its first parts, and the first of this attempt. Writes: inserts
 * parts of that job, and deletes these. A page reads the job's row and its own
 * stretch of parts: it is invalidated when the job moves or one of them comes.
 */
import {
  checkInteger,
  conveyorError,
  OUTPUT_MAX_BYTES,
  OUTPUT_ROWS_DROPPED,
  PAGE_DEFAULT,
  PAGE_MAX,
  REPORT_MAX_BYTES,
  textBytes,
  type OutputPage,
  type OutputUpdate,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { DatabaseReader, MutationCtx, QueryCtx } from "../_generated/server.js";
import { findJobOf } from "../rows/jobs.js";
import { decodePlace, encodePlace } from "./pages.js";
import { mayDrop } from "./reportRoom.js";

// --- Writing ------------------------------------------------------------------------------------

/**
 * Adds parts to the output of one attempt, each once and none before its turn: existing parts are passed over, and
 * after a gap nothing is taken. Says which index is wanted next.
 *
 * A job keeps so much, and of earlier attempts the oldest goes first: a circular job, or one snoozed every minute,
 * would otherwise be refused every word from some day on. So would one that makes room by many small parts, were it refused
 * what one call cannot make room for: a worker that is refused once gives up its attempt's output.
 */
export async function addOutput(
  ctx: MutationCtx,
  job: Doc<"jobs">,
  parts: readonly OutputUpdate[],
): Promise<{ nextIndex?: number; outputFull?: true }> {
  if (parts.length === 0) return {};
  const { db } = ctx;
  const last = await db
    .query("chunks")
    .withIndex("job", (q) => q.eq("job", job._id))
    .order("desc")
    .first();
  const { attempt } = job;
  let nextIndex = last?.attempt === attempt ? last.index + 1 : 0;
  let total = last?.total ?? 0;
  const incoming = parts
    .filter(({ index }) => index >= nextIndex)
    .reduce((sum, { text }) => sum + textBytes(text), 0);
  // A job's stored output is all that it has written, unless some of it is gone: read only where that matters.
  const isMuch = total + incoming > OUTPUT_MAX_BYTES;
  const gone = isMuch ? await dropOldest(ctx, job, total, incoming) : 0;
  for (const { index, text } of parts) {
    if (index < nextIndex) continue;
    if (index > nextIndex) break;
    const bytes = textBytes(text);
    if (total + bytes - gone > OUTPUT_MAX_BYTES) return { nextIndex, outputFull: true };
    total += bytes;
    await db.insert("chunks", { job: job._id, attempt, index, text, total });
    nextIndex += 1;
  }
  return { nextIndex };
}

/**
 * Deletes of the output of earlier attempts until there is room, if it can. Returns how many of the `written` bytes are gone in
 * all. One call deletes some rows, one at least, as far as it has room to read: the next calls delete the rest, which counts as
 * gone, as long as the job has no more than twice what it may keep.
 */
async function dropOldest(
  ctx: MutationCtx,
  job: Doc<"jobs">,
  written: number,
  incoming: number,
): Promise<number> {
  const wanted = written + incoming - OUTPUT_MAX_BYTES;
  const { db } = ctx;
  const oldest = db.query("chunks").withIndex("job", (q) => q.eq("job", job._id));
  let gone = 0;
  let dropped = 0;
  for await (const { _id, attempt, total, text } of oldest) {
    const bytes = textBytes(text);
    gone = total - bytes;
    if (gone >= wanted || attempt === job.attempt) break;
    if (dropped === OUTPUT_ROWS_DROPPED || (dropped > 0 && !(await mayDrop(ctx))))
      return Math.min(await writtenBefore(db, job, written), gone + OUTPUT_MAX_BYTES);
    await db.delete("chunks", _id);
    dropped += 1;
    gone = total;
  }
  return gone;
}

/** Of the `written` bytes those of earlier attempts. */
async function writtenBefore(
  db: DatabaseReader,
  { _id, attempt }: Doc<"jobs">,
  written: number,
): Promise<number> {
  const first = await db
    .query("chunks")
    .withIndex("job", (q) => q.eq("job", _id).eq("attempt", attempt))
    .first();
  return first === null ? written : first.total - textBytes(first.text);
}

// --- Reading ------------------------------------------------------------------------------------

/**
 * Parts of one attempt, in order: of the cursor's, else of the one asked for, else of the job's last. `null` for an id
 * that names no job, or one of another queue.
 */
export async function output(
  ctx: QueryCtx,
  args: {
    id: string;
    queue?: string;
    attempt?: number;
    cursor?: string;
    fromIndex?: number;
    limit?: number;
  },
): Promise<OutputPage | null> {
  const limit = args.limit ?? PAGE_DEFAULT;
  checkInteger("limit", limit, 1, PAGE_MAX);
  const { cursor, attempt: wanted, fromIndex = 0 } = args;
  checkInteger("fromIndex", fromIndex, 0, Number.MAX_SAFE_INTEGER);
  if (cursor !== undefined && (wanted !== undefined || args.fromIndex !== undefined)) {
    throw conveyorError(
      "invalidArgument",
      "A cursor says which attempt it belongs to and where it stands: give it without `attempt` and `fromIndex`.",
      { argument: "cursor" },
    );
  }
  if (wanted !== undefined) checkInteger("attempt", wanted, 1, Number.MAX_SAFE_INTEGER);
  const job = await findJobOf(ctx.db, args.id, args.queue);
  if (job === null) return null;
  const [attempt, after] =
    cursor === undefined ? [wanted ?? job.attempt, fromIndex - 1] : decodePlace(cursor);
  const page: OutputPage["parts"] = [];
  let bytes = 0;
  let isCut = false;
  const rows = ctx.db
    .query("chunks")
    .withIndex("job", (q) => q.eq("job", job._id).eq("attempt", attempt).gt("index", after));
  for await (const { index, text } of rows) {
    bytes += textBytes(text);
    if (page.length === limit || bytes > REPORT_MAX_BYTES) {
      isCut = true;
      break;
    }
    page.push({ index, text });
  }
  const isOver = attempt < job.attempt || job.status !== "running";
  return {
    queue: job.queue,
    attempt,
    lastAttempt: job.attempt,
    parts: page,
    cursor: encodePlace([attempt, page.at(-1)?.index ?? after]),
    isDone: isOver && !isCut,
  };
}

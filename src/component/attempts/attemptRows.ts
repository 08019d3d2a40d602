/**
 * The rows of attempts that did not succeed: the only writer of `attempts`, but for `remove.ts`, which deletes them
 * with their job. A success costs no row: it stands in the job's own.
 *
 * Inserts only, in the transaction that ends the attempt: it conflicts with nothing. A circular job keeps the last
 * thousand.
 */
import { ATTEMPTS_KEPT, TRACE_MAX_BYTES } from "../../shared/index.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import type { DatabaseReader, DatabaseWriter } from "../_generated/server.js";
import { cutError } from "../rows/payloads.js";

/**
 * Old rows deleted with a new one: more than one, so that a job which has too many comes down to its bound. Each may have 8 KiB,
 * and a sweep ends 64 attempts of a session.
 */
const DELETED_AT_ONCE = 2;

/** `job` as it was while the attempt ran. */
export async function recordAttempt(
  db: DatabaseWriter,
  job: Doc<"jobs">,
  outcome: Doc<"attempts">["outcome"],
  now: number,
  error?: string,
  { blocked, trace }: Partial<Pick<Doc<"attempts">, "blocked" | "trace">> = {},
): Promise<void> {
  const { _id, attempt, session, worker, startedAt } = job;
  await db.insert("attempts", {
    ...{ job: _id, attempt, outcome, endedAt: now },
    ...(session === undefined ? {} : { session }),
    ...(worker === undefined ? {} : { worker }),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(error === undefined ? {} : { error: cutError(error) }),
    ...(trace === undefined ? {} : { trace: cutError(trace, TRACE_MAX_BYTES) }),
    ...(blocked === undefined ? {} : { blocked }),
  });
  if (attempt <= ATTEMPTS_KEPT) return;
  const old = await db
    .query("attempts")
    .withIndex("job", (q) => q.eq("job", _id).lte("attempt", attempt - ATTEMPTS_KEPT))
    .take(DELETED_AT_ONCE);
  for (const row of old) await db.delete("attempts", row._id);
}

export async function findAttempt(
  db: DatabaseReader,
  job: Id<"jobs">,
  attempt: number,
): Promise<Doc<"attempts"> | null> {
  return await db
    .query("attempts")
    .withIndex("job", (q) => q.eq("job", job).eq("attempt", attempt))
    .first();
}

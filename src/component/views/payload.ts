/**
 * The payload that a job was enqueued with, for people. Not part of its status, which pages subscribe to and which is
 * sent again with every progress report.
 *
 * Reads: the job, its payload.
 */
import type { QueryCtx } from "../_generated/server.js";
import { findJobOf } from "../rows/jobs.js";
import { load } from "../rows/payloads.js";

/** In an object, since a payload may itself be null. `null` for an id that names no job, or one of another queue. */
export async function payload(
  ctx: QueryCtx,
  id: string,
  queue?: string,
): Promise<{ payload: unknown } | null> {
  const job = await findJobOf(ctx.db, id, queue);
  return job === null ? null : { payload: await load(ctx.db, job.payload) };
}

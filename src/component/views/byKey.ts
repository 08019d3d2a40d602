/**
 * By key: the job that has a uniqueness key, for a caller that knows an order's number and not an id.
 *
 * Reads for real: the key's row, and the job that it names. Writes nothing. A subscription is invalidated when the key
 * is given to another job or freed, and when its job moves; the end of a window does not invalidate it.
 */
import { checkName, type ListedJob } from "../../shared/index.js";
import type { QueryCtx } from "../_generated/server.js";
import { findKey } from "../rows/keys.js";
import { listedOf } from "./listed.js";

export async function byKey(ctx: QueryCtx, queue: string, key: string): Promise<ListedJob | null> {
  checkName("The name of a queue", queue);
  const { owner } = await findKey(ctx.db, queue, key, Date.now());
  const job = owner === null ? null : await ctx.db.get("jobs", owner);
  return job === null ? null : listedOf(job);
}

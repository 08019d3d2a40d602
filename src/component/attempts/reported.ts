/**
 * Whether the session of an attempt has said anything of it: then the reply that brought it the job has arrived, and it
 * has begun. Read, for real, by a transaction that ends leases which were not renewed: their session reports nothing any
 * more.
 */
import type { Doc } from "../_generated/dataModel.js";
import type { DatabaseReader } from "../_generated/server.js";

export async function hasReported(
  db: DatabaseReader,
  { _id, attempt }: Doc<"jobs">,
): Promise<boolean> {
  const progress = await db
    .query("progress")
    .withIndex("job", (q) => q.eq("job", _id))
    .unique();
  if (progress?.attempt === attempt) return true;
  const log = await db
    .query("logs")
    .withIndex("job", (q) => q.eq("job", _id).eq("attempt", attempt))
    .first();
  if (log !== null) return true;
  const chunk = await db
    .query("chunks")
    .withIndex("job", (q) => q.eq("job", _id).eq("attempt", attempt))
    .first();
  return chunk !== null;
}

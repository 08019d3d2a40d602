/**
 * Whether a session has said anything of the jobs that its last reply brought: then that reply has arrived, with all of them,
 * and each has begun. Read, for real, by a transaction that ends leases which were not renewed: their session reports nothing
 * any more.
 *
 * One report is enough, and the look ends with it: a first part of output is a row of up to `OUTPUT_PART_MAX_BYTES`.
 */
import type { Doc } from "../_generated/dataModel.js";
import type { DatabaseReader } from "../_generated/server.js";

export async function hasReported(
  db: DatabaseReader,
  jobs: readonly Doc<"jobs">[],
): Promise<boolean> {
  for (const { _id, attempt } of jobs) {
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
    if (chunk !== null) return true;
  }
  return false;
}

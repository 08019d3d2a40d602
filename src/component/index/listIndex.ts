/**
 * Marks: rows by which the jobs of a queue are found by tag and group, where the queue asks for that. The only writer of
 * `marks`.
 *
 * A job has its marks from its enqueue to its deletion, through every retry and round. One that was enqueued before its queue
 * asked has none, and is not in these lists.
 */
import { marksOf, type JobOptions, type ListBy } from "../../shared/index.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import type { DatabaseWriter } from "../_generated/server.js";
import type { Queue } from "../rows/queues.js";

/** Inserts only: two enqueues never conflict. */
export async function insertMarks(
  db: DatabaseWriter,
  { name: queue, config }: Queue,
  job: Id<"jobs">,
  options: Pick<JobOptions, "tags" | "group">,
): Promise<void> {
  for (const mark of marksOf(config.listBy, options))
    await db.insert("marks", { queue, ...mark, job });
}

/** Deletes a job's marks, also marks from a time when its queue asked for them. Returns how many. */
export async function deleteMarks(db: DatabaseWriter, job: Doc<"jobs">): Promise<number> {
  // No other job can have any: most cost no read.
  if (job.tags === undefined && job.group === undefined) return 0;
  const rows = await db
    .query("marks")
    .withIndex("job", (q) => q.eq("job", job._id))
    .collect();
  for (const { _id } of rows) await db.delete("marks", _id);
  return rows.length;
}

/** The mark by which a list with this filter is read, if its queue has asked for that. */
export function markedBy(
  listBy: readonly ListBy[],
  { tag, group }: { tag?: string | undefined; group?: string | undefined },
): { by: ListBy; value: string } | null {
  if (tag !== undefined && listBy.includes("tag")) return { by: "tag", value: tag };
  return group !== undefined && listBy.includes("group") ? { by: "group", value: group } : null;
}

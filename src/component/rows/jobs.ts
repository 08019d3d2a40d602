/** Finding a job by an id that came from outside. */
import { conveyorError } from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { DatabaseReader } from "../_generated/server.js";

/** The job, or `null`: the id may be of another table, another deployment, or no id at all. */
export async function findJob(db: DatabaseReader, id: string): Promise<Doc<"jobs"> | null> {
  const jobId = db.normalizeId("jobs", id);
  return jobId === null ? null : await db.get("jobs", jobId);
}

/** The same; with `queue`, a job of another queue counts as none. */
export async function findJobOf(
  db: DatabaseReader,
  id: string,
  queue: string | undefined,
): Promise<Doc<"jobs"> | null> {
  const job = await findJob(db, id);
  return job === null || queue === undefined || job.queue === queue ? job : null;
}

/**
 * The job. With `queue`, a job of another queue counts as none, with the same answer: a caller that may act on one
 * queue can neither touch another's jobs nor find out which ids exist.
 */
export async function getJob(db: DatabaseReader, id: string, queue?: string): Promise<Doc<"jobs">> {
  const job = await findJobOf(db, id, queue);
  if (job !== null) return job;
  const cut = id.slice(0, 100);
  const name = JSON.stringify(cut);
  throw conveyorError(
    "unknownJob",
    (queue === undefined
      ? `No job has the id ${name}.`
      : `The queue "${queue}" has no job ${name}.`) +
      " Pass the id that enqueue returned, on the same deployment.",
    { id: cut, ...(queue === undefined ? {} : { queue }) },
  );
}

/** The platform's placeholder for a commit timestamp that is yet to be, where it shows a number. */
const MAX_COMMIT_TS = 2n ** 63n - 1n;

/** Whether the transaction that asks has moved this job itself. */
export function isMovedHere({ seq }: Pick<Doc<"jobs">, "seq">): boolean {
  return typeof seq !== "bigint" || seq === MAX_COMMIT_TS;
}

/** Claiming: by point reads, so that of two claims of one job the second to commit retries. */
import type { GenericId } from "convex/values";
import type { Job, Writer } from "./builders.js";

export type JobId = GenericId<"jobs">;

/** The first `max` of these that are still pending, now running. */
export async function claim(db: Writer, candidates: JobId[], max: number): Promise<JobId[]> {
  const taken: JobId[] = [];
  for (const id of candidates) {
    if (taken.length === max) break;
    const job = await db.get("jobs", id);
    if (job?.status !== "pending") continue;
    await db.patch("jobs", id, { status: "running", seq: db.vars.commitTs });
    taken.push(id);
  }
  return taken;
}

/** When it committed. For scans and measurements: it is not exact. */
export function millis(commitTs: Job["seq"]): number {
  return Number(commitTs) / 1e6;
}

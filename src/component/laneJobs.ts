/** What a lane is told of the jobs that were claimed for it. Reads what jobs have of their own, by id. */
import type { ClaimedJob, LaneJob } from "../shared/index.js";
import type { Id } from "./_generated/dataModel.js";
import type { DatabaseReader } from "./_generated/server.js";
import { rulesOf } from "./handlers.js";
import type { Queue } from "./queues.js";

export async function describeLaneJobs(
  db: DatabaseReader,
  queue: Queue,
  jobs: readonly ClaimedJob[],
): Promise<LaneJob[]> {
  const described: LaneJob[] = [];
  for (const job of jobs) {
    const row = await db.get("jobs", job.id as Id<"jobs">);
    const { handler } = row === null ? {} : await rulesOf(db, queue, row);
    described.push({ job, ...(handler === undefined ? {} : { handler }) });
  }
  return described;
}

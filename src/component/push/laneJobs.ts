/**
 * The claimed jobs as their lane receives them: without the payload where the handler is a mutation, which reads it in
 * its own transaction. Reads the rules of jobs, by id. `ruled` are the rows of jobs with rules of their own, where the
 * claim of this very transaction knows them: then no job is read again.
 */
import type { ClaimedJob, LaneJob, Lease } from "../../shared/index.js";
import type { Id } from "../_generated/dataModel.js";
import type { DatabaseReader } from "../_generated/server.js";
import { rulesOf } from "../rows/jobRules.js";
import type { Queue } from "../rows/queues.js";

export async function describeLaneJobs(
  db: DatabaseReader,
  queue: Queue,
  jobs: readonly ClaimedJob[],
  ruled?: ReadonlyMap<string, Id<"jobRules">>,
): Promise<LaneJob[]> {
  return await Promise.all(
    jobs.map(async (job): Promise<LaneJob> => {
      const own = ruled?.get(job.id);
      const row =
        ruled === undefined
          ? await db.get("jobs", job.id as Id<"jobs">)
          : own === undefined
            ? {}
            : { rules: own };
      const { handler } = row === null ? {} : await rulesOf(db, queue, row);
      if (handler === undefined) return { job };
      return { job: handler.kind === "mutation" ? { ...job, payload: null } : job, handler };
    }),
  );
}

/** For later reads one by one: a row that a transaction has once read is in memory. */
export async function fetchJobs(db: DatabaseReader, leases: readonly Lease[]): Promise<void> {
  const ids = leases.flatMap(({ id }) => db.normalizeId("jobs", id) ?? []);
  await Promise.all(ids.map((id) => db.get("jobs", id)));
}

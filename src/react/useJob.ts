/** A hook that follows one job. */
import { useQuery } from "convex/react";
import type { IdOf, JobById, StatusApi, StatusRequests } from "../shared/index.js";

/**
 * Follows a job: renders again whenever its status, progress or result changes.
 *
 * @param jobs The module that exports the functions of `conveyor.api`, as in `api.jobs`. Result and progress have the types of
 * the queue that the id remembers; of a plain string, the types of any of the module's queues.
 * @param id The job's id, or `"skip"` while there is none.
 * @param requests Further fields of the job: `why` it does not run, with its position, its last `attempts`, the
 * `options` that it was enqueued with.
 * @default requests none
 * @returns `undefined` while loading or skipped, `null` for an id that names no job of the queues, else the job: a union
 * on `status`.
 * @throws The error of the app's `authorize`, while rendering; an error boundary catches it.
 * @example
 * const job = useJob(api.jobs, id);
 * if (job?.status === "running") return <progress value={job.progress?.percent} max={100} />;
 * if (job?.status === "succeeded") return <Tile pixels={job.result.pixels} />;
 */
export function useJob<
  Api extends StatusApi,
  const Id extends IdOf<Api>,
  const Requests extends StatusRequests = Record<never, never>,
>(
  jobs: Api,
  id: Id | "skip",
  requests?: Requests & StatusRequests,
): JobById<Api, Id, Requests> | null | undefined {
  return useQuery(jobs.status, id === "skip" ? "skip" : { id, ...requests }) as never;
}

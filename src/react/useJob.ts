/** A hook that follows one job. */
import { useQuery } from "convex/react";
import type { FunctionArgs, FunctionReference, FunctionReturnType } from "convex/server";

/** A reference to a queue's `status` function as `queue.api()` built it, such as `api.tiles.status`. */
export type StatusFunction = FunctionReference<"query", "public", { id: any }, any>;

/**
 * Follows a job: renders again whenever its status, progress or result changes.
 *
 * @param status The app's function that `queue.api()` built, as in `api.tiles.status`. The result's type comes from it.
 * @param id The job's id, or `"skip"` while there is none.
 * @returns `undefined` while loading or skipped, `null` for an id that names no job of the queue, else the job: a union
 * on `status`.
 * @throws What the app's `authorize` throws, while rendering; an error boundary catches it.
 * @example
 * const job = useJob(api.tiles.status, id);
 * if (job?.status === "running") return <progress value={job.progress?.percent} max={100} />;
 * if (job?.status === "succeeded") return <Tile pixels={job.result.pixels} />;
 */
export function useJob<Status extends StatusFunction>(
  status: Status,
  id: FunctionArgs<Status>["id"] | "skip",
): FunctionReturnType<Status> | undefined {
  return useQuery(status as StatusFunction, id === "skip" ? "skip" : { id });
}

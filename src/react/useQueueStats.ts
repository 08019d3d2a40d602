/** A hook that shows how a queue does, and how it has done. */
import { useQuery } from "convex/react";
import type { Gauge, Stats, StatsApi, StatsQueueOf, StatsRequest } from "../shared/index.js";

/**
 * Follows how a queue stands: its jobs by status, its pace, its health; and with `per` the counts of jobs enqueued,
 * begun and ended, with wait and run times, by minute, hour or day. The statistics are rewritten every few seconds
 * while the queue is busy, and so is the returned value.
 *
 * @param jobs The module that exports the functions of `conveyor.api`, as in `api.jobs`.
 * @param queue The queue, or `"skip"`.
 * @param request Which `periods` it has, such as `{ per: "minute", count: 30 }`.
 * @default request no periods
 * @returns `undefined` while loading or skipped, else `counts`, `perMinute`, `health`, `oldestPendingAt`, when it was `at`; with
 * `per` the `periods`, the oldest first.
 * @throws The error of the app's `authorize`, while rendering; an error boundary catches it.
 * @example
 * const stats = useQueueStats(api.jobs, "tiles", { per: "hour", count: 24 });
 * const worst = Math.max(...(stats?.periods ?? []).map(({ waitMs }) => waitMs?.p95 ?? 0));
 */
export function useQueueStats<
  Api extends StatsApi,
  const Request extends StatsRequest = Record<never, never>,
>(
  jobs: Api,
  queue: StatsQueueOf<Api> | "skip",
  request?: Request & StatsRequest,
): (Request extends { per: string } ? Gauge & Stats : Gauge & Partial<Stats>) | undefined {
  return useQuery(jobs.stats, queue === "skip" ? "skip" : { queue, ...request }) as never;
}

/** A hook that shows how a queue has done. */
import { useQuery } from "convex/react";
import type { FunctionArgs, FunctionReference, FunctionReturnType } from "convex/server";
import type { Stats } from "../shared/index.js";

/** A reference to a queue's `stats` function as `queue.api()` built it, such as `api.tiles.stats`. */
export type StatsFunction = FunctionReference<"query", "public", any, Stats>;

/**
 * Follows a queue's statistics: what was enqueued, begun and ended, how long jobs waited and ran, by minute, hour or day.
 * They are rewritten every few seconds while the queue is busy, and so is what this returns.
 *
 * @param stats The app's function that `queue.api()` built, as in `api.tiles.stats`.
 * @param args What it asks for, such as `{ per: "minute", count: 30 }`, or `"skip"`.
 * @returns `undefined` while loading or skipped, else the periods, the oldest first.
 * @throws What the app's `authorize` throws, while rendering; an error boundary catches it.
 * @example
 * const stats = useQueueStats(api.tiles.stats, { per: "hour", count: 24 });
 * const worst = Math.max(...(stats?.periods ?? []).map(({ waitMs }) => waitMs?.p95 ?? 0));
 */
export function useQueueStats<StatsOf extends StatsFunction>(
  stats: StatsOf,
  args: FunctionArgs<StatsOf> | "skip",
): FunctionReturnType<StatsOf> | undefined {
  return useQuery(stats as StatsFunction, args);
}

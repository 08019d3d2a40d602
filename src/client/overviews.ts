/** Queues and the main loop at a glance: each is read by itself, and all of them together fit into the query that asks. */
import { OVERVIEW_BYTES_MAX, type MainLoop, type QueueOverview } from "../shared/index.js";
import type { ComponentApi } from "./componentApi.js";
import { callComponent } from "./mounted.js";
import type { RunsQueries } from "./types.js";

/** A query or a mutation; an action has no transaction, and no bound. */
interface Measured {
  meta?: { getTransactionMetrics?: () => Promise<{ bytesRead: { used: number } }> };
}

/**
 * These queues in their order, without deleted ones; `more`: the last ones were left out, since the jobs of the ones
 * before were so large that a transaction reads no more.
 */
export async function overviewsOf(
  ctx: RunsQueries,
  component: ComponentApi,
  names: readonly string[],
): Promise<{ queues: QueueOverview[]; more: boolean }> {
  const queues: QueueOverview[] = [];
  for (const queue of names) {
    if (await readsNoMore(ctx)) return { queues, more: true };
    const args = { queue, beside: names.length };
    const found = await ctx.runQuery(component.observe.overview, args);
    if (found !== null) queues.push(found);
  }
  return { queues, more: false };
}

/** The main loop of the mount, with the share of the scheduler that the app has given it. */
export async function mainLoopOf(
  ctx: RunsQueries,
  component: ComponentApi,
  { schedulerShare: share }: { schedulerShare?: number },
): Promise<MainLoop> {
  const args = share === undefined ? {} : { share };
  return await callComponent(() => ctx.runQuery(component.observe.mainLoop, args));
}

async function readsNoMore(ctx: RunsQueries & Measured): Promise<boolean> {
  const metrics = await ctx.meta?.getTransactionMetrics?.();
  return metrics !== undefined && metrics.bytesRead.used > OVERVIEW_BYTES_MAX;
}

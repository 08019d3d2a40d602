/** The same jobs brought in by workpool, as it is published. */
import { Workpool } from "@convex-dev/workpool";
import { app, components, mutation, parallelism, retries, retry } from "./builders.js";
import { entries } from "./entries.js";

const pool = new Workpool(components.workpool, {
  maxParallelism: parallelism,
  ...(retries ? { retryActionsByDefault: true, defaultRetryBehavior: retry } : {}),
});

export const { act, book, actAll, bookAll } = entries({
  one: (ctx, kind, work) =>
    kind === "act"
      ? pool.enqueueAction(ctx, app.work.act, work)
      : pool.enqueueMutation(ctx, app.work.book, work),
  all: (ctx, kind, works) =>
    kind === "act"
      ? pool.enqueueActionBatch(ctx, app.work.act, works)
      : pool.enqueueMutationBatch(ctx, app.work.book, works),
});

export const cancelAll = mutation({
  handler: async (ctx) => {
    await pool.cancelAll(ctx);
    return { isDone: true };
  },
});

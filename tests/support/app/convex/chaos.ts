/** Jobs of `sums` that may lose more leases than usual, and their ends. */
import { v } from "convex/values";
import { mutation, query } from "./_generated/server.js";
import { sums } from "./queues.js";

export const enqueue = mutation({
  args: { from: v.number(), count: v.number(), workMs: v.number() },
  returns: v.array(v.string()),
  handler: async (ctx, { from, count, workMs }) => {
    const payloads = Array.from({ length: count }, (_, i) => ({ n: from + i, workMs }));
    return await sums.enqueueBatch(ctx, payloads, () => ({ maxResets: 100 }));
  },
});

/** The rows that `onComplete` has written. */
export const done = query({
  args: { from: v.number(), count: v.number() },
  handler: async (ctx, { from, count }) =>
    await ctx.db
      .query("done")
      .withIndex("n", (q) => q.gte("n", from).lt("n", from + count))
      .collect(),
});

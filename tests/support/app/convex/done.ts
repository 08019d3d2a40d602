import { v } from "convex/values";
import { internalMutation, query } from "./_generated/server.js";
import { sums } from "./queues.js";

/** Runs in the transaction that finishes a job of `sums`. */
export const record = internalMutation({
  args: sums.onCompleteArgs,
  returns: v.null(),
  handler: async (ctx, { id, payload, outcome, attempt, worker }) => {
    await ctx.db.insert("done", {
      job: id,
      n: payload.n,
      status: outcome.status,
      attempt,
      ...(worker === undefined ? {} : { worker }),
    });
    return null;
  },
});

export const list = query({
  args: {},
  handler: async (ctx) => ctx.db.query("done").withIndex("n").take(5_000),
});

export const count = query({
  args: {},
  returns: v.number(),
  handler: async (ctx) => (await ctx.db.query("done").take(5_000)).length,
});

/** A row that the whole app patches, the callback of a queue among others. */
import { v } from "convex/values";
import { internalMutation, mutation, query, type QueryCtx } from "./_generated/server.js";
import { hot } from "./queues.js";

export const { enqueueBatch, status } = hot.api({ authorize: "public" });

async function row(ctx: Pick<QueryCtx, "db">) {
  const found = await ctx.db.query("hot").first();
  if (found === null) throw new Error("Create the row first.");
  return found;
}

export const create = mutation({
  args: {},
  returns: v.null(),
  handler: async (ctx) => {
    await ctx.db.insert("hot", { bumps: 0, told: 0 });
    return null;
  },
});

export const bump = mutation({
  args: {},
  returns: v.null(),
  handler: async (ctx) => {
    const { _id, bumps } = await row(ctx);
    await ctx.db.patch(_id, { bumps: bumps + 1 });
    return null;
  },
});

export const tell = internalMutation({
  args: hot.onCompleteArgs,
  returns: v.null(),
  handler: async (ctx, { id, payload, outcome, attempt }) => {
    const { _id, told } = await row(ctx);
    await ctx.db.patch(_id, { told: told + 1 });
    await ctx.db.insert("done", { job: id, n: payload.n, status: outcome.status, attempt });
    return null;
  },
});

export const read = query({
  args: {},
  returns: v.object({ bumps: v.number(), told: v.number() }),
  handler: async (ctx) => {
    const { bumps, told } = await row(ctx);
    return { bumps, told };
  },
});

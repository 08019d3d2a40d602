/**
 * Claiming as one would first write it: every worker takes the first row that is free. The negative control of the race
 * test: if this does not conflict, the backend does not show conflicts, and the good result of the other proves
 * nothing.
 */
import { v } from "convex/values";
import { mutation } from "./_generated/server.js";

export const fill = mutation({
  args: { count: v.number() },
  returns: v.null(),
  handler: async (ctx, { count }) => {
    for (let i = 0; i < count; i++) await ctx.db.insert("tickets", { takenBy: null });
    return null;
  },
});

export const take = mutation({
  args: { by: v.string() },
  returns: v.union(v.id("tickets"), v.null()),
  handler: async (ctx, { by }) => {
    const ticket = await ctx.db
      .query("tickets")
      .withIndex("takenBy", (q) => q.eq("takenBy", null))
      .first();
    if (ticket === null) return null;
    await ctx.db.patch(ticket._id, { takenBy: by });
    return ticket._id;
  },
});

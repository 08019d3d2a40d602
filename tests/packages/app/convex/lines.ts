/** A log of events, for tests to read. */
import { v } from "convex/values";
import { internalMutation, query, type MutationCtx } from "./_generated/server.js";

export async function write(ctx: MutationCtx, about: string, text: string): Promise<void> {
  await ctx.db.insert("lines", { about, text });
}

export const add = internalMutation({
  args: { about: v.string(), text: v.string() },
  handler: (ctx, { about, text }) => write(ctx, about, text),
});

export const about = query({
  args: { about: v.string() },
  handler: async (ctx, { about }): Promise<string[]> => {
    const rows = await ctx.db
      .query("lines")
      .withIndex("about", (q) => q.eq("about", about))
      .collect();
    return rows.map((row) => row.text);
  },
});

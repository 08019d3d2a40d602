/** One row that all want: the app's own mutation, and jobs or their callbacks. */
import { mutation, type MutationCtx } from "./builders.js";

export async function count(ctx: MutationCtx): Promise<void> {
  const row = await ctx.db.query("counter").first();
  if (row === null) await ctx.db.insert("counter", { count: 1 });
  else await ctx.db.patch("counter", row._id, { count: row.count + 1 });
}

/** The app's own. */
export const bump = mutation({
  args: {},
  handler: async (ctx) => {
    await count(ctx);
    return null;
  },
});

/** The jobs themselves. They log when they begin and end, which costs no alternative a call or a write. */
import type { GenericActionCtx, GenericDataModel } from "convex/server";
import { v } from "convex/values";
import { app, internalAction, internalMutation, saves, vWork, type Work } from "./builders.js";

export const act = internalAction({
  args: vWork,
  handler: async (ctx, given) => {
    await work(ctx, given);
    return null;
  },
});

export async function work<DataModel extends GenericDataModel>(
  ctx: GenericActionCtx<DataModel>,
  { n, ms }: Work,
): Promise<void> {
  console.log(`began ${n}`);
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
  if (saves) await ctx.runMutation(app.jobs.save, { n });
  console.log(`ended ${n}`);
}

/** What a job has found out. */
export const save = internalMutation({
  args: { n: v.number() },
  handler: async (ctx, { n }) => {
    await ctx.db.insert("saved", { n });
    return null;
  },
});

export const book = internalMutation({
  args: vWork,
  handler: async (_ctx, { n }) => {
    console.log(`began ${n}`);
    console.log(`ended ${n}`);
    return null;
  },
});

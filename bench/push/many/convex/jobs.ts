/** The jobs themselves. They log when they begin and end, which costs no alternative a call or a write. */
import type { GenericActionCtx, GenericDataModel } from "convex/server";
import { v } from "convex/values";
import {
  app,
  counts,
  internalAction,
  internalMutation,
  saves,
  vWork,
  type Work,
} from "./builders.js";
import { count } from "./counter.js";

/** Further arguments of the callbacks of each. */
const others = Object.fromEntries(
  ["id", "queue", "outcome", "attempt", "name", "worker", "workId", "result"].map((field) => [
    field,
    v.optional(v.any()),
  ]),
);

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

/** A job's finding. */
export const save = internalMutation({
  args: { n: v.number() },
  handler: async (ctx, { n }) => {
    await ctx.db.insert("saved", { n });
    return null;
  },
});

export const book = internalMutation({
  args: vWork,
  handler: async (ctx, { n }) => {
    console.log(`began ${n}`);
    if (counts === "handler") await count(ctx);
    console.log(`ended ${n}`);
    return null;
  },
});

/**
 * The callback, of Conveyor with the payload and of workpool with a context: a job's end counts when this has
 * committed.
 */
export const told = internalMutation({
  args: { payload: v.optional(vWork), context: v.optional(vWork), ...others },
  handler: async (ctx, { payload, context }) => {
    await count(ctx);
    console.log(`recorded ${(payload ?? context)!.n}`);
    return null;
  },
});

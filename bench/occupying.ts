/** The app's own work beside its jobs: scheduled actions that take a while. The same for all apps of the benchmark. */
import { internalActionGeneric, makeFunctionReference, mutationGeneric } from "convex/server";
import { v } from "convex/values";

const REST = makeFunctionReference<"action", { ms: number }, null>("occupying:rest");

export const occupy = mutationGeneric({
  args: { count: v.number(), ms: v.number() },
  handler: async (ctx, { count, ms }) => {
    for (let n = 0; n < count; n += 1) await ctx.scheduler.runAfter(0, REST, { ms });
    return null;
  },
});

export const rest = internalActionGeneric({
  args: { ms: v.number() },
  handler: async (_ctx, { ms }) => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return null;
  },
});

/** A function that only the child may call. */
import { v } from "convex/values";
import { query } from "./_generated/server.js";

export const whoami = query({
  args: {},
  returns: v.string(),
  handler: async (ctx) => (await ctx.meta.getFunctionMetadata()).componentPath,
});

"use node";
/** The handlers of `harmful.ts` in Node, where an action has ten minutes. */
import { v } from "convex/values";
import { internalAction } from "./_generated/server.js";
import { doHarm, harmfulInNode, vHarm } from "./harmful.js";

export const harm = internalAction({
  args: vHarm,
  returns: v.string(),
  handler: async (_ctx, args) => await doHarm(args),
});

export const inlineWork = harmfulInNode.inline(async (_ctx, { payload }) => await doHarm(payload));

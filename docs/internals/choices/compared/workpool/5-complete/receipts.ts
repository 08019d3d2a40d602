// Names: enqueueAction onComplete context defineOnComplete handler result kind
import { v } from "convex/values";
import { internal } from "./_generated/api";
import { mutation } from "./_generated/server";
import { pool } from "./emails";

export const start = mutation({
  args: { to: v.string() },
  handler: async (ctx, { to }) => {
    const options = { onComplete: internal.receipts.sent, context: { to } };
    await pool.enqueueAction(ctx, internal.emails.send, { to }, options);
  },
});
export const sent = pool.defineOnComplete({
  context: v.object({ to: v.string() }),
  handler: async (_ctx, { context, result }) => {
    if (result.kind === "failed") console.error(context.to, result.error);
  },
});

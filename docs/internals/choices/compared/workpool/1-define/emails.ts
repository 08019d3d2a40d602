// Names: workpool Workpool maxParallelism enqueueAction
import { Workpool } from "@convex-dev/workpool";
import { v } from "convex/values";
import { components, internal } from "./_generated/api";
import { internalAction, mutation } from "./_generated/server";
import { deliver } from "./mailer";

export const pool = new Workpool(components.emailWorkpool, { maxParallelism: 10 });
export const send = internalAction({
  args: { to: v.string() },
  handler: async (_ctx, { to }) => {
    await deliver(to);
  },
});

export const signUp = mutation({
  args: { to: v.string() },
  handler: async (ctx, { to }) => await pool.enqueueAction(ctx, internal.emails.send, { to }),
});

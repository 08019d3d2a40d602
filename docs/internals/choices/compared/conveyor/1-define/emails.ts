// Names: conveyor Conveyor queue payload action enqueue
import { v } from "convex/values";
import { internal } from "./_generated/api";
import { mutation } from "./_generated/server";
import { conveyor } from "./conveyor";
import { deliver } from "./mailer";

export const emails = conveyor.queue("emails", {
  payload: { to: v.string() },
  action: () => internal.emails.send,
});
export const send = emails.action(async (_ctx, { payload }) => {
  await deliver(payload.to);
});

export const signUp = mutation({
  args: { to: v.string() },
  handler: async (ctx, { to }) => await emails.enqueue(ctx, { to }),
});

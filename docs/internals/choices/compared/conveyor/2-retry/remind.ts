// Names: enqueue retry maxAttempts runAfter key
import { v } from "convex/values";
import { mutation } from "./_generated/server";
import { emails } from "./emails";

export const remind = mutation({
  args: { to: v.string() },
  handler: async (ctx, { to }) =>
    await emails.enqueue(
      ctx,
      { to },
      { retry: { maxAttempts: 4 }, runAfter: 60_000, key: `remind:${to}` },
    ),
});

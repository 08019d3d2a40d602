// Names: enqueueAction retry maxAttempts initialBackoffMs base runAfter
// Reservation: no key. The app keeps a table of its own with an index, and looks there first; that is left out.
import { v } from "convex/values";
import { internal } from "./_generated/api";
import { mutation } from "./_generated/server";
import { pool } from "./emails";

export const remind = mutation({
  args: { to: v.string() },
  handler: async (ctx, { to }) =>
    await pool.enqueueAction(
      ctx,
      internal.emails.send,
      { to },
      { retry: { maxAttempts: 4, initialBackoffMs: 1_000, base: 2 }, runAfter: 60_000 },
    ),
});

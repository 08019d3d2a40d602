// Names: enqueueActionBatch
import { v } from "convex/values";
import { internal } from "./_generated/api";
import { mutation } from "./_generated/server";
import { pool } from "./emails";

export const newsletter = mutation({
  args: { readers: v.array(v.string()) },
  handler: async (ctx, { readers }) => {
    const all = readers.map((to) => ({ to }));
    await pool.enqueueActionBatch(ctx, internal.emails.send, all);
  },
});

// Names: enqueueBatch
import { v } from "convex/values";
import { mutation } from "./_generated/server";
import { emails } from "./emails";

export const newsletter = mutation({
  args: { readers: v.array(v.string()) },
  handler: async (ctx, { readers }) => {
    await emails.enqueueBatch(
      ctx,
      readers.map((to) => ({ to })),
    );
  },
});

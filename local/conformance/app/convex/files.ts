/** File storage, as functions use it. */
import { v } from "convex/values";
import { action, mutation, query } from "./_generated/server.js";

const vFile = { id: v.id("_storage") };

export const uploadUrl = mutation({
  args: {},
  returns: v.string(),
  handler: (ctx) => ctx.storage.generateUploadUrl(),
});

export const url = query({
  args: vFile,
  returns: v.union(v.string(), v.null()),
  handler: (ctx, { id }) => ctx.storage.getUrl(id),
});

export const metadata = query({
  args: vFile,
  returns: v.any(),
  handler: (ctx, { id }) => ctx.db.system.get("_storage", id),
});

export const remove = mutation({
  args: { ...vFile, fails: v.boolean() },
  returns: v.null(),
  handler: async (ctx, { id, fails }) => {
    await ctx.storage.delete(id);
    if (fails) throw new Error("after the delete");
    return null;
  },
});

/** Stores a text, and reads it back. */
export const store = action({
  args: { text: v.string(), type: v.string() },
  returns: v.object({ id: v.id("_storage"), text: v.string(), type: v.string() }),
  handler: async (ctx, { text, type }) => {
    const id = await ctx.storage.store(new Blob([text], { type }));
    const blob = (await ctx.storage.get(id))!;
    return { id, text: await blob.text(), type: blob.type };
  },
});

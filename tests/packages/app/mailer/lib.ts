/** Runs its own functions in its pools, and its caller's by their handles. */
import { vOnCompleteArgs, Workpool, type WorkId } from "convex-conveyor/workpool";
import type { FunctionHandle } from "convex/server";
import { v } from "convex/values";
import { components, internal } from "./_generated/api.js";
import { internalAction, internalMutation, mutation, query } from "./_generated/server.js";

const letters = new Workpool(components.letters, { maxParallelism: 2 });
const parcels = new Workpool(components.parcels, { maxParallelism: 2 });

export const send = mutation({
  args: { to: v.string(), parcel: v.boolean() },
  returns: v.string(),
  handler: async (ctx, { to, parcel }): Promise<WorkId> =>
    await (parcel ? parcels : letters).enqueueAction(
      ctx,
      internal.lib.carry,
      { to },
      { onComplete: internal.lib.carried, context: parcel ? "parcel" : "letter" },
    ),
});

/** Of the app, or another component. */
export const runFor = mutation({
  args: { handle: v.string(), args: v.any() },
  returns: v.string(),
  handler: async (ctx, { handle, args }): Promise<WorkId> =>
    await letters.enqueueAction(ctx, handle as FunctionHandle<"action", any>, args),
});

export const carry = internalAction({
  args: { to: v.string() },
  returns: v.string(),
  handler: async (_ctx, { to }) => `carried to ${to}`,
});

export const carried = internalMutation({
  args: vOnCompleteArgs(v.string()),
  returns: v.null(),
  handler: async (ctx, { context, result }) => {
    const said = result.kind === "success" ? String(result.returnValue) : result.kind;
    await ctx.db.insert("log", { text: `${context}: ${said}` });
    return null;
  },
});

export const cancelAll = mutation({
  args: {},
  returns: v.null(),
  handler: async (ctx): Promise<null> => {
    await letters.cancelAll(ctx);
    return null;
  },
});

export const state = query({
  args: { id: v.string() },
  returns: v.array(v.string()),
  handler: async (ctx, { id }): Promise<string[]> => {
    const both = [letters, parcels].map((pool) => pool.status(ctx, id as WorkId));
    return (await Promise.all(both)).map(({ state }) => state);
  },
});

export const log = query({
  args: {},
  returns: v.array(v.string()),
  handler: async (ctx) => (await ctx.db.query("log").collect()).map(({ text }) => text),
});

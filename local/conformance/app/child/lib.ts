/** The child's public functions, and one that is internal. */
import { createFunctionHandle, type FunctionHandle } from "convex/server";
import { v } from "convex/values";
import { api, components, internal } from "./_generated/api.js";
import { action, internalMutation, mutation, query } from "./_generated/server.js";

const vGroup = { group: v.string() };

export const add = mutation({
  args: { ...vGroup, n: v.number() },
  returns: v.id("rows"),
  handler: (ctx, row) => ctx.db.insert("rows", row),
});

export const addAndFail = mutation({
  args: { ...vGroup, n: v.number() },
  returns: v.null(),
  handler: async (ctx, row) => {
    await ctx.db.insert("rows", row);
    throw new Error("after the insert");
  },
});

export const hidden = internalMutation({
  args: { ...vGroup, n: v.number() },
  returns: v.null(),
  handler: async (ctx, row) => {
    await ctx.db.insert("rows", row);
    return null;
  },
});

export const list = query({
  args: vGroup,
  returns: v.array(v.number()),
  handler: async (ctx, { group }) => {
    const rows = await ctx.db
      .query("rows")
      .withIndex("by_n", (q) => q.eq("group", group))
      .collect();
    return rows.map(({ n }) => n);
  },
});

export const get = query({
  args: { id: v.id("rows") },
  returns: v.union(v.number(), v.null()),
  handler: async (ctx, { id }) => (await ctx.db.get("rows", id))?.n ?? null,
});

export const page = query({
  args: vGroup,
  returns: v.any(),
  handler: (ctx, { group }) =>
    ctx.db
      .query("rows")
      .withIndex("by_n", (q) => q.eq("group", group))
      .paginate({ numItems: 1, cursor: null }),
});

export const env = query({
  args: {},
  returns: v.record(v.string(), v.string()),
  handler: async () =>
    Object.fromEntries(
      ["COLOR", "OUTER", "CONVEX_CLOUD_URL"].flatMap((name) => {
        const value = process.env[name];
        return value === undefined ? [] : [[name, value]];
      }),
    ),
});

export const now = mutation({
  args: {},
  returns: v.number(),
  handler: async () => Date.now(),
});

export const random = query({
  args: {},
  returns: v.number(),
  handler: async () => Math.random(),
});

export const who = query({
  args: {},
  returns: v.union(v.string(), v.null()),
  handler: async (ctx) => (await ctx.auth.getUserIdentity())?.subject ?? null,
});

export const path = query({
  args: {},
  returns: v.any(),
  handler: (ctx) => ctx.meta.getFunctionMetadata(),
});

export const inner = query({
  args: {},
  returns: v.string(),
  handler: (ctx): Promise<string> => ctx.runQuery(components.grandchild.lib.whoami, {}),
});

/** Schedules a function of the child's own, and gives the id as the child has it. */
export const later = mutation({
  args: { ...vGroup, n: v.number(), ms: v.number() },
  returns: v.string(),
  handler: (ctx, { ms, ...row }): Promise<string> =>
    ctx.scheduler.runAfter(ms, internal.lib.hidden, row),
});

export const laterState = query({
  args: { id: v.string() },
  returns: v.union(v.string(), v.null()),
  handler: async (ctx, { id }) => {
    const known = ctx.db.system.normalizeId("_scheduled_functions", id);
    return known === null ? null : ((await ctx.db.system.get(known))?.state.kind ?? null);
  },
});

export const cancelLater = mutation({
  args: { id: v.id("_scheduled_functions") },
  returns: v.null(),
  handler: async (ctx, { id }) => {
    await ctx.scheduler.cancel(id);
    return null;
  },
});

/** A handle of an internal function: any holder may call it. */
export const handle = mutation({
  args: {},
  returns: v.string(),
  handler: (): Promise<string> => createFunctionHandle(internal.lib.hidden),
});

export const callHandle = mutation({
  args: { handle: v.string(), args: v.any() },
  returns: v.any(),
  handler: (ctx, { handle, args }) =>
    ctx.runMutation(handle as FunctionHandle<"mutation">, args as Record<string, unknown>),
});

export const scheduleHandle = mutation({
  args: { handle: v.string(), args: v.any() },
  returns: v.null(),
  handler: async (ctx, { handle, args }) => {
    const ref = handle as FunctionHandle<"mutation">;
    await ctx.scheduler.runAfter(0, ref, args as Record<string, unknown>);
    return null;
  },
});

export const act = action({
  args: { ...vGroup, n: v.number() },
  returns: v.array(v.number()),
  handler: async (ctx, { group, n }): Promise<number[]> => {
    await ctx.runMutation(api.lib.add, { group, n });
    return ctx.runQuery(api.lib.list, { group });
  },
});

export const logs = mutation({
  args: {},
  returns: v.null(),
  handler: async () => {
    console.log("from the child");
    return null;
  },
});

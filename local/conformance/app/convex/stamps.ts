/** The commit timestamp as a value: written, read back before it is known, handed on, returned. */
import { v } from "convex/values";
import { internal } from "./_generated/api.js";
import { internalMutation, internalQuery, mutation, query } from "./_generated/server.js";

const vGroup = { group: v.string() };

export const add = mutation({
  args: { ...vGroup, ns: v.array(v.number()) },
  returns: v.commitTs(),
  handler: async (ctx, { group, ns }) => {
    for (const n of ns) await ctx.db.insert("stamps", { group, n, ts: ctx.db.vars.commitTs });
    return ctx.db.vars.commitTs;
  },
});

/** A row with a given timestamp, as if it came from elsewhere. */
export const addFixed = mutation({
  args: { ...vGroup, n: v.number(), ts: v.int64() },
  returns: v.null(),
  handler: async (ctx, row) => {
    await ctx.db.insert("stamps", row);
    return null;
  },
});

export const list = query({
  args: vGroup,
  returns: v.array(v.object({ n: v.number(), ts: v.int64(), at: v.number() })),
  handler: async (ctx, { group }) => {
    const rows = await ctx.db
      .query("stamps")
      .withIndex("by_ts", (q) => q.eq("group", group))
      .collect();
    return rows.map(({ n, ts, _creationTime: at }) => ({ n, ts: ts as bigint, at }));
  },
});

/** Up to the snapshot, as a reader with a cursor does. */
export const upToSnapshot = query({
  args: vGroup,
  returns: v.object({ snapshot: v.int64(), ns: v.array(v.number()) }),
  handler: async (ctx, { group }) => {
    const snapshot = ctx.meta.getSnapshotTs();
    const rows = await ctx.db
      .query("stamps")
      .withIndex("by_ts", (q) => q.eq("group", group).lte("ts", snapshot))
      .collect();
    return { snapshot, ns: rows.map(({ n }) => n) };
  },
});

/** Own rows that are not committed yet, in the order of the index and by equality. */
export const ownRows = mutation({
  args: vGroup,
  returns: v.any(),
  handler: async (ctx, { group }) => {
    for (const n of [1, 2]) await ctx.db.insert("stamps", { group, n, ts: ctx.db.vars.commitTs });
    const ordered = await ctx.db
      .query("stamps")
      .withIndex("by_ts", (q) => q.eq("group", group))
      .collect();
    const equal = await ctx.db
      .query("stamps")
      .withIndex("by_ts", (q) => q.eq("group", group).eq("ts", ctx.db.vars.commitTs))
      .collect();
    return { ordered: ordered.map(({ n }) => n), equal: equal.map(({ n }) => n) };
  },
});

export const passOn = internalMutation({
  args: { ...vGroup, n: v.number(), ts: v.commitTs() },
  returns: v.commitTs(),
  handler: async (ctx, row) => {
    await ctx.db.insert("stamps", row);
    return row.ts;
  },
});

export const nested = mutation({
  args: vGroup,
  returns: v.commitTs(),
  handler: (ctx, { group }): Promise<any> =>
    ctx.runMutation(internal.stamps.passOn, { group, n: 1, ts: ctx.db.vars.commitTs }),
});

export const later = internalMutation({
  args: { ts: v.any() },
  returns: v.null(),
  handler: async () => null,
});

/** Refused: the timestamp is not known when the arguments are stored. */
export const scheduleIt = mutation({
  args: {},
  returns: v.null(),
  handler: async (ctx) => {
    await ctx.scheduler.runAfter(0, internal.stamps.later, { ts: ctx.db.vars.commitTs });
    return null;
  },
});

export const echo = internalQuery({
  args: { ts: v.any() },
  returns: v.any(),
  handler: async (_ctx, { ts }) => ts as unknown,
});

/** A placeholder that goes through a nested query and comes back is still one. */
export const throughQuery = mutation({
  args: vGroup,
  returns: v.commitTs(),
  handler: async (ctx, { group }): Promise<any> => {
    const ts: unknown = await ctx.runQuery(internal.stamps.echo, { ts: ctx.db.vars.commitTs });
    await ctx.db.insert("stamps", { group, n: 1, ts: ts as never });
    return ts;
  },
});

export const bump = mutation({
  args: { ...vGroup },
  returns: v.null(),
  handler: async (ctx, { group }) => {
    const rows = await ctx.db
      .query("stamps")
      .withIndex("by_n", (q) => q.eq("group", group))
      .collect();
    for (const row of rows) await ctx.db.patch("stamps", row._id, { ts: ctx.db.vars.commitTs });
    return null;
  },
});

/**
 * A read of a consumer with a cursor: rows later than its cursor and not later than its snapshot. A mutation: the answer of a
 * query that read its snapshot would be served again for a while, as one that read the time.
 */
export const since = mutation({
  args: { ...vGroup, after: v.int64() },
  returns: v.object({ ns: v.array(v.number()), cursor: v.int64() }),
  handler: async (ctx, { group, after }) => {
    const cursor = ctx.meta.getSnapshotTs();
    const rows = await ctx.db
      .query("stamps")
      .withIndex("by_ts", (q) => q.eq("group", group).gt("ts", after).lte("ts", cursor))
      .collect();
    return { ns: rows.map(({ n }) => n), cursor };
  },
});

/** Functions that go over a limit, each by a little. */
import { v } from "convex/values";
import { internal } from "./_generated/api.js";
import { action, internalMutation, mutation } from "./_generated/server.js";

export const over = mutation({
  args: { group: v.string(), what: v.string() },
  returns: v.any(),
  handler: async (ctx, { group, what }) => {
    const rows = () => ctx.db.query("rows").withIndex("by_n", (q) => q.eq("group", group));
    switch (what) {
      case "paginateTwice":
        await rows().paginate({ numItems: 1, cursor: null });
        return rows().paginate({ numItems: 1, cursor: null });
      case "halfAPage":
        return rows().paginate({ numItems: 1.5, cursor: null });
      case "halfARowRead":
        return rows().paginate({ numItems: 1, cursor: null, maximumRowsRead: 0.5 });
      case "operators": {
        let query = rows().filter((q) => q.gt(q.field("n"), 0));
        for (let i = 0; i < 256; i++) query = query.filter((q) => q.gt(q.field("n"), 0));
        return query.collect();
      }
      case "documentsRead":
        // A filter reads the rows that it leaves out, all in one call.
        for (let i = 0; i < 33; i++) {
          await rows()
            .filter((q) => q.eq(q.field("n"), -1))
            .first();
        }
        return null;
      case "reads":
        for (let n = 0; n < 4097; n++) {
          await ctx.db
            .query("rows")
            .withIndex("by_n", (q) => q.eq("group", group).eq("n", n * 2))
            .first();
        }
        return null;
      case "documentsWritten":
        // In parts, each with a second of its own: how fast the processor is does not matter.
        for (let n = 0; n < 17; n++) await ctx.runMutation(internal.limits.write, { group });
        return null;
      case "bytesWritten":
        for (let n = 0; n < 17; n++) {
          await ctx.db.insert("values", { group, value: "x".repeat((1 << 20) - 400) });
        }
        return null;
      case "bytesRead": {
        const id = await ctx.db.insert("values", { group, value: "x".repeat((1 << 20) - 400) });
        for (let n = 0; n < 17; n++) await ctx.db.get("values", id);
        return null;
      }
      case "time":
        // Longer than any limit; the speed of the processor does not matter.
        for (let n = 0; n < 1e12; n++) if (n % 1e9 === 0) console.log(n);
        return null;
      default:
        throw new Error(`What is ${what}?`);
    }
  },
});

/** Writes a thousand rows. */
export const write = internalMutation({
  args: { group: v.string() },
  returns: v.null(),
  handler: async (ctx, { group }) => {
    for (let n = 0; n < 1_000; n++) await ctx.db.insert("rows", { group, n });
    return null;
  },
});

/** So many queries at once; how many answered. */
export const manyOperations = action({
  args: { count: v.number() },
  returns: v.number(),
  handler: async (ctx, { count }): Promise<number> => {
    const queries = Array.from({ length: count }, () => ctx.runQuery(internal.runtime.hidden, {}));
    return (await Promise.all(queries)).length;
  },
});

export const logs = mutation({
  args: { count: v.number() },
  returns: v.null(),
  handler: async (_ctx, { count }) => {
    for (let n = 0; n < count; n++) console.log(n);
    return null;
  },
});

/** A document of some size, and when it was committed. */
export const large = mutation({
  args: { group: v.string(), size: v.number() },
  returns: v.commitTs(),
  handler: async (ctx, { group, size }) => {
    await ctx.db.insert("values", { group, value: "x".repeat(size) });
    return ctx.db.vars.commitTs;
  },
});

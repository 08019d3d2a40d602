/** Functions that go over a limit, each by a little. */
import { v } from "convex/values";
import { mutation } from "./_generated/server.js";

export const over = mutation({
  args: { group: v.string(), what: v.string() },
  returns: v.any(),
  handler: async (ctx, { group, what }) => {
    const rows = () => ctx.db.query("rows").withIndex("by_n", (q) => q.eq("group", group));
    switch (what) {
      case "paginateTwice":
        await rows().paginate({ numItems: 1, cursor: null });
        return rows().paginate({ numItems: 1, cursor: null });
      case "operators": {
        let query = rows().filter((q) => q.gt(q.field("n"), 0));
        for (let i = 0; i < 256; i++) query = query.filter((q) => q.gt(q.field("n"), 0));
        return query.collect();
      }
      case "reads":
        for (let n = 0; n < 4097; n++) {
          await ctx.db
            .query("rows")
            .withIndex("by_n", (q) => q.eq("group", group).eq("n", n * 2))
            .first();
        }
        return null;
      case "documentsWritten":
        for (let n = 0; n < 16_001; n++) await ctx.db.insert("rows", { group, n });
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
        for (const from = performance.now(); performance.now() - from < 3_000;);
        return null;
      default:
        throw new Error(`What is ${what}?`);
    }
  },
});

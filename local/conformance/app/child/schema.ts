import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  /** Same name as one of the app's tables, so that the two can be seen to be apart. */
  rows: defineTable({ group: v.string(), n: v.number() }).index("by_n", ["group", "n"]),
});

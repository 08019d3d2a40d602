import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  /** The answers of the dashboard's `authorize`, one row: tests write it. Without the row, everything is allowed. */
  leave: defineTable({
    see: v.boolean(),
    act: v.boolean(),
    hide: v.boolean(),
    trap: v.boolean(),
  }),
});

import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  /** The rows of most cases: each case has a `group` of its own. */
  rows: defineTable({
    group: v.string(),
    n: v.number(),
    label: v.optional(v.string()),
    note: v.optional(v.any()),
  })
    .index("by_n", ["group", "n"])
    .index("by_label", ["group", "label"]),

  /** A commit's own timestamp; also the proof that two transactions overlapped. */
  stamps: defineTable({ group: v.string(), n: v.number(), ts: v.commitTs() })
    .index("by_ts", ["group", "ts"])
    .index("by_n", ["group", "n"]),

  /** Any value, in an index over it. */
  values: defineTable({ group: v.string(), value: v.optional(v.any()) }).index("by_value", [
    "group",
    "value",
  ]),

  /** Read from one end to the other by one case, which alone writes to it. */
  scanned: defineTable({ n: v.number() }),

  /** A table with a validator of its own for everything. */
  strict: defineTable({
    group: v.string(),
    kind: v.union(v.literal("a"), v.literal("b")),
    size: v.optional(v.int64()),
    other: v.optional(v.id("rows")),
  }),
});

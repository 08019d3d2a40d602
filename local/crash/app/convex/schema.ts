import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  /** One for each call of a client, which makes up the key. */
  entries: defineTable({ round: v.number(), key: v.string(), kind: v.string() })
    .index("by_round", ["round", "key"])
    .index("by_key", ["key"]),
  /** The rows of scheduled functions. */
  runs: defineTable({ round: v.number(), key: v.string(), what: v.string() })
    .index("by_round", ["round", "key", "what"])
    .index("by_what", ["what", "key"]),
  /** Read, changed and written by every entry of its shard. */
  counters: defineTable({ shard: v.number(), entries: v.number() }).index("by_shard", ["shard"]),
});

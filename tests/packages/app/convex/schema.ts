import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  /** A log of events, in order: tests read it by subject. */
  lines: defineTable({ about: v.string(), text: v.string() }).index("about", ["about"]),
  /** Work of the batch worker. */
  events: defineTable({ value: v.number(), insertedAt: v.commitTs() }).index("insertedAt", [
    "insertedAt",
  ]),
  /** The rows that the aggregates count. */
  scores: defineTable({ game: v.string(), player: v.string(), points: v.number() }),
});

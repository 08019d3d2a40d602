import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  /** What happened, in order: tests read it by what it is about. */
  lines: defineTable({ about: v.string(), text: v.string() }).index("about", ["about"]),
  /** Work of the batch worker. */
  events: defineTable({ value: v.number(), insertedAt: v.commitTs() }).index("insertedAt", [
    "insertedAt",
  ]),
  /** What the aggregates count. */
  scores: defineTable({ game: v.string(), player: v.string(), points: v.number() }),
});

import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  bounces: defineTable({ to: v.string(), why: v.string() }),
});

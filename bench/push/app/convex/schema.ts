/** What plain scheduling needs to be asked about, and what callers read. */
import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  /** A row a job: written by who enqueues it, and when it has ended. */
  tasks: defineTable({
    status: v.union(v.literal("pending"), v.literal("succeeded"), v.literal("failed")),
  }).index("status", ["status"]),

  /** What the callers' own mutations read. Deleted before they run, and not written while they do. */
  pages: defineTable({}),
});

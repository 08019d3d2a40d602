/** The rows by which plain scheduling answers questions, and the rows that callers read. */
import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";
import { pages } from "../../../ownWork.js";

export default defineSchema({
  /** A row a job: written by its enqueue, and when it has ended. */
  tasks: defineTable({
    status: v.union(
      v.literal("pending"),
      v.literal("succeeded"),
      v.literal("failed"),
      v.literal("canceled"),
    ),
    /** The function to cancel, and its job, where a cancel may come. */
    run: v.optional(v.id("_scheduled_functions")),
    n: v.optional(v.number()),
  }).index("status", ["status"]),

  pages,
});

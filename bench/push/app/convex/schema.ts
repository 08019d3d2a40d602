/** What plain scheduling needs to be asked about, and what callers read. */
import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";
import { pages } from "../../../ownWork.js";

export default defineSchema({
  /** A row a job: written by who enqueues it, and when it has ended. */
  tasks: defineTable({
    status: v.union(
      v.literal("pending"),
      v.literal("succeeded"),
      v.literal("failed"),
      v.literal("canceled"),
    ),
    /** What is to be canceled, and what it is the job of, where somebody may want to. */
    run: v.optional(v.id("_scheduled_functions")),
    n: v.optional(v.number()),
  }).index("status", ["status"]),

  pages,
});

/** The rows by which plain scheduling answers questions, and the rows that jobs write. */
import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  /** A row a job: written by its enqueue, and when it has ended. */
  tasks: defineTable({ status: v.union(v.literal("pending"), v.literal("succeeded")) }),
  /** A row of each job that saves something. */
  saved: defineTable({ n: v.number() }),
  /** One row, which jobs or their callbacks patch, and the app's own mutation too. */
  counter: defineTable({ count: v.number() }),
});

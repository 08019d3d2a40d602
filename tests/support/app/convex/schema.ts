import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  /** The rows of `onComplete`: one per finished job, or a test fails. */
  done: defineTable({
    job: v.string(),
    n: v.number(),
    status: v.string(),
    worker: v.optional(v.string()),
    attempt: v.number(),
  })
    .index("job", ["job"])
    .index("n", ["n"]),
  /** Notes of handlers inside Convex. */
  notes: defineTable({ n: v.number(), what: v.string(), at: v.number() }).index("n", ["n"]),
  /** One row that the whole app patches; `told` counts the calls of `onComplete` of the queue `hot`. */
  hot: defineTable({ bumps: v.number(), told: v.number() }),
  /** Rows that are jobs: see `parcels.ts`. */
  parcels: defineTable({ status: v.string(), n: v.number() }).index("by_status", ["status", "n"]),
  crates: defineTable({ status: v.string(), n: v.number() }).index("by_status", ["status", "n"]),
  /** For the negative control of the race test: a queue as one would first write it. */
  tickets: defineTable({ takenBy: v.union(v.string(), v.null()) }).index("takenBy", ["takenBy"]),
});

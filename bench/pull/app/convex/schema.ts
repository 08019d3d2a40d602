/** The tables of the two patterns. Conveyor's tables are its own. */
import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";
import { vWork } from "./builders.js";

export default defineSchema({
  /** A row a job. Written when it comes, when it is claimed, when its worker says that it is alive, and when it ends. */
  farmJobs: defineTable({
    work: vWork,
    status: v.union(
      v.literal("pending"),
      v.literal("inProgress"),
      v.literal("succeeded"),
      v.literal("timedOut"),
    ),
    lastUpdate: v.number(),
    worker: v.optional(v.id("farmWorkers")),
    /** Ends it if its worker says nothing more. */
    janitor: v.optional(v.id("_scheduled_functions")),
  }).index("by_status", ["status", "lastUpdate"]),

  /** The authorized workers. Read by every call of a worker, and not written meanwhile. */
  farmWorkers: defineTable({ apiKey: v.string() }).index("by_key", ["apiKey"]),

  /** A row an item. Written when it comes, when it is claimed, when its worker says that it is alive, and when it is put back. */
  ringItems: defineTable({
    work: vWork,
    /** Whether it goes on round the ring. */
    active: v.boolean(),
    /** How often it is still to be worked on. */
    turns: v.number(),
    /** Its place in the ring: when it was put at the end; while it is claimed, when that lease is over. */
    dueAt: v.number(),
    worker: v.optional(v.string()),
  }).index("by_place", ["active", "dueAt"]),
});

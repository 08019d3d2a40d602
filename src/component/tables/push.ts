/**
 * The tables of queues that Convex itself works off. Each comment is the table's concurrency document.
 */
import { defineTable } from "convex/server";
import { v } from "convex/values";
import { vGateState, vLaneState } from "../stored.js";

export const pushTables = {
  /**
   * Whether somebody is sure to look at what becomes claimable: one row a queue, a few changes a minute, never at the rate
   * of jobs. Read by whatever makes a job claimable: `quiet` from a snapshot, since a wake too many does no harm; anything
   * else for real, since a stale one would lose the job. Written by wakes, and by the lane that it names.
   */
  gates: defineTable({
    queue: v.string(),
    state: vGateState,
    /** Guarded: the lane that looks again and again. */
    guard: v.optional(v.id("lanes")),
    /** Full for want of a slot of the scheduler: a lane of any queue that ends sees to a wake. */
    needsSlot: v.optional(v.boolean()),
  })
    .index("queue", ["queue"])
    .index("needsSlot", ["needsSlot"]),

  /**
   * Lanes: workers inside Convex, asleep or awake. Their caps add up to the queue's `maxParallelism` at most, so that no
   * more run, whoever starts them. Patched when a lane starts, leaves, or gives away room that it does not use; read for
   * real, all of a queue's, by wakes and by its lanes. What a lane holds is in its row of `holders`, which changes with
   * every call.
   */
  lanes: defineTable({
    queue: v.string(),
    holder: v.id("holders"),
    state: vLaneState,
    /** How many jobs it may run; 0 while it is asleep. */
    cap: v.number(),
    /** One more at every start: a lane of an older one takes nothing any more. */
    generation: v.number(),
    scheduledId: v.optional(v.id("_scheduled_functions")),
    startedAt: v.number(),
    leftAt: v.optional(v.number()),
  })
    .index("queue", ["queue", "state"])
    .index("state", ["state"]),
};

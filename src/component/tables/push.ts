/**
 * The tables of queues that Convex itself works off. Each comment is the table's concurrency document.
 */
import { defineTable } from "convex/server";
import { v } from "convex/values";
import { vGateState, vLaneState } from "../stored.js";

export const pushTables = {
  /**
   * Who looks at what becomes claimable: one row a queue. Whatever makes a job claimable looks at it in a snapshot, and
   * depends on nothing where it finds `quiet` or `leaving`: a wake too many does no harm. Read for real, and written, by
   * wakes and lanes of the queue only, so that it may change while callers are busy.
   */
  gates: defineTable({
    queue: v.string(),
    state: vGateState,
    /** Guarded, or leaving: the lane that looks again and again. */
    guard: v.optional(v.id("lanes")),
    /** Full for want of a slot of the scheduler: a lane of any queue that ends sees to a wake. */
    needsSlot: v.optional(v.boolean()),
  })
    .index("queue", ["queue"])
    .index("needsSlot", ["needsSlot"]),

  /**
   * Whether it may be left to others to look: one row a queue, apart from the gate since callers depend on it. Who saw in a
   * snapshot that somebody looks reads it for real. It is shut, by the lane that goes, when the gate has told newcomers for
   * {@link LANE_LOOKS_MAX} looks not to come by here: so only a caller that takes longer than that meets the change. Open
   * wherever the gate is not quiet; whoever shuts it schedules a wake in the same transaction.
   */
  doors: defineTable({
    queue: v.string(),
    open: v.boolean(),
  }).index("queue", ["queue"]),

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
    /** Asleep, it keeps the room of one job: whoever brings one alone starts it without a look at the others. */
    isSpare: v.optional(v.literal(true)),
    /** The `maxParallelism` under which it was given its cap: while that stands, so does the cap. */
    under: v.optional(v.number()),
    /** One more at every start: a lane of an older one takes nothing any more. */
    generation: v.number(),
    scheduledId: v.optional(v.id("_scheduled_functions")),
    startedAt: v.number(),
    /** The janitor's timer that its wake had to make, where nothing had run for a while: it may call that off. */
    sweep: v.optional(v.id("timers")),
    /** Older versions wrote here when it ended. Nobody reads it. */
    leftAt: v.optional(v.number()),
  })
    .index("queue", ["queue", "state"])
    .index("state", ["state"]),
};

/** One queue and its lanes: as much of both as the handshake between them needs. */
import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";
import { pages } from "../../../ownWork.js";

export const vStatus = v.union(v.literal("pending"), v.literal("running"), v.literal("done"));

export default defineSchema({
  /**
   * Written by its enqueue, then by its claim and by the lane that completes it. `enqueuedTs` and `startedAt` are for
   * the measurement alone.
   */
  jobs: defineTable({
    status: vStatus,
    /** The number of the lane that scans it first. */
    shard: v.number(),
    seq: v.commitTs(),
    enqueuedTs: v.commitTs(),
    startedAt: v.optional(v.number()),
  }).index("status", ["status", "shard", "seq"]),

  /**
   * One row. Quiet: every enqueue schedules a wake. Busy: every lane is awake and polls. Written by a wake that finds
   * jobs and no sleeping lane, and by a lane that wants to leave; read by every enqueue.
   */
  gate: defineTable({ state: v.union(v.literal("quiet"), v.literal("busy")) }),

  /**
   * One row, for the way that announces. Open: a caller that has seen a busy gate may rely on it, and depends on this
   * row. A lane that wants to leave turns the gate first, and shuts this only after callers had time to commit.
   */
  door: defineTable({ open: v.boolean() }),

  /** Written by the caller or wake that wakes a lane, and by the lane when it leaves. */
  lanes: defineTable({
    n: v.number(),
    cap: v.number(),
    state: v.union(v.literal("asleep"), v.literal("awake")),
  }).index("state", ["state", "n"]),

  pages,
});

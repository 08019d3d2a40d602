/** The tables of pushed queues, which Convex itself runs. Each comment is the table's concurrency document. */
import { defineTable } from "convex/server";
import { v } from "convex/values";
import { vLaneStart } from "../../../shared/index.js";
import { vGateState, vProcessState } from "../stored.js";

export const pushTables = {
  /**
   * Whether a lane polls for claimable jobs: one row a queue. A transaction that makes a job claimable reads it in a
   * snapshot, and depends on nothing where it finds `quiet` or `leaving`: a wake too many does no harm. Read for real,
   * and written, by wakes and lanes of the queue, and by sweeps, claims and checks that find its lane dead; so it may
   * change while callers are busy.
   */
  gates: defineTable({
    queue: v.string(),
    state: vGateState,
    /** Guarded, or leaving: the polling lane. */
    guard: v.optional(v.id("lanes")),
    /** The lane that polls, or that polled last, has found no job. */
    isVain: v.optional(v.boolean()),
  }).index("queue", ["queue"]),

  /**
   * Whether polling may be left to a lane: one row per queue, apart from the gate since callers depend on it. A
   * transaction that saw a polling lane in a snapshot reads it for real. It is shut by the lane that goes, once the
   * gate has kept newcomers away from it for {@link LANE_LOOKS_MAX} polls: so only a caller that takes longer than that
   * conflicts with the change. Open wherever the gate is not quiet; the lane that shuts it schedules a wake in the same
   * transaction.
   */
  doors: defineTable({
    queue: v.string(),
    open: v.boolean(),
  }).index("queue", ["queue"]),

  /**
   * Lanes: workers inside Convex, each of one queue. Their caps add up to the queue's `maxParallelism` at most, so that
   * no more jobs run, in any process. A lane that is asleep may keep a cap of one, for a wake that brings one job
   * alone. Patched when a cap changes; read for real, all of a queue's, by wakes that bring more and by lanes that
   * grow. Whether a lane is awake, and its leases, are in its row of `sessions`.
   */
  lanes: defineTable({
    queue: v.string(),
    session: v.id("sessions"),
    /** How many jobs it may run; asleep, 0 or 1. */
    cap: v.number(),
    /** The `maxParallelism` under which it was given its cap: while that stands, so does the cap. */
    under: v.optional(v.number()),
  }).index("queue", ["queue"]),

  /**
   * The slots of the mount: a row for each process that may run at once. Written when a process starts and when it
   * ends. A wake reads some in a snapshot, and one for real: the slot that it takes, or the process to which it hands
   * its lane.
   */
  processes: defineTable({
    number: v.number(),
    state: vProcessState,
    /** The app's action in which it runs: that of inline handlers. Absent: the component's own. */
    action: v.optional(v.string()),
    /** One more at every start: a process of an older one changes nothing here. */
    generation: v.number(),
    openedAt: v.number(),
    scheduledId: v.optional(v.id("_scheduled_functions")),
  }).index("state", ["state", "number"]),

  /**
   * Places that a process has above the one that each has: how many more jobs it may run at once. A row from the first of
   * them on. Written when a process asks for more, gives some back, or ends. All are read for real by a transaction that
   * gives places, so that the total never exceeds the places of the class. Apart from `processes`, which every
   * hand-over depends on.
   */
  grants: defineTable({
    process: v.id("processes"),
    extra: v.number(),
    /** So many it has given back in all. */
    givenBack: v.optional(v.number()),
  }).index("process", ["process"]),

  /**
   * Lanes that were handed to a process. Inserted by a wake, after a real read of the process's row; reported to the
   * process by a read that ends at its snapshot, so that it conflicts with no insert; deleted by the lane's first call.
   * A process that ends reads its rows for real.
   */
  handOvers: defineTable({
    process: v.id("processes"),
    /** That of the process: an older one, canceled, may still run, and receives no lane. */
    generation: v.number(),
    start: vLaneStart,
    seq: v.commitTs(),
  }).index("process", ["process", "seq"]),

  /**
   * Queues with jobs that wait for a slot or for places: one row each. Inserted by a wake that finds neither; deleted
   * by the main loop, which wakes them. A process that ends reads the first for real.
   */
  waitingQueues: defineTable({
    queue: v.string(),
    /** Whether it runs two jobs or more: the places that are kept for queues that run less are not for it. */
    isServed: v.boolean(),
  })
    .index("queue", ["queue"])
    .index("isServed", ["isServed"]),
};

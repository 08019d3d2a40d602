/** Shapes that stand in several tables. */
import { v } from "convex/values";
import { vTimedOutCode } from "../../shared/index.js";

/**
 * A payload or result where it lies: in the row that names it, or, over 512 bytes, in a row of `payloads`, with its
 * size beside: a reader that only passes it by need not read it.
 */
export const vStored = v.union(
  v.object({ inline: v.any() }),
  v.object({ row: v.id("payloads"), bytes: v.number() }),
);

/** A place in the order of one band of one shard: all rows of one transaction share `seq`. */
export const vKey = v.object({ seq: v.int64(), creationTime: v.number() });

/** A lower bound in one band of one shard: no row with a smaller key is claimable, or can become so. */
export const vBound = v.object({ order: v.number(), shard: v.number(), ...vKey.fields });

/** An outcome that `onComplete` is to receive. */
export const vOwedOutcome = v.union(
  v.object({ status: v.literal("succeeded"), result: vStored }),
  v.object({ status: v.literal("failed"), error: v.string() }),
  v.object({ status: v.literal("timedOut"), error: v.string(), code: v.optional(vTimedOutCode) }),
  v.object({ status: v.literal("canceled"), error: v.string() }),
);

/** Purposes of scheduled functions that must exist. */
export const vTimerKind = v.union(
  /** Sweeps leases that were not renewed. One for all queues. */
  v.literal("janitor"),
  /** Promotes the scheduled jobs of one segment of one queue. */
  v.literal("dispatcher"),
  /** Fails the jobs of one segment that were not begun in time. */
  v.literal("expiry"),
  /** Counts finished jobs into `periods`, while there are new ones. */
  v.literal("rollUp"),
  /** Counts new jobs of all queues where no roll-up does so beside its own. */
  v.literal("arrivals"),
  /** Deletes finished jobs after their retention, while there are any. */
  v.literal("purge"),
  /** Continues a task over many jobs. */
  v.literal("bulk"),
);

/** The state of polling for claimable jobs in a pushed queue. */
export const vGateState = v.union(
  /** No lane polls: a transaction that makes a job claimable ensures a wake. */
  v.literal("quiet"),
  /** A lane with room polls. */
  v.literal("guarded"),
  /**
   * The same, but it is about to go: a transaction that makes a job claimable now ensures a wake. The lane polls for as
   * long as the door is open.
   */
  v.literal("leaving"),
  /** No lane can be started: the transaction that frees capacity searches for jobs. */
  v.literal("full"),
);

/** See `shared/mainLoop.ts`. */
export const vProcessState = v.union(v.literal("free"), v.literal("open"), v.literal("receiving"));

/** One call of `onComplete` that is to be made. */
export const owedFields = {
  job: v.id("jobs"),
  /** The handle of the app's mutation. */
  handle: v.string(),
  attempt: v.number(),
  worker: v.optional(v.string()),
  outcome: vOwedOutcome,
  /** The job, or a round of it, has ended before: that end may still be owed, and is delivered first. */
  again: v.optional(v.boolean()),
};

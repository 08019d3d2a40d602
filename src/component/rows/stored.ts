/** Shapes that stand in several tables. */
import { v } from "convex/values";
import { vCompat, vTimedOutCode } from "../../shared/index.js";

/**
 * A payload or result where it lies: in the row that names it, or, over 512 bytes, in a row of `payloads`, of which it is known
 * how large it is: whoever only passes it by need not read it. Rows of older versions do not say.
 */
export const vStored = v.union(
  v.object({ inline: v.any() }),
  v.object({ row: v.id("payloads"), bytes: v.optional(v.number()) }),
);

/** A place in the order of one band of one shard: all rows of one transaction share `seq`. */
export const vKey = v.object({ seq: v.int64(), creationTime: v.number() });

/** A lower bound in one band of one shard: no row with a smaller key is claimable, or can become so. */
export const vBound = v.object({ order: v.number(), shard: v.number(), ...vKey.fields });

/** An outcome that `onComplete` is to be told. */
export const vOwedOutcome = v.union(
  v.object({ status: v.literal("succeeded"), result: vStored }),
  v.object({ status: v.literal("failed"), error: v.string() }),
  v.object({ status: v.literal("timedOut"), error: v.string(), code: v.optional(vTimedOutCode) }),
  v.object({ status: v.literal("canceled"), error: v.string() }),
);

/** What a scheduled function that must exist is for. */
export const vTimerKind = v.union(
  /** Sweeps leases that nobody renewed. One for all queues. */
  v.literal("janitor"),
  /** Promotes the scheduled jobs of one segment of one queue. */
  v.literal("dispatcher"),
  /** Fails the jobs of one segment that nobody began in time. */
  v.literal("expiry"),
  /** Counts finished jobs into `minutes`, while there are new ones. */
  v.literal("rollUp"),
  /** Counts new jobs of all queues where no roll-up does so beside its own. */
  v.literal("arrivals"),
  /** Deletes finished jobs whose retention is over, while there are any. */
  v.literal("purge"),
  /** Goes on with what somebody asked for many jobs at once. */
  v.literal("bulk"),
);

/** Who looks at what becomes claimable in a queue that Convex works off. */
export const vGateState = v.union(
  /** Nobody: whatever becomes claimable sees to a wake. */
  v.literal("quiet"),
  /** A lane with room, which looks again and again. */
  v.literal("guarded"),
  /** The same, but it is about to go: who comes now sees to a wake. It looks for as long as the door is open. */
  v.literal("leaving"),
  /** Nobody can be started: whoever frees capacity looks. */
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
  /** The job, or a round of it, has ended before: that end may still be owed, and is told first. */
  again: v.optional(v.boolean()),
  /** In whose words it is told; absent: our own. */
  compat: v.optional(vCompat),
};

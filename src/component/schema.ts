/**
 * The component's tables. Each comment is the table's concurrency document: who writes it, when, who reads it, and
 * why it is apart. Every index costs bytes with every write of its table, so there are as few as can be.
 */
import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";
import { vAnswer, vHolderState, vQueueConfig, vStatus } from "../shared/index.js";

/** A payload or result where it lies: in the row that names it, or, over 512 bytes, in a row of `payloads`. */
export const vStored = v.union(v.object({ inline: v.any() }), v.object({ row: v.id("payloads") }));

/** A lower bound in one band of one shard: no row with a smaller key is claimable, or can become so. */
export const vBound = v.object({
  order: v.number(),
  shard: v.number(),
  seq: v.int64(),
  /** The rest of the key. All rows of one transaction share `seq`. */
  creationTime: v.number(),
});

/** An outcome that `onComplete` is to be told. */
export const vOwedOutcome = v.union(
  v.object({ status: v.literal("succeeded"), result: vStored }),
  v.object({ status: v.literal("failed"), error: v.string() }),
  v.object({ status: v.literal("timedOut"), error: v.string() }),
  v.object({ status: v.literal("canceled"), error: v.string() }),
);

/** One call of `onComplete` that is to be made. */
export const owedFields = {
  job: v.id("jobs"),
  /** The handle of the app's mutation. */
  handle: v.string(),
  attempt: v.number(),
  worker: v.optional(v.string()),
  outcome: vOwedOutcome,
};

export default defineSchema({
  /**
   * One row a queue: its configuration, as code last declared it.
   *
   * Written by the first call that declares the queue, and by one that declares it differently (at most every ten
   * seconds). Read by every enqueue, claim and complete, so nothing that moves may ever be kept here: cursors,
   * counters and positions have tables of their own.
   */
  queues: defineTable({
    name: v.string(),
    config: vQueueConfig,
    /** When `config` was last written. */
    configuredAt: v.number(),
    /** The most shards the queue ever had: jobs may still lie in those that new jobs no longer go to. */
    shardsEver: v.number(),
    /** Cursors of an older epoch are forgotten: after a restore, rows with an old `seq` may have come in. */
    epoch: v.number(),
  }).index("name", ["name"]),

  /**
   * One row a job, about 300 bytes without its payload.
   *
   * Inserted by `enqueue`, which reads nothing here. Patched by whoever moves the job along an edge of the state
   * machine (`transitions.ts`), after a read by id: two that want the same job conflict, and one of them runs again.
   * Looked at by claims and by the janitor in a snapshot, which depends on nothing; by `hasWork` and `counts` in a
   * subscription.
   *
   * The one index serves claiming, counting, and later promotion, listing and retention:
   * - `order`: for pending jobs the band (see `shared/order.ts`), for scheduled ones when they are due, else 0.
   * - `shard`: the part of the queue in which a pending job lies; 0 for any other.
   * - `seq`: the commit timestamp. Every write that makes a job claimable or moves it to another status writes
   *   `commitTs`, and no code ever writes another value: on this rest all cursors.
   */
  jobs: defineTable({
    queue: v.string(),
    status: vStatus,
    order: v.number(),
    shard: v.number(),
    seq: v.commitTs(),
    payload: vStored,
    enqueuedAt: v.number(),
    /** The fencing token: one more at every claim, never set back. */
    attempt: v.number(),
    failures: v.number(),
    resets: v.number(),
    releases: v.number(),
    /** How many of the releases were of leases that their holder never learnt of. Absent is 0. */
    unacknowledged: v.optional(v.number()),
    /** Of the last attempt; who may say that it has already been recorded. */
    holder: v.optional(v.id("holders")),
    worker: v.optional(v.string()),
    startedAt: v.optional(v.number()),
    finishedAt: v.optional(v.number()),
    result: v.optional(vStored),
    error: v.optional(v.string()),
  }).index("status", ["queue", "status", "order", "shard", "seq"]),

  /**
   * Payloads and results over 512 bytes. Inserted once, never patched, read by id: no two transactions meet here.
   * Apart because a job's row is written at every edge, and what it carries is written each time.
   */
  payloads: defineTable({ value: v.any() }),

  /**
   * One row a worker session: its leases, its call counter, and what its last call was answered.
   *
   * This row *is* the lease: a job is running if and only if it stands in the leases of its holder. A short job costs
   * no heartbeat, a long one a small patch of this row for all that the worker holds. One writer, the worker's
   * process, whose calls come one at a time (beats beside them); and the janitor, once `expiresAt` has passed.
   * Claims read other rows in a snapshot only, to find their rank and the first expired lease.
   */
  holders: defineTable({
    session: v.string(),
    token: v.id("tokens"),
    name: v.string(),
    state: vHolderState,
    /** Active: the last call or beat and the shortest lease held. Otherwise: when it was last seen. */
    expiresAt: v.number(),
    lastSeenAt: v.number(),
    /** The queues it last claimed from: among their holders it has its rank. */
    queues: v.array(v.string()),
    leases: v.array(
      v.object({
        id: v.id("jobs"),
        queue: v.string(),
        attempt: v.number(),
        /** The call that claimed it: a repeat of that call is given it again. */
        n: v.number(),
        leaseMs: v.number(),
        /** Its row of `progress`, to be overwritten, and deleted with the lease. */
        progress: v.optional(v.id("progress")),
      }),
    ),
    /** The last call of `claim` or `complete`. */
    n: v.number(),
    /** Whether the holder is known to have learnt of the leases of call `n`. */
    acknowledged: v.boolean(),
    /** What call `n` was answered, for when it is repeated. Its jobs are read again. */
    reply: v.object({ answers: v.array(vAnswer), cursor: v.optional(v.string()) }),
  })
    .index("session", ["session"])
    .index("state", ["state", "expiresAt"]),

  /**
   * How far running jobs have come. Written by their worker a few times a second, read by the pages that watch them.
   * Apart because a patch of the job's row would touch its index, and the holder's row would wake every page.
   */
  progress: defineTable({
    job: v.id("jobs"),
    attempt: v.number(),
    value: v.any(),
    updatedAt: v.number(),
  }).index("job", ["job"]),

  /**
   * Every scheduled function that must exist; in this version the janitor's sweep. One row as a rule.
   *
   * Inserted by a claim whose snapshot shows none, blindly; read for real, by id, by a claim whose snapshot shows one;
   * patched by the sweep that schedules its next, deleted by the sweep that goes: a few times a minute.
   */
  timers: defineTable({
    kind: v.literal("janitor"),
    /** Overdue by 5 s, it is taken for dead: another is inserted, whose sweep deletes this one. */
    dueAt: v.number(),
    /** Absent only within the transaction that inserts the row. */
    scheduledId: v.optional(v.id("_scheduled_functions")),
  }).index("kind", ["kind"]),

  /**
   * Public cursors: below them nothing is claimable by anyone. One row a queue, written by the janitor only, from one
   * snapshot, every few seconds while anything is leased. Read by `hasWork` and, in a snapshot, by claims. Apart from
   * `queues` because it moves.
   */
  cursors: defineTable({
    queue: v.string(),
    epoch: v.number(),
    publishedAt: v.number(),
    bounds: v.array(vBound),
  }).index("queue", ["queue"]),

  /**
   * Outcomes that `onComplete` still has to be told. A row is inserted in the transaction that finishes the job when
   * the callback cannot be run in it, and deleted in the transaction of the callback itself: told exactly once.
   * `dead` rows have been tried ten times and keep their error for people.
   */
  callbacks: defineTable({
    ...owedFields,
    state: v.union(v.literal("owed"), v.literal("dead")),
    /** How often it was started alone. */
    tries: v.number(),
    error: v.optional(v.string()),
    /** When `planned` runs. */
    dueAt: v.number(),
    /** The scheduled function that starts the next try, or gives up. */
    planned: v.optional(v.id("_scheduled_functions")),
    /** The scheduled function of the last try; how it ended says why the row is still here. */
    trying: v.optional(v.id("_scheduled_functions")),
  })
    .index("job", ["job"])
    .index("state", ["state", "dueAt"]),

  /**
   * Worker credentials. Written by people, a few times a year; read by every worker call through the hash. The secret
   * itself is nowhere.
   */
  tokens: defineTable({
    name: v.string(),
    /** SHA-256 of the token, in hex. */
    hash: v.string(),
    /** The queues it may serve; `null` for all. */
    queues: v.union(v.array(v.string()), v.null()),
    createdAt: v.number(),
    revokedAt: v.optional(v.number()),
  }).index("hash", ["hash"]),
});

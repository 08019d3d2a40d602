/**
 * The tables of work: queues, their jobs, and the rows of a job. Each comment is the table's concurrency document: its
 * writers, the time of each write, its readers, and why it is apart.
 */
import { defineTable } from "convex/server";
import { v } from "convex/values";
import {
  vBlocked,
  vJobRules,
  vListBy,
  vQueueConfig,
  vQueueOverrides,
  vStatus,
  vTimedOutCode,
} from "../../../shared/index.js";
import { vStored, owedFields } from "../stored.js";

export const jobTables = {
  /**
   * One row per queue: its configuration, as code last declared it, and the overrides set at run time.
   *
   * Written by the first call that declares the queue, by one that declares it differently (at most once per
   * second), and by people: pause, resume, drain, configure. Read by every enqueue, claim and complete, so nothing
   * that moves may ever be kept here: cursors, counters and positions have tables of their own.
   */
  queues: defineTable({
    name: v.string(),
    config: vQueueConfig,
    /** When `config` was last written. */
    configuredAt: v.number(),
    /** The most shards the queue ever had: old jobs may still lie in shards that new jobs no longer go to. */
    shardsEver: v.number(),
    /** Cursors of an older epoch are forgotten: after a restore, rows with an old `seq` may have come in. */
    epoch: v.number(),
    /** They win over `config` until they are reset. */
    overrides: v.optional(vQueueOverrides),
    /** Since when no job may be claimed. Absent: claims go on. */
    pausedAt: v.optional(v.number()),
    /** Since when no job may be enqueued. Absent: new jobs are welcome. */
    drainingAt: v.optional(v.number()),
  }).index("name", ["name"]),

  /**
   * Where the waiting jobs of a queue lie besides its plain place: one row for each set of labels and class of cost,
   * with the priorities in use. `number` is the part of the index (`jobs.shard` = `number` × 64 + shard) that these
   * jobs have to themselves, so that a claim reads where it may take, and passes no row that it may not.
   *
   * Inserted by the first job of its kind, patched by the first of a priority: a few times in a queue's life. Read for
   * real, by key, by every transaction that makes such a job claimable; read by claims in a snapshot; in the read set
   * of `hasWork`. Jobs of priority 0, cost 1 and no labels lie in place 0, which has no row and costs no read. Deleted,
   * or patched without a priority, after a real read that no job waits there: by the purge of a queue that has many,
   * and by the job of a new kind that finds all numbers taken.
   */
  routes: defineTable({
    queue: v.string(),
    /** Labels and cost class in one string: see `shared/routes.ts`. */
    key: v.string(),
    labels: v.array(v.string()),
    /** Jobs here cost from 2^costClass up to twice that. */
    costClass: v.number(),
    number: v.number(),
    priorities: v.array(v.number()),
  }).index("queue", ["queue", "key"]),

  /**
   * Rules that jobs have of their own: retry rule, bounds, callback. Interned: one row for all jobs with the same,
   * never patched. Inserted by the first job that says so, read by id at the edges of such a job's life. Never deleted:
   * rules come from code, which declares few different ones, and to find out whether any job still names a row would
   * cost each job more than the row does. The workers of a token bring so many at most.
   */
  jobRules: defineTable({
    /** The rules as canonical JSON. */
    key: v.string(),
    rules: vJobRules,
    /** Of a row that a worker's job brought: its token, and which of the token's rows it is, from 1 on. */
    token: v.optional(v.id("tokens")),
    count: v.optional(v.number()),
  })
    .index("key", ["key"])
    .index("token", ["token", "count"]),

  /**
   * One row per job, about 300 bytes without its payload.
   *
   * Inserted by `enqueue`, which reads nothing here. Patched by every transaction that moves the job along an edge of
   * the state machine (`transitions.ts`), after a read by id: two that want the same job conflict, and one of them
   * retries. Read by claims and by the janitor in a snapshot, which adds nothing to a read set; by `hasWork` and
   * `counts` in a subscription.
   *
   * The one index serves claiming, promotion, counting, roll-up and retention:
   * - `order`: for pending jobs the band (see `shared/order.ts`), for scheduled ones when they are due, else 0.
   * - `shard`: the route and shard of the queue in which a pending job lies; 0 for any other.
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
    /** These three: absent is 0. Nearly every job has none of them, and is written three times. */
    failures: v.optional(v.number()),
    resets: v.optional(v.number()),
    releases: v.optional(v.number()),
    /** How many of the releases were of leases that their session never learnt of. Absent is 0. */
    unacknowledged: v.optional(v.number()),
    /** Of the last attempt; it may repeat the report of the outcome already recorded. */
    session: v.optional(v.id("sessions")),
    worker: v.optional(v.string()),
    startedAt: v.optional(v.number()),
    finishedAt: v.optional(v.number()),
    /** In a circular queue, of the last round. */
    result: v.optional(vStored),
    /** Of the last attempt that failed. */
    error: v.optional(v.string()),
    name: v.optional(v.string()),
    /** Absent is 0. */
    priority: v.optional(v.number()),
    group: v.optional(v.string()),
    tags: v.optional(v.array(v.string())),
    /** Sorted, each once. */
    labels: v.optional(v.array(v.string())),
    /** Only these workers take it: until it is first claimed, or the alarm of its row in `expiries` comes. */
    prefer: v.optional(
      v.object({
        labels: v.optional(v.array(v.string())),
        worker: v.optional(v.string()),
        until: v.number(),
      }),
    ),
    /** Absent is 1. */
    cost: v.optional(v.number()),
    /** Its own rules instead of its queue's. */
    rules: v.optional(v.id("jobRules")),
    context: v.optional(vStored),
    /** The parent of its spans, as given to `enqueue`. Never changed. */
    traceparent: v.optional(v.string()),
    /** Its row of `keys`, to be given back when it ends. */
    key: v.optional(v.string()),
    /** Until when it has the key, however it ends. Absent: for as long as it is active. */
    keyUntil: v.optional(v.number()),
    /** Not begun by then, it fails. It has a row in `expiries`. */
    expiresAt: v.optional(v.number()),
    /**
     * The wake of a job that came alone, until it leaves `pending`. Where jobs are left to workers outside, a worker's claim
     * cancels it; in a storm of callers a late wake does (`surplus.ts`). Of a running job the mutation that is to record
     * its outcome, where its worker has handed it over.
     */
    wake: v.optional(v.id("_scheduled_functions")),
    /**
     * Not ended by `at`, it has timed out; a retry by hand begins `ms` anew. It has a row in `expiries`. `isPassed`: it ran when
     * the alarm of that row came.
     */
    deadline: v.optional(
      v.object({ ms: v.number(), at: v.number(), isPassed: v.optional(v.boolean()) }),
    ),
    /** Why it has timed out. */
    code: v.optional(vTimedOutCode),
    paused: v.optional(v.boolean()),
    /** A worker with a token continued with it, and gave it labels, a cost or a priority: it has half of the routes. */
    ofWorker: v.optional(v.boolean()),
    /** Its end was requested while it runs. It has a row in `cancels`. */
    cancelRequestedAt: v.optional(v.number()),
    cancelReason: v.optional(v.string()),
    /** Names of the workers that failed it last: a retry prefers other workers. */
    failedBy: v.optional(v.array(v.string())),
    /** It had ended before, and was retried. */
    retried: v.optional(v.boolean()),
    /** In a circular queue: how often it has been worked on. Absent is 0. */
    rounds: v.optional(v.number()),
  }).index("status", ["queue", "status", "order", "shard", "seq"]),

  /**
   * Payloads and results over 512 bytes. Inserted once, never patched, read by id: no two transactions conflict here.
   * Apart because a job's row is written at every edge, and a value in it would be written each time.
   */
  payloads: defineTable({ value: v.any() }),

  /**
   * Uniqueness keys: a row for each active job that has one. Inserted by `enqueue` after a real read by queue and key;
   * deleted on every way out of the active statuses, in that transaction. A row with `until` stays until then, however
   * its job ends.
   */
  keys: defineTable({
    queue: v.string(),
    key: v.string(),
    job: v.id("jobs"),
    until: v.optional(v.number()),
  })
    .index("key", ["queue", "key"])
    .index("until", ["queue", "until"]),

  /**
   * Of a queue whose jobs are rows of the app's own table: whether rows were announced since a claim found none; of a loop
   * over batches of rows how many there were, and the cursor that the last returned. One row per such queue. Written by the
   * first announcement and by the claim that finds no more rows, twice in a busy period; by each batch of a loop. Read by
   * these, by the subscriptions of idle workers, and by the app's announcements. Apart because `queues` is read by every call.
   */
  announced: defineTable({
    queue: v.string(),
    more: v.boolean(),
    turn: v.optional(v.number()),
    cursor: v.optional(v.any()),
  }).index("queue", ["queue"]),

  /**
   * Marks by which the jobs of a queue are listed besides their status, where the queue asks for it: a row for each tag
   * of a job, and for its group. Inserted with the job, never patched, deleted with it; read by lists alone: a
   * transaction that moves the job does not conflict with them. Apart because an index of `jobs` costs every job of
   * every queue, at every edge.
   */
  marks: defineTable({
    queue: v.string(),
    by: vListBy,
    value: v.string(),
    job: v.id("jobs"),
  })
    .index("value", ["queue", "by", "value"])
    .index("job", ["job"]),

  /**
   * Jobs that must have begun, or ended, by a certain time, or are left to some workers until then: a row for each such
   * bound of a job. Inserted by `enqueue` and, for a deadline, by `retry`; deleted by the expiry's timer of its segment, which
   * ends the job if it still waits, or ends its preference. Apart because a job's own index gives its place, and cannot give the
   * end of its wait.
   */
  expiries: defineTable({ queue: v.string(), at: v.number(), job: v.id("jobs") }).index("at", [
    "queue",
    "at",
  ]),

  /**
   * Attempts that did not succeed: success costs no row, it is in the job's. Inserted by the edge that ends the attempt,
   * never patched, deleted with the job.
   */
  attempts: defineTable({
    job: v.id("jobs"),
    attempt: v.number(),
    outcome: v.union(
      v.literal("failed"),
      v.literal("timedOut"),
      v.literal("lost"),
      v.literal("released"),
      v.literal("snoozed"),
      v.literal("canceled"),
    ),
    /** It may repeat the report of the outcome already recorded. */
    session: v.optional(v.id("sessions")),
    worker: v.optional(v.string()),
    startedAt: v.optional(v.number()),
    endedAt: v.number(),
    error: v.optional(v.string()),
    /** Where that was thrown. Here only: the job's row moves with every edge, and pages do not receive it. */
    trace: v.optional(v.string()),
    /** Its handler could not be begun, and has not been since. */
    blocked: v.optional(v.object({ kind: vBlocked, since: v.number() })),
  }).index("job", ["job", "attempt"]),

  /**
   * Outcomes that `onComplete` still has to receive. A row is inserted in the transaction that finishes the job when
   * the callback cannot be run in it, and deleted in the transaction of the callback itself: delivered exactly once.
   * `dead` rows have been tried ten times and keep their error for people: of each job the last.
   */
  callbacks: defineTable({
    ...owedFields,
    state: v.union(v.literal("owed"), v.literal("dead")),
    /** How often it was started alone. */
    tries: v.number(),
    error: v.optional(v.string()),
    /** The next end of the same job, which waits until this one has been delivered or given up. */
    next: v.optional(v.id("callbacks")),
    /** When `planned` runs; infinite where an earlier end of the job is owed. */
    dueAt: v.number(),
    /** The scheduled function that starts the next try, or gives up. */
    planned: v.optional(v.id("_scheduled_functions")),
    /** The scheduled function of the last try; its result says why the row is still here. */
    trying: v.optional(v.id("_scheduled_functions")),
  })
    .index("job", ["job", "state"])
    .index("result", ["outcome.result.row"])
    .index("state", ["state", "dueAt"]),
};

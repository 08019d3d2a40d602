/**
 * The tables of workers: worker sessions, and their reports about the jobs they hold. Each comment is the table's
 * concurrency document.
 */
import { defineTable } from "convex/server";
import { v } from "convex/values";
import {
  vAnswer,
  vGroupScope,
  vSessionState,
  vLogLevel,
  vWorkerFacts,
  vWorkerOrigin,
} from "../../../shared/index.js";

export const workerTables = {
  /**
   * The sessions that serve a queue, where they are more than a claim reads one by one: 4 bytes per session, in the
   * order of their hashes, so that each finds its rank among them. Written by `fleet.ts` from one snapshot, when a
   * session is missing from it and once per minute while claims are made; claims read it in a snapshot only.
   */
  fleets: defineTable({
    queue: v.string(),
    members: v.bytes(),
    at: v.number(),
  }).index("queue", ["queue"]),

  /**
   * Call-ups of large fleets: one row per set of workers that are alike, once some were called. All places up to `upTo`
   * are called up. Written by `onCall.ts`, once per doubling of a burst or when the workers on call are too few; each worker
   * that stands by subscribes to the range from its own place on, which a call-up of earlier places does not touch.
   */
  callUps: defineTable({
    /** As `peers` of sessions. */
    peers: v.string(),
    upTo: v.number(),
    /** How many the last one was to call, and when. */
    count: v.number(),
    at: v.number(),
  })
    .index("peers", ["peers", "upTo"])
    // The oldest first, to be forgotten.
    .index("at", ["at"]),

  /**
   * One row per worker session: its leases, its call counter, and the answer to its last call.
   *
   * This row *is* the lease: a job is running if and only if it stands in the leases of its session. A short job costs
   * no heartbeat, a long one a small patch of this row for all that the worker holds. One writer, the worker's process,
   * and its calls come one at a time (beats beside them); and the janitor, once `expiresAt` has passed. Claims read
   * other rows in a snapshot only, to find their rank and the first expired lease.
   */
  sessions: defineTable({
    sessionKey: v.string(),
    /** Absent for a lane. */
    token: v.optional(v.id("tokens")),
    /** The lane that this is the row of: a worker inside Convex. */
    lane: v.optional(v.id("lanes")),
    /** Of a lane: one more at every start. A lane of an older generation takes nothing any more. */
    generation: v.optional(v.number()),
    /** Of a lane: the scheduled function in which it runs. */
    runsIn: v.optional(v.id("_scheduled_functions")),
    /** Of a lane: the janitor's timer that its wake had to make, where nothing had run for a while, and when that was. */
    sweep: v.optional(v.object({ timer: v.id("timers"), madeAt: v.number() })),
    name: v.string(),
    state: vSessionState,
    /**
     * Active: when the janitor has to check it, which is when the shortest lease held is over, counted from the last
     * call or beat, or up to half a lease sooner, or when an attempt has run long enough. Otherwise: when it was last seen.
     */
    expiresAt: v.number(),
    lastSeenAt: v.number(),
    /** The queues it last claimed from: among their sessions it has its rank. */
    queues: v.array(v.string()),
    /**
     * The conditions of its last claim, where it had any: for people that ask why a job waits. Absent costs nothing.
     */
    labels: v.optional(v.array(v.string())),
    groups: v.optional(v.array(v.string())),
    /** In place of groups: all that begin with it. */
    groupPrefix: v.optional(v.string()),
    maxCost: v.optional(v.number()),
    /** As the worker last said, where it did: see `WorkerFacts`. Written with its calls, and never for itself alone. */
    slots: v.optional(v.number()),
    mode: vWorkerFacts.fields.mode,
    /** It has said that it is over, and has made no call of a later number. A session that only fell silent has not. */
    hasDeparted: v.optional(v.boolean()),
    /** By an operator, and by nothing else: it is given no job. */
    isQuiet: v.optional(v.boolean()),
    /** How many outcomes it has recorded. Absent is 0. */
    done: v.optional(v.number()),
    /** When `state` or `mode` last changed. */
    since: v.optional(v.number()),
    /** Of a worker on call or on standby: which workers are its like. Absent in small fleets. */
    peers: v.optional(v.string()),
    /**
     * Of these: absent is on call with room; `FULL` on call without; `WATCHING` the one on standby that watches; else its
     * place on standby, an instant.
     */
    standbySince: v.optional(v.number()),
    /** Of a worker on standby: how long it may be silent from its last call on, and lives. */
    silentMs: v.optional(v.number()),
    leases: v.array(
      v.object({
        id: v.id("jobs"),
        /** Absent: of a lane, its queue. */
        queue: v.optional(v.string()),
        attempt: v.number(),
        /** The call that claimed it: a repeat of that call is given it again. */
        callSeq: v.number(),
        /** Absent: of a lane, which is watched (`LANE_WATCH_MS`). */
        leaseMs: v.optional(v.number()),
        /** How much longer than `leaseMs` its session may be silent. Absent is 0. */
        graceMs: v.optional(v.number()),
        /** When the attempt has run long enough, however alive its session is. */
        timeoutAt: v.optional(v.number()),
        /** Of a lane, and of a job with a `traceparent`: when the job became claimable. A mutation is told so with its step. */
        claimableAt: v.optional(v.number()),
      }),
    ),
    /** The last call of `claim` or `complete`. */
    callSeq: v.number(),
    /** Whether the session is known to have learnt of the leases of call `callSeq`. */
    acknowledged: v.boolean(),
    /** The answer to call `callSeq`, for its repeat. Its jobs are read again. */
    reply: v.object({ answers: v.array(vAnswer), cursor: v.optional(v.string()) }),
  })
    .index("sessionKey", ["sessionKey"])
    .index("state", ["state", "expiresAt"])
    // Active sessions without the time, which changes with every call and would leave a dead entry each; by token, so
    // that sweeps come by each token's in turn.
    .index("standing", ["state", "token"])
    // Workers on call first, then the places of standby. Calls of a worker that keeps its duty leave its key.
    .index("peers", ["peers", "standbySince"]),

  /**
   * Running jobs that are asked to end. Inserted by `cancel` and `delete`, blindly but for the job's own row; read by
   * the worker's subscription and by its beats; deleted with the lease. Apart from the session's row, which changes with
   * every call of its worker.
   */
  cancels: defineTable({
    sessionKey: v.string(),
    /** Of that session: no other session is notified. A lane has none. */
    token: v.optional(v.id("tokens")),
    job: v.id("jobs"),
    attempt: v.number(),
  })
    .index("sessionKey", ["sessionKey"])
    .index("job", ["job"]),

  /**
   * How far running jobs have come: one row per job that ever reported progress. Written by its worker a few times per
   * second, read by the pages that watch it, deleted with the job: the transaction that finishes a job does not
   * conflict with late reports. The value of an attempt that is over stays, and is shown no more. Apart because a patch
   * of the job's row would touch its index, and the session's row would wake every page.
   */
  progress: defineTable({
    job: v.id("jobs"),
    attempt: v.number(),
    value: v.any(),
    updatedAt: v.number(),
    /** The worker's count of the attempt's values. Absent is 0. */
    revision: v.optional(v.number()),
  }).index("job", ["job"]),

  /**
   * Log entries of jobs. Written by the job's worker alone, read by the pages that watch, deleted with the job, or
   * where its attempts have more together than are kept: a transaction that moves the job does not conflict with them.
   */
  logs: defineTable({
    job: v.id("jobs"),
    attempt: v.number(),
    /** The worker's count of the attempt's entries, from 0. By it the entry is changed. */
    entry: v.number(),
    level: vLogLevel,
    message: v.string(),
    data: v.optional(v.any()),
    at: v.number(),
    updatedAt: v.optional(v.number()),
    /** The worker's count of this entry's changes. Absent is 0. */
    revision: v.optional(v.number()),
    /** How many entries the job ever had with this one: the last less the first is how many there are. */
    total: v.number(),
  }).index("job", ["job", "attempt", "entry"]),

  /**
   * Streamed output of jobs: rows of text in the order of `index`, which the worker counts from 0 in every attempt.
   * Inserted by the job's worker alone, never patched, read by the pages that watch, deleted with the job, or where its
   * attempts have more together than is kept: a transaction that moves the job does not conflict with them.
   */
  chunks: defineTable({
    job: v.id("jobs"),
    attempt: v.number(),
    index: v.number(),
    text: v.string(),
    /**
     * Bytes of output that the job ever had with this part: the last less the bytes before the first is the size of the
     * stored output.
     */
    total: v.number(),
  }).index("job", ["job", "attempt", "index"]),

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
    /** The groups that its jobs are of; absent for jobs of every group, and of none. */
    groups: v.optional(vGroupScope),
    createdAt: v.number(),
    revokedAt: v.optional(v.number()),
    rotatedAt: v.optional(v.number()),
    /** Until when a worker with any former secret is still let in. */
    previousUntil: v.optional(v.number()),
    /** Until when its workers may write no log entries, output and jobs to follow: they have written too much. */
    overQuotaUntil: v.optional(v.number()),
  }).index("hash", ["hash"]),

  /**
   * The sessions that each token has, without the fields that change with their calls. Inserted with a session's row
   * and deleted with it; counted in a snapshot, when another session begins. `origin` is read by the list of workers.
   */
  tokenSessions: defineTable({
    token: v.id("tokens"),
    session: v.id("sessions"),
    origin: v.optional(vWorkerOrigin),
  })
    .index("token", ["token"])
    .index("session", ["session"]),

  /**
   * How much a token's workers have written in the hour that began at `since`: see `quotas.ts`. Written about once in 4
   * MiB of it. One row per token, apart from the token's, which each call reads.
   */
  tokenWrites: defineTable({ token: v.id("tokens"), since: v.number(), bytes: v.number() }).index(
    "token",
    ["token"],
  ),

  /**
   * Secrets that tokens had before they were rotated, each by its hash: let in until its own time, and then refused as
   * `tokenRevoked`. Written by rotations, which keep all that are let in and a few that are not; read where no token has the secret now.
   */
  formerSecrets: defineTable({ token: v.id("tokens"), hash: v.string(), until: v.number() })
    .index("hash", ["hash"])
    .index("token", ["token", "until"]),
};

/**
 * The component's public surface: the functions that an app reaches through `components.conveyor.lib`.
 *
 * Only registration stands here: arguments, return value, and the step of the flow that does it. Every function is
 * called by the app's own functions, which have checked the app's own authorization; worker calls carry a token
 * besides. Nothing here is reachable by a browser.
 */
import { v } from "convex/values";
import {
  vAnswer,
  vAttempt,
  vOutputPage,
  vOutputUpdate,
  vCounts,
  vDuty,
  vEnqueued,
  vFinished,
  vHandedOver,
  vJobStatus,
  vLaneReply,
  vLaneApart,
  vLaneStep,
  vLease,
  vLogPage,
  vLogUpdate,
  vNewJob,
  vOnCallRequest,
  vPeekedJob,
  vProgressUpdate,
  vQueueDeclaration,
  vReportAnswer,
  vStatus,
  vTokenScope,
  vWaiting,
  vWorkerStatus,
} from "../shared/index.js";
import { mutation, query } from "./_generated/server.js";
import * as attemptsStep from "./views/attempts.js";
import * as cancelsStep from "./rows/cancels.js";
import * as chunksStep from "./attempts/chunks.js";
import * as claimStep from "./claim/claim.js";
import { about, claimed, claimRequest, lookConditions } from "./claim/claimCall.js";
import * as completeStep from "./attempts/complete.js";
import * as completeLaterStep from "./attempts/completeLater.js";
import * as countsStep from "./count/counts.js";
import * as declareStep from "./enter/declare.js";
import * as enqueueStep from "./enter/enqueue.js";
import * as hasWorkStep from "./claim/hasWork.js";
import * as heartbeatStep from "./attempts/heartbeat.js";
import * as leaveStep from "./attempts/leave.js";
import * as laneReportStep from "./push/laneReport.js";
import * as laneApartStep from "./push/laneApart.js";
import * as laneStepStep from "./push/laneStep.js";
import { vGivenBack } from "./push/grants.js";
import * as callUpsStep from "./claim/callUps.js";
import * as mainLoopStep from "./push/mainLoop.js";
import * as logsStep from "./attempts/logs.js";
import * as reportStep from "./attempts/report.js";
import * as replaceStep from "./manage/replace.js";
import * as peekStep from "./claim/peek.js";
import * as quietStep from "./manage/quiet.js";
import * as statusStep from "./views/status.js";
import * as takeBackStep from "./attempts/takeBack.js";
import * as tokensStep from "./rows/tokens.js";
import * as tendStep from "./tend/tend.js";
import { vTended } from "./tend/tend.js";
import * as watchdogStep from "./tend/watchdog.js";
import * as workersStep from "./views/workers.js";

// --- The app's side -----------------------------------------------------------------------------

/**
 * Puts 1 to 1,000 jobs into a queue, in the caller's transaction, all or none. Returns, in their order, the result for
 * each: its id, and whether it is new or existed under its key.
 */
export const enqueue = mutation({
  args: { queue: vQueueDeclaration, jobs: v.array(vNewJob) },
  returns: v.array(vEnqueued),
  handler: (ctx, { queue, jobs }) => enqueueStep.enqueue(ctx, queue, jobs),
});

/**
 * Writes the declarations of 1 to 32 queues, as the app's code has them. `enqueue`, `replace`, `claim` and `complete` refuse
 * with `queuesUndeclared` where that is to be done first: the caller then calls this, and repeats the call, in one mutation.
 */
export const declare = mutation({
  args: { queues: v.array(vQueueDeclaration) },
  returns: v.null(),
  handler: async (ctx, { queues }) => {
    await declareStep.declare(ctx, queues);
    return null;
  },
});

/** Ends a job of the queue that has not begun, and only then enqueues another in its place. */
export const replace = mutation({
  args: { id: v.string(), queue: vQueueDeclaration, job: vNewJob },
  returns: v.object({ replaced: v.boolean(), id: v.string(), status: vStatus }),
  handler: (ctx, { id, queue, job }) => replaceStep.replace(ctx, id, queue, job),
});

/** How a job stands; `null` for an id that names none. With `queue`, for one of another queue as well. */
export const status = query({
  args: { id: v.string(), queue: v.optional(v.string()) },
  returns: v.union(vJobStatus, v.null()),
  handler: (ctx, { id, queue }) => statusStep.status(ctx, id, queue),
});

/** The same for up to 100 jobs, in the order of their ids. */
export const statusBatch = query({
  args: { ids: v.array(v.string()), queue: v.optional(v.string()) },
  returns: v.array(v.union(vJobStatus, v.null())),
  handler: (ctx, { ids, queue }) => statusStep.statusBatch(ctx, ids, queue),
});

/** The queue of a job, for the app's check of its caller; `null` for an id that names none. */
export const queueOf = query({
  args: { id: v.string() },
  returns: v.union(v.string(), v.null()),
  handler: (ctx, { id }) => statusStep.queueOf(ctx, id),
});

/** The last `limit` (100, at most 1,000) attempts of a job, in order; `null` as with `status`. */
export const attempts = query({
  args: { id: v.string(), queue: v.optional(v.string()), limit: v.optional(v.number()) },
  returns: v.union(v.array(vAttempt), v.null()),
  handler: (ctx, args) => attemptsStep.attempts(ctx, args),
});

/** A page of a job's log behind `cursor`, up to `limit` entries (100, at most 1,000); `null` as with `status`. */
export const logs = query({
  args: {
    id: v.string(),
    queue: v.optional(v.string()),
    cursor: v.optional(v.string()),
    limit: v.optional(v.number()),
  },
  returns: v.union(vLogPage, v.null()),
  handler: (ctx, args) => logsStep.logs(ctx, args),
});

/**
 * A page of one attempt's output: behind `cursor`, or of `attempt` (the last one) from `fromIndex` (0) on, up to `limit`
 * parts (100, at most 1,000); `null` as with `status`.
 */
export const output = query({
  args: {
    id: v.string(),
    queue: v.optional(v.string()),
    attempt: v.optional(v.number()),
    cursor: v.optional(v.string()),
    fromIndex: v.optional(v.number()),
    limit: v.optional(v.number()),
  },
  returns: v.union(vOutputPage, v.null()),
  handler: (ctx, args) => chunksStep.output(ctx, args),
});

/** How many jobs of a queue are in each status, counted up to `limit` (100, at most 1,000), or as far as 3 MiB of rows go. */
export const counts = query({
  args: { queue: v.string(), limit: v.optional(v.number()) },
  returns: vCounts,
  handler: (ctx, { queue, limit }) => countsStep.counts(ctx, queue, limit),
});

/**
 * The workers seen last, live ones first, of these workers outside first, newest first, with the jobs that they hold; at
 * most 100. With `queue`, the workers that last claimed from it.
 */
export const workers = query({
  args: { queue: v.optional(v.string()), limit: v.optional(v.number()) },
  returns: v.array(vWorkerStatus),
  handler: (ctx, args) => workersStep.workers(ctx, args),
});

/** Reschedules overdue work in all queues: for queues without traffic, from a cron of the app. */
export const watch = mutation({
  args: {},
  returns: v.null(),
  handler: (ctx) => watchdogStep.watch(ctx),
});

// --- The worker protocol ------------------------------------------------------------------------

const caller = { token: v.string(), sessionKey: v.string() };
/**
 * Whether any of these queues has a claimable job. The same arguments for a whole fleet share one cached answer. With
 * `naming`, of one queue, which jobs these are, where they are few.
 */
export const hasWork = query({
  args: {
    token: v.string(),
    queues: v.array(v.string()),
    naming: v.optional(v.boolean()),
    ...lookConditions,
  },
  returns: v.union(v.boolean(), vWaiting),
  handler: (ctx, args) => hasWorkStep.hasWork(ctx, args),
});

/** The first jobs that a worker with these conditions could claim now, up to `limit` (10, at most 64). */
export const peek = query({
  args: {
    token: v.string(),
    queues: v.array(v.string()),
    limit: v.optional(v.number()),
    ...lookConditions,
  },
  returns: v.array(vPeekedJob),
  handler: (ctx, args) => peekStep.peek(ctx, args),
});

/** Whether a worker on standby has been called up: `peers` and `since` are of the answer that put it there, `worker` is its name. */
export const standby = query({
  args: {
    ...{ token: v.string(), peers: v.string(), since: v.number() },
    worker: v.optional(v.string()),
  },
  returns: v.boolean(),
  handler: (ctx, args) => callUpsStep.isCalledUp(ctx, args),
});

/** The scope of a token. Throws unless it is a worker's. For callers that check or return something first. */
export const checkToken = query({
  args: { token: v.string() },
  returns: vTokenScope,
  handler: (ctx, { token }) => tokensStep.checkToken(ctx, token),
});

/** Leases up to `max` jobs to the session. */
export const claim = mutation({
  args: { ...caller, callSeq: v.number(), name: v.string(), ...claimRequest, ...about },
  returns: v.object({ ...claimed, cursor: v.string() }),
  handler: (ctx, args) => claimStep.claim(ctx, args),
});

/** Records outcomes, each with an answer of its own, and in the same transaction claims again if asked to. */
export const complete = mutation({
  args: {
    ...caller,
    callSeq: v.number(),
    finished: v.array(vFinished),
    claim: v.optional(v.object(claimRequest)),
    /** Runs no callback in this transaction: every `onComplete` is owed, and delivered alone at once. */
    deferCallbacks: v.optional(v.boolean()),
    /** The worker's other leases: the call is a beat for these, and answers for them. */
    held: v.optional(v.array(vLease)),
    ...about,
  },
  returns: v.object({
    ...{ answers: v.array(vAnswer), held: v.optional(v.array(vAnswer)) },
    ...{ ...claimed, cursor: v.optional(v.string()) },
  }),
  handler: (ctx, args) => completeStep.complete(ctx, args),
});

/**
 * The last resort for an outcome that was refused alone and without its callback, as by conflicts without end: it is
 * recorded by a mutation that the platform runs until it has committed. This one depends on the token and the job. The
 * worker keeps beating for the lease, and repeats its `complete` now and then, until that is answered.
 */
export const completeLater = mutation({
  args: { ...caller, finished: vFinished },
  returns: v.null(),
  handler: (ctx, args) => completeLaterStep.completeLater(ctx, args),
});

/** The session's leases that are asked to end: for a subscription, so that the worker is notified at once. */
export const cancellations = query({
  args: caller,
  returns: v.array(vLease),
  handler: (ctx, args) => cancelsStep.cancellations(ctx, args),
});

/** Whether an operator has this session claim nothing: a worker subscribes to it from then on until it may claim. */
export const isQuiet = query({
  args: caller,
  returns: v.boolean(),
  handler: (ctx, args) => quietStep.isQuiet(ctx, args),
});

/** Ends attempts in the transaction that claimed them: the app cannot hand them out. */
export const takeBack = mutation({
  args: { ...caller, finished: v.array(vFinished) },
  returns: v.object({ answers: v.array(vAnswer) }),
  handler: (ctx, args) => takeBackStep.takeBack(ctx, args),
});

/** Says that the session lives, and asks which of these leases it still has. */
export const heartbeat = mutation({
  args: {
    ...{ ...caller, leases: v.array(vLease), ...about },
    onCall: v.optional(vOnCallRequest),
  },
  returns: v.object({
    answers: v.array(vAnswer),
    ...{ isLate: v.optional(v.boolean()), isQuiet: v.optional(v.boolean()) },
    ...{ fleet: v.optional(v.number()), duty: v.optional(vDuty) },
  }),
  handler: (ctx, args) => heartbeatStep.heartbeat(ctx, args),
});

/** The last word of a session, with a `callSeq` after the numbers of all its calls: no job is left to it from now on. */
export const leave = mutation({
  args: { ...caller, leases: v.array(vLease), callSeq: v.number() },
  returns: v.object({ answers: v.array(vAnswer) }),
  handler: (ctx, args) => leaveStep.leave(ctx, args),
});

/**
 * Does the work of a sweep that is late: ends leases that are over, and arms dead alarms again. A worker whose answer said
 * `isLate` has it called, and once more where this answer says so. Where no sweep is late it checks these `queues`.
 */
export const tend = mutation({
  args: { queues: v.array(v.string()) },
  returns: vTended,
  handler: (ctx, { queues }) => tendStep.tend(ctx, queues),
});

/**
 * Reports on running jobs: progress, log entries, output. Each lease gets an answer of its own. `session` is the claim's
 * answer; without it, the session is looked up by its id.
 */
export const report = mutation({
  args: {
    ...caller,
    session: v.optional(v.string()),
    updates: v.optional(v.array(vProgressUpdate)),
    logs: v.optional(v.array(vLogUpdate)),
    output: v.optional(v.array(vOutputUpdate)),
  },
  returns: v.object({ answers: v.array(vReportAnswer) }),
  handler: (ctx, args) => reportStep.report(ctx, args),
});

// --- Handlers inside Convex ---------------------------------------------------------------------

/** One call of a lane that runs in an action of the app: `laneStep.ts`. */
export const laneStep = mutation({
  args: vLaneStep.fields,
  returns: vLaneReply,
  handler: (ctx, args) => laneStepStep.stepOf(ctx, args),
});

/** One job of such a lane in a transaction of its own: `laneApart.ts`. */
export const laneApart = mutation({
  args: vLaneApart.fields,
  returns: vAnswer,
  handler: (ctx, args) => laneApartStep.apartOfApp(ctx, args),
});

/** Lanes that were handed to a process that runs in an action of the app, by a later commit: `mainLoop.ts`. */
export const processLook = query({
  args: mainLoopStep.lookArgs,
  returns: vHandedOver,
  handler: (ctx, args) => mainLoopStep.lookOf(ctx, args),
});

/** Gives such a process more places. */
export const processAsk = mutation({
  args: mainLoopStep.askArgs,
  returns: v.number(),
  handler: (ctx, args) => mainLoopStep.askOf(ctx, args),
});

/** Ends such a process, unless lanes have been handed to it. */
export const processClose = mutation({
  args: mainLoopStep.closeArgs,
  returns: mainLoopStep.vClosed,
  handler: (ctx, args) => mainLoopStep.closeOf(ctx, args),
});

/** Has queues woken that wait for a slot or for places. */
export const processRouse = mutation({
  args: { from: vGivenBack },
  returns: v.null(),
  handler: (ctx, args) => mainLoopStep.rouseWaiting(ctx, args),
});

/** Reports of handlers inside Convex on their jobs. No token: only the app's own functions call it. */
export const laneReport = mutation({
  args: {
    updates: v.optional(v.array(vProgressUpdate)),
    logs: v.optional(v.array(vLogUpdate)),
    output: v.optional(v.array(vOutputUpdate)),
  },
  returns: v.object({ answers: v.array(vReportAnswer) }),
  handler: (ctx, args) => laneReportStep.laneReport(ctx, args),
});

/** How these attempts stand, 1 to 64: whether they are asked to end. */
export const laneStanding = query({
  args: { leases: v.array(vLease) },
  returns: v.array(vAnswer),
  handler: (ctx, { leases }) => laneReportStep.laneStanding(ctx, leases),
});

/**
 * The component's public surface for operators of queues: the functions that an app reaches through
 * `components.conveyor.operate`. An operator needs none of the app's code for them:
 * `npx convex run --component conveyor operate:pauseQueue '{"queue": "emails"}'`.
 *
 * Only registration stands here, as in `lib.ts`; the arguments are in `../shared/operations.ts`. Every function is called by
 * the app's own functions, which have checked the caller, or with the deployment's own key.
 */
import { v } from "convex/values";
import {
  CHANGE_ARGS,
  LOOK_ARGS,
  vBulkReply,
  vBulkState,
  vQueueDeclaration,
  vQueueEvent,
  vQueueState,
  vStatus,
  vTokenStatus,
} from "../shared/index.js";
import { mutation, query } from "./_generated/server.js";
import * as bulkStep from "./manage/bulk.js";
import * as cancelStep from "./manage/cancel.js";
import * as controlStep from "./manage/control.js";
import * as eventsStep from "./rows/events.js";
import * as itemsStep from "./manage/items.js";
import * as quietStep from "./manage/quiet.js";
import * as retryStep from "./manage/retry.js";
import * as tokensStep from "./rows/tokens.js";

const vChanged = v.object({ changed: v.boolean() });
/** By its definition in code: a queue that is not known yet, or not so, is declared first. */
const declared = { declared: v.optional(vQueueDeclaration) };

// --- A queue ------------------------------------------------------------------------------------

/** From now on no job is claimed. Jobs come in, fall due and expire; attempts that run go on. */
export const pauseQueue = mutation({
  args: { ...CHANGE_ARGS.pauseQueue, ...declared },
  returns: vChanged,
  handler: (ctx, args) => controlStep.pauseQueue(ctx, args),
});

/** From now on every enqueue is refused; the remaining jobs are processed. */
export const drainQueue = mutation({
  args: { ...CHANGE_ARGS.drainQueue, ...declared },
  returns: vChanged,
  handler: (ctx, args) => controlStep.drainQueue(ctx, args),
});

/** Ends a pause and a drain. */
export const resumeQueue = mutation({
  args: { ...CHANGE_ARGS.resumeQueue, ...declared },
  returns: vChanged,
  handler: (ctx, args) => controlStep.resumeQueue(ctx, args),
});

/** Overrides the declared configuration, until it is reset. Earlier overrides that are not named stay. */
export const configureQueue = mutation({
  args: { ...CHANGE_ARGS.configureQueue, ...declared },
  returns: vChanged,
  handler: (ctx, args) => controlStep.configureQueue(ctx, args),
});

/** The declared values apply again: for these fields, or for all. */
export const resetConfig = mutation({
  args: { ...CHANGE_ARGS.resetConfig, ...declared },
  returns: vChanged,
  handler: (ctx, args) => controlStep.resetConfig(ctx, args),
});

/** How a queue is configured and whether it is paused or drains. */
export const queueState = query({
  args: LOOK_ARGS.queueState,
  returns: vQueueState,
  handler: (ctx, { queue }) => controlStep.queueState(ctx, queue),
});

/** Restarts, lost leases, quarantines, refusals and changes, newest first: of a queue, or of all. */
export const events = query({
  args: LOOK_ARGS.events,
  returns: v.array(vQueueEvent),
  handler: (ctx, args) => eventsStep.events(ctx, args),
});

// --- One job ------------------------------------------------------------------------------------

const vPauseAnswer = v.object({ changed: v.boolean(), paused: v.boolean(), status: vStatus });

/** The job is not claimed until it is resumed. One that runs goes on, and is paused when it comes back. */
export const pauseJob = mutation({
  args: CHANGE_ARGS.pauseJob,
  returns: vPauseAnswer,
  handler: (ctx, { id, queue }) => itemsStep.pauseJob(ctx, id, queue),
});

/** The job stands at the end of its line again. */
export const resumeJob = mutation({
  args: CHANGE_ARGS.resumeJob,
  returns: vPauseAnswer,
  handler: (ctx, { id, queue }) => itemsStep.resumeJob(ctx, id, queue),
});

/** Ends a job that waits, and asks the worker of a running one to end it. A finished one is left as it is. */
export const cancelJob = mutation({
  args: CHANGE_ARGS.cancelJob,
  returns: v.object({ canceled: v.boolean(), requested: v.boolean(), status: vStatus }),
  handler: (ctx, { id, ...options }) => cancelStep.cancel(ctx, id, options),
});

/** Makes a finished job claimable again. Any other is left as it is. */
export const retryJob = mutation({
  args: CHANGE_ARGS.retryJob,
  returns: v.object({ retried: v.boolean(), status: vStatus, keyTakenBy: v.optional(v.string()) }),
  handler: (ctx, { id, queue }) => retryStep.retry(ctx, id, queue),
});

/** Deletes a job in any status, with all its rows. `onComplete` is not called. */
export const deleteJob = mutation({
  args: CHANGE_ARGS.deleteJob,
  returns: v.object({ deleted: v.boolean(), status: v.union(vStatus, v.null()) }),
  handler: (ctx, { id, queue }) => itemsStep.deleteJob(ctx, id, queue),
});

// --- Many jobs: the first in this transaction, the remaining ones in the background unless `goOn` is false ---

/** Cancels the jobs that a filter means. */
export const cancelMany = mutation({
  args: CHANGE_ARGS.cancelMany,
  returns: vBulkReply,
  handler: (ctx, args) => bulkStep.changeMany(ctx, { ...args, action: "cancel" }),
});

/** Makes the finished jobs that a filter means claimable again. */
export const retryMany = mutation({
  args: CHANGE_ARGS.retryMany,
  returns: vBulkReply,
  handler: (ctx, args) => bulkStep.changeMany(ctx, { ...args, action: "retry" }),
});

/** Deletes the jobs that a filter means. */
export const deleteMany = mutation({
  args: CHANGE_ARGS.deleteMany,
  returns: vBulkReply,
  handler: (ctx, args) => bulkStep.changeMany(ctx, { ...args, action: "delete" }),
});

/** How far a change of many jobs has come; null for a task that this queue does not have, or no longer remembers. */
export const taskState = query({
  args: LOOK_ARGS.taskState,
  returns: v.union(vBulkState, v.null()),
  handler: (ctx, { queue, task }) => bulkStep.taskState(ctx, task, queue),
});

/** Stops a change of many jobs. Its changes so far stay. */
export const stopTask = mutation({
  args: CHANGE_ARGS.stopTask,
  returns: v.object({ stopped: v.boolean() }),
  handler: (ctx, { queue, task }) => bulkStep.stopTask(ctx, task, queue),
});

// --- Workers ------------------------------------------------------------------------------------

/** The worker claims nothing from now on. Its jobs go on. */
export const quietWorker = mutation({
  args: CHANGE_ARGS.quietWorker,
  returns: vChanged,
  handler: (ctx, { id }) => quietStep.quietWorker(ctx, id, true),
});

/** The worker claims again. */
export const resumeWorker = mutation({
  args: CHANGE_ARGS.resumeWorker,
  returns: vChanged,
  handler: (ctx, { id }) => quietStep.quietWorker(ctx, id, false),
});

// --- Worker tokens ------------------------------------------------------------------------------

/** A deployment that is named marks its tokens, so that a stray one is distinguished from a wrong one. */
const deployment = { deployment: v.optional(v.string()) };

/** Makes a worker's credential. The token is in this answer and nowhere else: only its hash is kept. */
export const createToken = mutation({
  args: { ...CHANGE_ARGS.createToken, ...deployment },
  returns: v.object({ id: v.string(), token: v.string() }),
  handler: (ctx, { queues = null, ...args }) => tokensStep.createToken(ctx, { queues, ...args }),
});

/** Gives a token a new secret. The old one is refused at once, or after `graceMs`. */
export const rotateToken = mutation({
  args: { ...CHANGE_ARGS.rotateToken, ...deployment },
  returns: v.object({ token: v.string() }),
  handler: (ctx, args) => tokensStep.rotateToken(ctx, args),
});

/** Refuses a token from now on. Jobs that its sessions hold go back to their queues at once. */
export const revokeToken = mutation({
  args: CHANGE_ARGS.revokeToken,
  returns: v.null(),
  handler: (ctx, { id }) => tokensStep.revokeToken(ctx, id),
});

/** The tokens there are, without their secrets, newest first; with `after`, the id of one, the tokens behind it. */
export const listTokens = query({
  args: LOOK_ARGS.listTokens,
  returns: v.array(vTokenStatus),
  handler: (ctx, { after }) => tokensStep.listTokens(ctx, after),
});

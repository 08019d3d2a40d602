/**
 * The component's public surface for people who operate queues: what an app reaches through `components.conveyor.operate`.
 *
 * Only registration stands here, as in `lib.ts`. What deletes or changes many jobs is here and not there, so that nobody
 * meets it among what every app needs. Every function is called by the app's own functions, which have checked who asks.
 */
import { v } from "convex/values";
import {
  vBulkAction,
  vBulkReply,
  vBulkState,
  vJobFilter,
  vQueueEvent,
  vQueueOverrides,
  vQueueState,
  vStatus,
} from "../shared/index.js";
import { mutation, query } from "./_generated/server.js";
import * as bulkStep from "./bulk.js";
import * as controlStep from "./control.js";
import * as eventsStep from "./events.js";
import * as itemsStep from "./items.js";
import * as tokensStep from "./tokens.js";

const vChanged = v.object({ changed: v.boolean() });
const named = { queue: v.string() };

// --- A queue ------------------------------------------------------------------------------------

/** From now on nobody may claim. Jobs come in, fall due and expire; what runs goes on. */
export const pauseQueue = mutation({
  args: named,
  returns: vChanged,
  handler: (ctx, { queue }) => controlStep.pauseQueue(ctx, queue),
});

/** From now on nobody may enqueue; what is there is worked off. */
export const drainQueue = mutation({
  args: named,
  returns: vChanged,
  handler: (ctx, { queue }) => controlStep.drainQueue(ctx, queue),
});

/** Ends a pause and a drain. */
export const resumeQueue = mutation({
  args: named,
  returns: vChanged,
  handler: (ctx, { queue }) => controlStep.resumeQueue(ctx, queue),
});

/** Overrides what code declares, until it is reset. What was overridden before and is not named stays so. */
export const configureQueue = mutation({
  args: { ...named, overrides: vQueueOverrides },
  returns: vChanged,
  handler: (ctx, { queue, overrides }) => controlStep.configureQueue(ctx, queue, overrides),
});

/** What code declares counts again: for these fields, or for all. */
export const resetConfig = mutation({
  args: { ...named, fields: v.optional(v.array(v.string())) },
  returns: vChanged,
  handler: (ctx, { queue, fields }) => controlStep.resetConfig(ctx, queue, fields),
});

/** How a queue is configured and whether it is paused or drains. */
export const queueState = query({
  args: named,
  returns: vQueueState,
  handler: (ctx, { queue }) => controlStep.queueState(ctx, queue),
});

/** What was restarted, taken away, quarantined, refused or changed, newest first: of a queue, or of all. */
export const events = query({
  args: { queue: v.optional(v.string()), limit: v.optional(v.number()) },
  returns: v.array(vQueueEvent),
  handler: (ctx, args) => eventsStep.events(ctx, args),
});

// --- One job ------------------------------------------------------------------------------------

const one = { id: v.string(), queue: v.optional(v.string()) };
const vPauseAnswer = v.object({ changed: v.boolean(), paused: v.boolean(), status: vStatus });

/** Nobody may claim this job until it is resumed. One that runs goes on, and is paused when it comes back. */
export const pauseJob = mutation({
  args: one,
  returns: vPauseAnswer,
  handler: (ctx, { id, queue }) => itemsStep.pauseJob(ctx, id, queue),
});

/** The job stands at the end of its line again. */
export const resumeJob = mutation({
  args: one,
  returns: vPauseAnswer,
  handler: (ctx, { id, queue }) => itemsStep.resumeJob(ctx, id, queue),
});

/** Deletes a job in any status, with all that hangs on it. Nobody is told how it ended. */
export const deleteJob = mutation({
  args: one,
  returns: v.object({ deleted: v.boolean(), status: v.union(vStatus, v.null()) }),
  handler: (ctx, { id, queue }) => itemsStep.deleteJob(ctx, id, queue),
});

// --- Many jobs ----------------------------------------------------------------------------------

/**
 * Cancels, retries or deletes the jobs that a filter means: the first here, and the others by itself unless `goOn` is
 * false; then the answer's cursor asks for the next step.
 */
export const changeMany = mutation({
  args: {
    ...named,
    action: vBulkAction,
    filter: vJobFilter,
    reason: v.optional(v.string()),
    cursor: v.optional(v.string()),
    limit: v.optional(v.number()),
    goOn: v.optional(v.boolean()),
  },
  returns: vBulkReply,
  handler: (ctx, args) => bulkStep.changeMany(ctx, args),
});

/** How far a change of many jobs has come; null for a task that this queue does not have, or no longer remembers. */
export const bulkState = query({
  args: { ...named, task: v.string() },
  returns: v.union(vBulkState, v.null()),
  handler: (ctx, { queue, task }) => bulkStep.bulkState(ctx, task, queue),
});

/** Stops a change of many jobs. What it has changed stays so. */
export const stopBulk = mutation({
  args: { ...named, task: v.string() },
  returns: v.object({ stopped: v.boolean() }),
  handler: (ctx, { queue, task }) => bulkStep.stopBulk(ctx, task, queue),
});

// --- Worker tokens ------------------------------------------------------------------------------

/** Gives a token a new secret. The old one is refused at once, or after `graceMs`. */
export const rotateToken = mutation({
  args: {
    id: v.string(),
    graceMs: v.optional(v.number()),
    deployment: v.optional(v.string()),
  },
  returns: v.object({ token: v.string() }),
  handler: (ctx, args) => tokensStep.rotateToken(ctx, args),
});

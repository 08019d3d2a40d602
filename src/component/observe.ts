/**
 * The component's public surface for pages about queues: the functions that an app reaches through
 * `components.conveyor.observe`.
 *
 * Only registration stands here, as in `lib.ts`. Nothing in it writes; each query reads the rows that it shows and
 * little else, at any size of the queue. Every function is called by the app's own functions, which have checked the
 * caller.
 */
import { v } from "convex/values";
import {
  vGauge,
  vHealth,
  vJobPage,
  vListedJob,
  vListFilter,
  vListOrder,
  vMainLoop,
  vMetrics,
  vPageOptions,
  vPer,
  vPosition,
  vQueueOverview,
  vStats,
  vWhy,
} from "../shared/index.js";
import { query } from "./_generated/server.js";
import * as byKeyStep from "./views/byKey.js";
import * as carriedStep from "./views/payload.js";
import * as gaugeStep from "./count/gauge.js";
import * as listStep from "./views/list.js";
import * as metricsStep from "./views/metrics.js";
import * as overviewStep from "./views/overview.js";
import * as positionStep from "./views/position.js";
import { mainLoopNow } from "./views/runStatus.js";
import * as statsStep from "./views/stats.js";
import * as whyStep from "./views/why.js";

const named = { queue: v.string() };
const one = { id: v.string(), queue: v.optional(v.string()) };

// --- Queues -------------------------------------------------------------------------------------

/**
 * The names of the queues that code has declared, in their order: the ones behind `after`, up to `limit` (100, at most
 * 1,000).
 */
export const queues = query({
  args: { after: v.optional(v.string()), limit: v.optional(v.number()) },
  returns: v.object({ names: v.array(v.string()), more: v.boolean() }),
  handler: (ctx, args) => overviewStep.queues(ctx, args),
});

/**
 * A queue as an overview shows it; `null` for one that no code has declared. `beside`: the number of queues that one
 * query reads (1), so that all of them together fit.
 */
export const overview = query({
  args: { ...named, beside: v.optional(v.number()) },
  returns: v.union(vQueueOverview, v.null()),
  handler: (ctx, { queue, beside }) => overviewStep.overview(ctx, queue, beside),
});

/**
 * The main loop of the mount, with the share of the scheduler that it may take (0.5): its run status, its lanes, its
 * places by queue, and the queues that wait.
 */
export const mainLoop = query({
  args: { share: v.optional(v.number()) },
  returns: vMainLoop,
  handler: async (ctx, { share }) => {
    const { class: of } = await ctx.meta.getDeploymentMetadata();
    return await mainLoopNow(ctx.db, of, share);
  },
});

/** A queue as a monitoring system measures it; `null` for one that no code has declared. */
export const metrics = query({
  args: named,
  returns: v.union(vMetrics, v.null()),
  handler: (ctx, { queue }) => metricsStep.metrics(ctx, queue),
});

// --- How it goes --------------------------------------------------------------------------------

/** Counts of the last `count` (60, at most 1,000) minutes, hours or days up to `until` (now). */
export const stats = query({
  args: {
    ...named,
    per: v.optional(vPer),
    count: v.optional(v.number()),
    until: v.optional(v.number()),
  },
  returns: vStats,
  handler: (ctx, args) => statsStep.stats(ctx, args),
});

/** How a queue stands: its jobs by status, its throughput per minute, whether it is healthy. */
export const gauge = query({
  args: named,
  returns: vGauge,
  handler: (ctx, { queue }) => gaugeStep.gauge(ctx, queue),
});

/** The results of the last `last` (5, at most 100) jobs of a queue that ended by themselves, and whether it moves. */
export const health = query({
  args: { ...named, last: v.optional(v.number()) },
  returns: vHealth,
  handler: (ctx, { queue, last }) => gaugeStep.health(ctx, queue, last),
});

// --- Which jobs there are -----------------------------------------------------------------------

/** A page of a queue's jobs. */
export const list = query({
  args: {
    ...named,
    filter: v.optional(vListFilter),
    order: v.optional(vListOrder),
    paginationOpts: vPageOptions,
  },
  returns: vJobPage,
  handler: (ctx, args) => listStep.list(ctx, args),
});

/** The job that has a uniqueness key now; `null` where none has. */
export const byKey = query({
  args: { ...named, key: v.string() },
  returns: v.union(vListedJob, v.null()),
  handler: (ctx, { queue, key }) => byKeyStep.byKey(ctx, queue, key),
});

// --- One job ------------------------------------------------------------------------------------

/** A job's payload; `null` for an id that names none. With `queue`, for one of another queue as well. */
export const payload = query({
  args: one,
  returns: v.union(v.object({ payload: v.any() }), v.null()),
  handler: (ctx, { id, queue }) => carriedStep.payload(ctx, id, queue),
});

/** How many jobs are before one that waits to be claimed; `null` for one that does not, and as with `payload`. */
export const position = query({
  args: one,
  returns: v.union(vPosition, v.null()),
  handler: (ctx, { id, queue }) => positionStep.position(ctx, id, queue),
});

/**
 * Why a job is not running, the first reason first; `null` as with `payload`. `withErrors` (true): with its error
 * messages.
 */
export const why = query({
  args: { ...one, withErrors: v.optional(v.boolean()) },
  returns: v.union(vWhy, v.null()),
  handler: (ctx, { id, queue, withErrors }) => whyStep.why(ctx, id, queue, withErrors),
});

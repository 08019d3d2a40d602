import { v } from "convex/values";
import { mixed } from "./pushed.js";
import { conveyor, hot, races, sums } from "./queues.js";
import { query } from "./_generated/server.js";

export const { claim, complete, heartbeat, report, watch } = conveyor.workerApi({
  queues: [sums, races, hot, mixed],
});

export const workers = query({ args: {}, handler: async (ctx) => conveyor.workers(ctx) });

export const overviews = query({ args: {}, handler: async (ctx) => await conveyor.queues(ctx) });

/** One read alone, of a queue by its name: the reads of each are measured. */
const ofJob = { queue: v.string(), id: v.string() };
export const position = query({
  args: ofJob,
  handler: async (ctx, { queue, id }) => await conveyor.observe(queue).position(ctx, id),
});
export const why = query({
  args: ofJob,
  handler: async (ctx, { queue, id }) => await conveyor.observe(queue).why(ctx, id),
});
export const periods = query({
  args: { queue: v.string(), per: v.optional(v.any()), count: v.number() },
  handler: async (ctx, { queue, ...options }) => await conveyor.observe(queue).stats(ctx, options),
});
export const health = query({
  args: { queue: v.string(), last: v.number() },
  handler: async (ctx, { queue, last }) => await conveyor.observe(queue).health(ctx, { last }),
});

import { query } from "./_generated/server.js";
import { sums } from "./queues.js";

export const { enqueue, status, cancel, retry, stats } = sums.api({
  authorize: "public",
  enqueue: true,
});

/** Exact and of this moment, however busy the queue is. */
export const counts = query({ args: {}, handler: async (ctx) => await sums.counts(ctx) });

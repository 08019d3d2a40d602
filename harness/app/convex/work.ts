import { mixed } from "./pushed.js";
import { conveyor, hot, races, sums } from "./queues.js";
import { query } from "./_generated/server.js";

export const { claim, complete, heartbeat, report, watch } = conveyor.workerApi({
  queues: [sums, races, hot, mixed],
});

export const workers = query({ args: {}, handler: async (ctx) => conveyor.workers(ctx) });

export const overviews = query({ args: {}, handler: async (ctx) => await conveyor.queues(ctx) });

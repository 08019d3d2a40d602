/** Jobs brought in by Conveyor. */
import { Conveyor } from "convex-conveyor";
import { app, components, mutation, parallelism, retries, retry, vWork } from "./builders.js";
import { entries } from "./entries.js";

const conveyor = new Conveyor(components.conveyor);
const shared = { payload: vWork, maxParallelism: parallelism, ...(retries ? { retry } : {}) };
const queues = {
  act: conveyor.queue("acted", { ...shared, handler: app.work.act }),
  book: conveyor.queue("booked", { ...shared, handler: { mutation: app.work.book } }),
};

export const { act, book, actAll, bookAll } = entries({
  one: (ctx, kind, work, isUrgent) =>
    queues[kind].enqueue(ctx, work, isUrgent ? { priority: 5 } : {}),
  all: (ctx, kind, works) => queues[kind].enqueueBatch(ctx, works),
});

export const cancelAll = mutation({
  handler: async (ctx) => {
    await queues.act.control.cancelMany(ctx, {});
    return { isDone: true };
  },
});

/** Jobs brought in by Conveyor. */
import { Conveyor, type Queue } from "convex-conveyor";
import { app, components, mutation, parallelism, retries, retry, vWork } from "./builders.js";
import { entries } from "./entries.js";

const conveyor = new Conveyor(components.conveyor);
const shared = { payload: vWork, maxParallelism: parallelism, ...(retries ? { retry } : {}) };
const acted = conveyor.queue("acted", shared);
acted.handledBy(app.work.act);
const booked = conveyor.queue("booked", shared);
booked.handledBy({ mutation: app.work.book });
const queues: Record<"act" | "book", Queue<any, typeof vWork>> = { act: acted, book: booked };

export const { act, book, actAll, bookAll } = entries({
  one: (ctx, kind, work, isUrgent) =>
    queues[kind].enqueue(ctx, work, isUrgent ? { priority: 5 } : {}),
  all: (ctx, kind, works) => queues[kind].enqueueBatch(ctx, works),
});

export const cancelAll = mutation({
  handler: async (ctx) => {
    await acted.control.cancelMany(ctx, {});
    return { isDone: true };
  },
});

/** Jobs brought in by Conveyor. */
import { Conveyor } from "convex-conveyor";
import { app, components, parallelism, vWork } from "./builders.js";
import { entries } from "./entries.js";

const conveyor = new Conveyor(components.conveyor);
const shared = { payload: vWork, maxParallelism: parallelism };
const queues = {
  act: conveyor.queue("acted", { ...shared, handler: app.work.act }),
  book: conveyor.queue("booked", { ...shared, handler: { mutation: app.work.book } }),
};

export const { act, book, actAll, bookAll } = entries({
  one: (ctx, kind, work) => queues[kind].enqueue(ctx, work),
  all: (ctx, kind, works) => queues[kind].enqueueBatch(ctx, works),
});

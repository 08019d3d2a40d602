/** Jobs brought in by Conveyor: for each number a queue of actions, and one of mutations. */
import { Conveyor } from "convex-conveyor";
import { app, components, counts, parallelism, queues, vWork } from "./builders.js";
import { entry } from "./entries.js";

const conveyor = new Conveyor(components.conveyor);
const timeoutMs = process.env.TIMEOUT_MS;
const shared = {
  ...{ payload: vWork, maxParallelism: parallelism },
  ...(timeoutMs === undefined ? {} : { timeoutMs: Number(timeoutMs) }),
  ...(counts === "callback" ? { onComplete: app.jobs.told } : {}),
};
const pairs = Array.from({ length: queues }, (_, i) => ({
  act: conveyor.queue(`q${i}`, { ...shared, handler: app.jobs.act }),
  book: conveyor.queue(`m${i}`, { ...shared, handler: { mutation: app.jobs.book } }),
}));

export const enqueue = entry((ctx, i, kind, works) => {
  const queue = pairs[i]![kind];
  return works.length === 1 ? queue.enqueue(ctx, works[0]!) : queue.enqueueBatch(ctx, works);
});

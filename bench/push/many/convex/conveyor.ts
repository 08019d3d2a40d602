/** Jobs brought in by Conveyor: for each number a queue of actions, and one of mutations. */
import { Conveyor } from "convex-conveyor";
import { app, components, counts, parallelism, queues, vWork } from "./builders.js";
import { entry } from "./entries.js";

const conveyor = new Conveyor(components.conveyor);
const timeoutMs = process.env.TIMEOUT_MS;
const shared = {
  ...{ payload: vWork, maxParallelism: parallelism },
  ...(timeoutMs === undefined ? {} : { timeoutMs: Number(timeoutMs) }),
  ...(counts === "callback" ? { onComplete: () => app.jobs.told } : {}),
};
const pairs = Array.from({ length: queues }, (_, i) => {
  const [act, book] = [conveyor.queue(`q${i}`, shared), conveyor.queue(`m${i}`, shared)];
  act.handledBy(app.jobs.act);
  book.handledBy({ mutation: app.jobs.book });
  return { act, book };
});

export const enqueue = entry((ctx, i, kind, works) => {
  const queue = pairs[i]![kind];
  return works.length === 1 ? queue.enqueue(ctx, works[0]!) : queue.enqueueBatch(ctx, works);
});

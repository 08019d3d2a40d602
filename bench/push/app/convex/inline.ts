/** Jobs brought in by Conveyor, for a handler that runs inside its lane. */
import { entries } from "./entries.js";
import { queue } from "./lanes.js";

export const { act, actAll } = entries({
  one: (ctx, _kind, work) => queue.enqueue(ctx, work),
  all: (ctx, _kind, works) => queue.enqueueBatch(ctx, works),
});

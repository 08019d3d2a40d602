/** The queue with jobs in their lane's own process, and the lane. */
import { Conveyor } from "convex-conveyor";
import { app, components, parallelism, vWork } from "./builders.js";
import { workNoted } from "./work.js";

const conveyor = new Conveyor(components.conveyor);
export const queue = conveyor.queue("inlined", {
  payload: vWork,
  maxParallelism: parallelism,
  inline: () => app.lanes.run,
});

export const run = queue.inline(async (_ctx, { payload }) => {
  await workNoted(payload);
  return null;
});

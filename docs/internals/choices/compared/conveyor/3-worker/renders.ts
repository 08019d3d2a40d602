import { v } from "convex/values";
import { mutation } from "./_generated/server";
import { conveyor } from "./conveyor";

export const renders = conveyor.queue("renders", {
  payload: { scene: v.string() },
  progress: v.object({ percent: v.number() }),
});
export const { claim, complete, heartbeat, report, watch } = conveyor.workerApi({
  queues: [renders],
});

export const stop = mutation({
  args: { id: v.string() },
  handler: async (ctx, { id }) => await renders.cancel(ctx, id),
});

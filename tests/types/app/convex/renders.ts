/** A queue with a handler in a module with "use node": the queue and its callback here, the handler there. */
import { v } from "convex/values";
import { internal } from "./_generated/api";
import { mutation } from "./_generated/server";
import { conveyor } from "./conveyor";

export const renders = conveyor.queue("renders", {
  payload: { scene: v.string() },
  result: v.object({ frames: v.number() }),
  action: () => internal.rendersNode.render,
  onComplete: () => internal.renders.rendered,
});

export const rendered = renders.completed(async (ctx, { payload, outcome }) => {
  if (outcome.status === "succeeded" && outcome.result.frames > 0) return;
  await ctx.db.insert("bounces", { to: payload.scene, why: outcome.status });
});

export const start = mutation({
  args: { scene: v.string() },
  handler: async (ctx, { scene }) => await renders.enqueue(ctx, { scene }),
});

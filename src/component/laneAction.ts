/**
 * The lane itself: a scheduled action that runs jobs until there are none, or its time is over. The loop is
 * `lane/loop.ts`; here is what it does inside the component: a handler is called by its handle, in an action, query or
 * mutation of its own, so that one which crashes, hangs or takes all its memory costs only its own attempt.
 */
import type { FunctionHandle } from "convex/server";
import { runByHandle, runLane } from "../lane/index.js";
import { LANE_CARRIES_BYTES, vLaneStart, type Finished, type LaneStart } from "../shared/index.js";
import { internal } from "./_generated/api.js";
import type { Id } from "./_generated/dataModel.js";
import { internalAction, type MutationCtx } from "./_generated/server.js";
import { getConvexSize, v } from "convex/values";
import type { Queue } from "./queues.js";

/** Schedules the lane: here, or, where the app gave the queue an inline handler, in the app's own action. */
export async function startLane(
  ctx: MutationCtx,
  queue: Queue,
  asked: LaneStart,
): Promise<Id<"_scheduled_functions">> {
  const { handler } = queue.config;
  const isLarge = getConvexSize(asked.jobs) > LANE_CARRIES_BYTES;
  const start = isLarge ? { ...asked, ...unheard(asked.n) } : asked;
  if (handler?.kind !== "inline") {
    return await ctx.scheduler.runAfter(0, internal.laneAction.run, start);
  }
  const handle = handler.handle as FunctionHandle<"action", { start: LaneStart }>;
  return await ctx.scheduler.runAfter(0, handle, { start });
}

/** Of jobs that are too large to be carried to a lane: its first call is told what this one has claimed. */
export function unheard(n: number): Pick<LaneStart, "jobs" | "heard"> {
  return { jobs: [], heard: n - 1 };
}

export const run = internalAction({
  args: vLaneStart.fields,
  returns: v.null(),
  handler: async (ctx, start): Promise<null> => {
    await runLane(
      {
        step: ({ finished, ...args }) =>
          ctx.runMutation(internal.laneStep.step, { ...args, finished: finished.map(plain) }),
        later: ({ lane, finished }) =>
          ctx.runMutation(internal.laneStep.later, { lane, finished: plain(finished) }),
        run: async (job) => ({ outcome: await runByHandle(ctx, job) }),
      },
      start,
    );
    return null;
  },
});

/** Handlers that are called by their handle are followed by no jobs: they enqueue what they want. */
function plain({ id, attempt, outcome }: Omit<Finished, "continued">): Finished {
  return { id, attempt, outcome };
}

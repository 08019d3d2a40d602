/**
 * The process itself: a scheduled action that runs lanes until there are none, or its time is over. Its code is
 * `lane/process.ts`; here is its part inside the component: a handler is called by its handle, in an action, query or
 * mutation of its own. So one that crashes, hangs or takes all its memory costs only its own attempt.
 */
import type { FunctionHandle } from "convex/server";
import { finishedOf, runByHandle, runProcess } from "../../lane/index.js";
import {
  LANE_CARRIES_BYTES,
  vProcessStart,
  type LaneStart,
  type ProcessStart,
} from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Id } from "../_generated/dataModel.js";
import { internalAction, type MutationCtx } from "../_generated/server.js";
import { getConvexSize, v } from "convex/values";
import type { Queue } from "../rows/queues.js";

/** Schedules the process: here, or, where the app gave the queue an inline handler, in the app's own action. */
export async function startProcess(
  ctx: MutationCtx,
  queue: Queue,
  start: ProcessStart,
): Promise<Id<"_scheduled_functions">> {
  const { handler } = queue.config;
  if (handler?.kind !== "inline") {
    return await ctx.scheduler.runAfter(0, internal.push.laneAction.laneProcess, start);
  }
  const handle = handler.handle as FunctionHandle<"action", { start: ProcessStart }>;
  return await ctx.scheduler.runAfter(0, handle, { start });
}

/** The start of a lane: it carries no jobs that are too large, and its first call receives them. */
export function carried(start: LaneStart): LaneStart {
  const isLarge = getConvexSize(start.jobs) > LANE_CARRIES_BYTES;
  return isLarge ? { ...start, ...undeliveredAfter(start.callSeq) } : start;
}

/** For jobs that are too large to be carried to a lane: its first call receives the jobs of this claim. */
export function undeliveredAfter(callSeq: number): Pick<LaneStart, "jobs" | "lastAckedCall"> {
  return { jobs: [], lastAckedCall: callSeq - 1 };
}

export const laneProcess = internalAction({
  args: vProcessStart.fields,
  returns: v.null(),
  handler: async (ctx, start): Promise<null> => {
    await runProcess(
      {
        step: ({ finished, ...args }) =>
          ctx.runMutation(internal.push.laneStep.stepLane, {
            ...args,
            finished: finished.map(finishedOf),
          }),
        apart: ({ finished, ...args }) =>
          ctx.runMutation(internal.push.laneApart.runApart, {
            ...args,
            ...(finished === undefined ? {} : { finished: finishedOf(finished) }),
          }),
        run: (job) => runByHandle(ctx, job),
        look: (args) => ctx.runQuery(internal.push.mainLoop.readProcesses, args),
        ask: (args) => ctx.runMutation(internal.push.mainLoop.askForPlaces, args),
        close: (args) => ctx.runMutation(internal.push.mainLoop.closeProcess, args),
        tend: () => ctx.runMutation(internal.tend.tend.tendNow, {}),
        rouse: (from) => ctx.runMutation(internal.push.mainLoop.rouseQueues, { from }),
      },
      start,
    );
    return null;
  },
});

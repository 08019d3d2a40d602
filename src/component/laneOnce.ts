/**
 * A lane that begins with one job whose handler is a mutation: its first call, which runs that handler, is scheduled by
 * itself. An action that does nothing but make this call would cost a call and a start more. As a rule the call is also its
 * last; if it has taken more, an action goes on from there.
 *
 * The platform repeats it for as long as it conflicts. Where a handler brings the whole transaction down, nobody is left to
 * say so: the janitor finds the lane gone, and the next attempt is run by an action, which reports it.
 *
 * Reads and writes as a step; with more to do, its lane.
 */
import { v } from "convex/values";
import { vLaneStart, type LaneStart } from "../shared/index.js";
import { internal } from "./_generated/api.js";
import type { Id } from "./_generated/dataModel.js";
import { internalMutation, type MutationCtx } from "./_generated/server.js";
import { startLane } from "./laneAction.js";
import { runsUnder } from "./lanes.js";
import { stepOf } from "./laneStep.js";
import type { Queue } from "./queues.js";
import { withFittingResults } from "./results.js";

/** Starts a lane with its first jobs. */
export async function beginWith(
  ctx: MutationCtx,
  queue: Queue,
  start: LaneStart,
): Promise<Id<"_scheduled_functions">> {
  if (!isOnce(start)) return await startLane(ctx, queue, start);
  return await ctx.scheduler.runAfter(0, internal.laneOnce.run, start);
}

function isOnce({ jobs: [first, ...more], lookAfterMs }: LaneStart): boolean {
  if (first === undefined || more.length > 0 || lookAfterMs !== undefined) return false;
  return first.handler?.kind === "mutation" && first.job.resets === 0;
}

export const run = internalMutation({
  args: vLaneStart.fields,
  returns: v.null(),
  handler: async (ctx, { lane, generation, n: heard, jobs }): Promise<null> => {
    const execute = jobs.map(({ job: { id, attempt } }) => ({ id, attempt }));
    const n = heard + 1;
    const call = { lane, generation, n, heard, finished: [], execute, looks: 0 };
    const { jobs: next, lookAfterMs, isOver } = await stepOf(ctx, call, withFittingResults);
    if (isOver && next.length === 0) return null;
    const looks = lookAfterMs === null ? {} : { lookAfterMs };
    await runsUnder(ctx, lane as Id<"lanes">, (queue) =>
      startLane(ctx, queue, { lane, generation, n, jobs: next, ...looks }),
    );
    return null;
  },
});

/**
 * A lane that begins with one job whose handler is a mutation: its first call, which runs that handler, is scheduled by
 * itself. A process that does nothing but make this call would cost a call and a start more, and a slot. As a rule the call is
 * also its last; if it has taken more, a process goes on from there.
 *
 * The platform repeats it for as long as it conflicts. Where a handler brings the whole transaction down, nothing is left to
 * say so: the janitor finds the lane gone, and the next attempt is run by a process, which reports it.
 *
 * Reads and writes as a step; with more to do, a wake.
 */
import { v } from "convex/values";
import { vLaneStart, type Handler, type LaneStart } from "../shared/index.js";
import { internal } from "./_generated/api.js";
import type { Id } from "./_generated/dataModel.js";
import { internalMutation, type MutationCtx } from "./_generated/server.js";
import { stepOf } from "./laneStep.js";
import { withFittingResults } from "./results.js";

/** Whether a lane that begins with a job needs no process. */
export function isOnce(handler: Handler | undefined, resets: number): boolean {
  return handler?.kind === "mutation" && resets === 0;
}

export async function runOnce(
  ctx: MutationCtx,
  start: LaneStart,
): Promise<Id<"_scheduled_functions">> {
  return await ctx.scheduler.runAfter(0, internal.laneOnce.run, start);
}

export const run = internalMutation({
  args: vLaneStart.fields,
  returns: v.null(),
  handler: async (ctx, { lane, generation, n: heard, jobs }): Promise<null> => {
    const execute = jobs.map(({ job: { id, attempt } }) => ({ id, attempt }));
    const call = { lane, generation, n: heard + 1, heard, finished: [], execute, looks: 0 };
    await stepOf(ctx, call, withFittingResults);
    return null;
  },
});

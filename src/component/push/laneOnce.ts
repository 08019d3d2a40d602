/**
 * A lane that begins with one job and a mutation as its handler: its first call, which runs that handler, is scheduled
 * by itself. A process that does nothing but make this call would cost a call and a start more, and a slot. As a rule
 * the call is also its last; if it has taken more, a process goes on from there.
 *
 * The platform repeats it for as long as it conflicts: once it has lost, with its job's end alone, and the rest of the
 * call is made by another function. Where a handler brings the whole transaction down, nothing is left to say so: the
 * janitor finds the lane gone, and the next attempt is run by a process, which reports it.
 *
 * Reads, writes, conflicts with: as `laneStep.ts`, without a process; with more to do, it schedules a wake. Conflicts with
 * the app's code too, until it has lost once.
 */
import { v } from "convex/values";
import {
  apartCallOf,
  msOfCommit,
  vLaneStart,
  vLaneStep,
  type Handler,
  type LaneStart,
  type LaneStep,
} from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Id } from "../_generated/dataModel.js";
import { internalMutation, type MutationCtx } from "../_generated/server.js";
import { findJob } from "../rows/jobs.js";
import { generationOf, runsOnIn } from "../rows/sessions.js";
import { apartOf } from "./laneApart.js";
import { stepOf } from "./laneStep.js";
import { lossesOf } from "./losses.js";
import { withFittingResults } from "./results.js";

/** Whether a lane that begins with a job needs no process. */
export function isOnce(handler: Handler | undefined, resets: number): boolean {
  return handler?.kind === "mutation" && resets === 0;
}

export async function runOnce(
  ctx: MutationCtx,
  start: LaneStart & { hasLost?: boolean },
): Promise<Id<"_scheduled_functions">> {
  return await ctx.scheduler.runAfter(0, internal.push.laneOnce.runSingle, {
    ...start,
    sentAt: Date.now(),
  });
}

export const runSingle = internalMutation({
  args: { ...vLaneStart.fields, sentAt: v.number(), hasLost: v.optional(v.boolean()) },
  returns: v.null(),
  handler: async (ctx, start): Promise<null> => {
    const { lane, generation, callSeq: lastAckedCall, jobs, sentAt, hasLost = false } = start;
    const now = Date.now();
    const execute = jobs.map(({ job: { id, attempt } }) => ({ id, attempt }));
    const call = {
      lane,
      generation,
      callSeq: lastAckedCall + 1,
      lastAckedCall,
      finished: [],
      execute,
      looks: 0,
    };
    if (!hasLost && lossesOf(ctx, await claimedAt(ctx, jobs), now) === "never") {
      await stepOf(ctx, call, withFittingResults);
      return null;
    }
    // The platform waits ever longer, up to a minute. A chance, since the scheduler itself may be as late.
    if (now - sentAt > ANEW_MS && Math.random() < 0.5) {
      await runOnIn(ctx, call, async () => await runOnce(ctx, { ...start, hasLost: true }));
      return null;
    }
    // It has lost: its job is run by itself, and the rest of the call is made by the next function.
    for (const { job } of jobs) await apartOf(ctx, apartCallOf(job), withFittingResults);
    const left: LaneStep = { ...call, execute: [], over: execute };
    await runOnIn(ctx, call, () =>
      ctx.scheduler.runAfter(0, internal.push.laneOnce.leaveSingle, left),
    );
    return null;
  },
});

/** When its wake had committed: it could begin no sooner. */
async function claimedAt(ctx: MutationCtx, jobs: LaneStart["jobs"]): Promise<number | undefined> {
  const job = jobs.length === 0 ? null : await findJob(ctx.db, jobs[0]!.job.id);
  return job === null ? undefined : msOfCommit(job.seq as bigint);
}

/** A function that has lost conflicts for so long is scheduled anew. */
const ANEW_MS = 1_000;

/** The lane goes on in another function, unless its place has been taken. */
async function runOnIn(
  ctx: MutationCtx,
  { lane: of, generation }: LaneStep,
  schedule: () => Promise<Id<"_scheduled_functions">>,
): Promise<void> {
  const id = ctx.db.normalizeId("lanes", of);
  const lane = id === null ? null : await ctx.db.get("lanes", id);
  const session = lane === null ? null : await ctx.db.get("sessions", lane.session);
  if (session === null || generationOf(session) !== generation) return;
  await runsOnIn(ctx.db, session._id, await schedule());
}

/** The lane's call, once its job has ended apart. */
export const leaveSingle = internalMutation({
  args: vLaneStep.fields,
  returns: v.null(),
  handler: async (ctx, call): Promise<null> => {
    await stepOf(ctx, call);
    return null;
  },
});

/**
 * Apart: one job of a lane in a transaction of its own, which holds its outcome, its callback and, where its handler is
 * a mutation, the handler's writes; no search, no claim, no other job. A call goes on so once its age
 * shows a second conflict, or once it was refused; a lane of one step (`laneOnce.ts`) after the first. So a row that the
 * whole app writes makes its own job wait, and nothing else of the lane.
 *
 * It writes neither the lane nor its session, which every step of the lane writes: the lease stays there until the lane's next
 * step names it as over. Exactly once all the same: an attempt is known by its number, which the job's row has while it runs.
 *
 * Reads for real: the job, its queue's row, the job's own rows; of a job without a handler that could begin, or with
 * another queue's, the last events of the queue; the reads of the app's code. Snapshot reads: of a call from outside
 * the component the session's row. Writes: as `recording.ts`; the writes of the app's code. Conflicts with: a
 * transaction that ends the same attempt, requests its cancel or notes a pause; the conflicts of the app's code.
 * Never with a wake or a claim; with a step only where that records such an event, once in ten minutes per queue.
 */
import type { Answer, LaneApart } from "../../shared/index.js";
import { vAnswer, vLaneApart } from "../../shared/index.js";
import { internalMutation, type MutationCtx } from "../_generated/server.js";
import { withEffects } from "../edges/applyEffects.js";
import { oweAll, tellAll } from "../edges/callbacks.js";
import { executeAll } from "./execute.js";
import { findJob } from "../rows/jobs.js";
import { lanesAmong } from "./laneReport.js";
import { getQueue } from "../rows/queues.js";
import type { HeldLease } from "../rows/sessions.js";
import { recordAll } from "../attempts/recording.js";
import { withFittingResults } from "./results.js";

export const runApart = internalMutation({
  args: vLaneApart.fields,
  returns: vAnswer,
  handler: (ctx, args): Promise<Answer> => apartOf(ctx, args, withFittingResults),
});

/** The same for a lane in an action of the app. Its results are checked, by the app; that the job is a lane's is not known. */
export async function apartOfApp(ctx: MutationCtx, args: LaneApart): Promise<Answer> {
  const { id, attempt } = args;
  const job = await findJob(ctx.db, id);
  const session = job?.session;
  if (session === undefined || !(await lanesAmong(ctx, [session])).has(session))
    return { id, attempt, answer: "leaseLost" };
  return await apartOf(ctx, args);
}

export async function apartOf(
  ctx: MutationCtx,
  { id, attempt, finished, timeoutMs, claimableAt, deferCallbacks = false }: LaneApart,
  check?: typeof withFittingResults,
): Promise<Answer> {
  const job = await findJob(ctx.db, id);
  if (job?.session === undefined) return { id, attempt, answer: "leaseLost" };
  const queue = await getQueue(ctx.db, job.queue);
  const lease: HeldLease = {
    ...{ id: job._id, attempt, callSeq: 0 },
    ...(timeoutMs === undefined ? {} : { timeoutAt: Date.now() + timeoutMs }),
    ...(claimableAt === undefined ? {} : { claimableAt }),
  };
  const held = { _id: job.session, leases: [lease] };
  const deliver = deferCallbacks ? oweAll : tellAll;
  const { answers } = await withEffects(ctx, { bySession: true, deliver }, (ctx) =>
    finished === undefined
      ? executeAll(ctx, held, queue, [{ id, attempt }])
      : recordAll(ctx, held, check?.(queue, [finished]) ?? [finished], "lane", queue),
  );
  return answers[0]!;
}

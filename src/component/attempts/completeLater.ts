/**
 * An outcome that no call of its worker could record, since each lost a conflict: it is handed to a scheduled mutation,
 * which the platform retries until it commits, however often it loses.
 *
 * `completeLater` reads for real: the token, the job, and the mutation that is to record its outcome, if one has been
 * scheduled; writes the job's row, which names it. Of a lease that the session does not hold nothing is scheduled,
 * and nothing more of one with a mutation that is to run, or runs. Conflicts with: every edge and note of the job.
 * `recordLate` is as `complete` with one outcome and no claim, outside the session's calls: it is no sign of life, an
 * owed callback is delivered later, and it ensures the roll-up itself, with a read of the roll-up's alarm. Fenced by
 * the lease, as every word of a worker: the second finds it gone. Conflicts with: as `complete`, with one outcome; at
 * the session's row with its calls and beats; the ring of the roll-up's alarm; as a rule never with another session's
 * claim.
 */
import { v } from "convex/values";
import { checkLeases, checkName, vFinished, type Finished } from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import { internalMutation, type MutationCtx } from "../_generated/server.js";
import { withEffects } from "../edges/applyEffects.js";
import { keepOthers, sessionOfKey } from "../rows/sessions.js";
import { noteHandedOver } from "../rows/jobNotes.js";
import { findJob } from "../rows/jobs.js";
import { recordAll } from "./recording.js";
import { sessionOf, judgeLease } from "./report.js";
import { authorize } from "../rows/tokens.js";

export async function completeLater(
  ctx: MutationCtx,
  {
    token: secret,
    sessionKey,
    finished,
  }: { token: string; sessionKey: string; finished: Finished },
): Promise<null> {
  checkName("A session", sessionKey);
  checkLeases("The outcome that is handed over", [finished], 1, 1);
  const token = await authorize(ctx.db, secret, []);
  const session = await sessionOf(ctx, { sessionKey }, token._id);
  const job = await findJob(ctx.db, finished.id);
  if (job === null || judgeLease(job, finished.attempt, session, token) === "leaseLost")
    return null;
  const before =
    job.wake === undefined ? null : await ctx.db.system.get("_scheduled_functions", job.wake);
  if (before?.state.kind === "pending" || before?.state.kind === "inProgress") return null;
  const args = { token: token._id, sessionKey, finished };
  const { recordLate } = internal.attempts.completeLater;
  await noteHandedOver(ctx.db, job, await ctx.scheduler.runAfter(0, recordLate, args));
  return null;
}

export const recordLate = internalMutation({
  args: { token: v.id("tokens"), sessionKey: v.string(), finished: vFinished },
  returns: v.null(),
  handler: async (ctx, { token, sessionKey, finished }): Promise<null> => {
    const session = await sessionOfKey(ctx.db, sessionKey);
    if (session?.token !== token) return null;
    const { answers, leases } = await withEffects(ctx, {}, (ctx) =>
      recordAll(ctx, session, [finished], "worker"),
    );
    const recorded = answers.filter(({ answer }) => answer === "ok").length;
    if (leases.length < session.leases.length) await keepOthers(ctx.db, session, leases, recorded);
    return null;
  },
});

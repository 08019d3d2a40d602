/**
 * Reports and questions of handlers inside Convex about their jobs: the same as a worker's report, from the app's own
 * functions. There is no token and no session; an attempt is known by its number, while it runs and a lane holds it.
 *
 * Reads for real: as `report.ts`; a question, the jobs it names. Snapshot reads: the sessions' rows. Writes:
 * `progress`, `logs`, `chunks`. Conflicts with: the end of that very attempt, and each note in the job's row, as a
 * request for its cancel. It renews no lease and moves no job.
 */
import { v } from "convex/values";
import { checkLeases, LEASES_MAX, type Answer, type ReportAnswer } from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import { internalQuery, type MutationCtx, type QueryCtx } from "../_generated/server.js";
import { findJob } from "../rows/jobs.js";
import { byLease, record, type Report } from "../attempts/report.js";
import { checkReport } from "../attempts/reportChecks.js";

export async function laneReport(
  ctx: MutationCtx,
  args: Report,
): Promise<{ answers: ReportAnswer[] }> {
  const leases = byLease(args);
  checkReport(args, leases.length);
  const lanes = await lanesAmong(ctx, await sessionsOf(ctx, leases));
  const judge = (job: Doc<"jobs"> | null, attempt: number) =>
    job?.session !== undefined && lanes.has(job.session) ? judgeAttempt(job, attempt) : "leaseLost";
  return { answers: await record(ctx, leases, judge, Date.now()) };
}

async function sessionsOf(
  ctx: MutationCtx,
  leases: readonly { id: string }[],
): Promise<Id<"sessions">[]> {
  const sessions = new Set<Id<"sessions">>();
  for (const { id } of leases) {
    const job = await findJob(ctx.db, id);
    if (job?.status === "running" && job.session !== undefined) sessions.add(job.session);
  }
  return [...sessions];
}

/**
 * A session's row changes with every call of its lane, so that a real read would make a report retry again and again.
 * Whether it is a lane's never changes: only a row that a snapshot does not show, since the lane is new, is read for
 * real.
 */
export async function lanesAmong(
  ctx: MutationCtx,
  sessions: Id<"sessions">[],
): Promise<ReadonlySet<Id<"sessions">>> {
  if (sessions.length === 0) return new Set();
  const seen: Id<"sessions">[] = await ctx.runQuery(
    internal.push.laneReport.laneSessions,
    { sessions },
    { useStaleSnapshot: true },
  );
  const lanes = new Set(seen);
  for (const id of sessions) {
    if (!lanes.has(id) && (await ctx.db.get("sessions", id))?.lane !== undefined) lanes.add(id);
  }
  return lanes;
}

/** To be called with `useStaleSnapshot`. */
export const laneSessions = internalQuery({
  args: { sessions: v.array(v.id("sessions")) },
  returns: v.array(v.id("sessions")),
  handler: async (ctx, { sessions }): Promise<Id<"sessions">[]> => {
    const lanes: Id<"sessions">[] = [];
    for (const id of sessions) {
      if ((await ctx.db.get("sessions", id))?.lane !== undefined) lanes.push(id);
    }
    return lanes;
  },
});

/** How each of these attempts stands: `ok`; `canceled`, where it is to be ended; or it is over. */
export async function laneStanding(
  ctx: QueryCtx,
  leases: readonly { id: string; attempt: number }[],
): Promise<Answer[]> {
  checkLeases("The attempts that are asked about", leases, 1, LEASES_MAX);
  const answers: Answer[] = [];
  for (const { id, attempt } of leases) {
    answers.push({ id, attempt, answer: judgeAttempt(await findJob(ctx.db, id), attempt) });
  }
  return answers;
}

function judgeAttempt(job: Doc<"jobs"> | null, attempt: number): Answer["answer"] {
  if (job?.status !== "running" || job.attempt !== attempt) return "leaseLost";
  return job.cancelRequestedAt === undefined ? "ok" : "canceled";
}

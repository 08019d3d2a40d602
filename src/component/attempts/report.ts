/**
 * Report: a worker's reports about running jobs, all of them in one call: progress, log entries, output. The only
 * writer of `progress`, but for `remove.ts`, which deletes it with its job; `logs.ts` and `chunks.ts` write the rows of
 * the other two.
 *
 * A lease is checked against the job's row (it runs, this attempt, this session), never against the session's row, which
 * changes with every call of the worker: so a report conflicts with no call of a worker.
 *
 * Reads for real: the token; of each lease the job, its row of `progress`, its last log entry and part of output; as far as
 * `reportRoom.ts` lets it, the first ones of these too. A lease that has no answer is left for the call that says it again.
 * Snapshot reads: the session's row, where the caller does not know its session (and a real read where the snapshot
 * shows none). Writes: `progress`, `logs`, `chunks`. Conflicts with: the end of that very attempt, and each note in
 * the job's row: a request for its cancel, a pause, `completeLater`; another report of the attempt; a deletion of the
 * job; at the quota, as `quotas.ts`. A transaction that ends an attempt reads nothing of this, but a sweep that ends
 * one which its session never acknowledged. It renews no lease and moves no job.
 */
import { v, type Value } from "convex/values";
import {
  covers,
  type Answer,
  type OutputUpdate,
  type LogUpdate,
  type ProgressUpdate,
  type ReportAnswer,
} from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import { internalQuery, type DatabaseReader, type MutationCtx } from "../_generated/server.js";
import { addOutput } from "./chunks.js";
import { findJob } from "../rows/jobs.js";
import { addLogs } from "./logs.js";
import { checkQuota, countWrites } from "../rows/quotas.js";
import { checkReport } from "./reportChecks.js";
import { hasRoom } from "./reportRoom.js";
import { authorize, scopeOf } from "../rows/tokens.js";

export interface Report {
  updates?: ProgressUpdate[];
  logs?: LogUpdate[];
  output?: OutputUpdate[];
}

/** All that a call says of one lease. */
export interface LeaseReport {
  id: string;
  attempt: number;
  updates: ProgressUpdate[];
  logs: LogUpdate[];
  output: OutputUpdate[];
}

export async function report(
  ctx: MutationCtx,
  args: Report & { token: string; sessionKey: string; session?: string },
): Promise<{ answers: ReportAnswer[] }> {
  const now = Date.now();
  const leases = byLease(args);
  const bytes = checkReport(args, leases.length);
  const token = await authorize(ctx.db, args.token, []);
  if (bytes > 0) checkQuota(token, now);
  const session = await sessionOf(ctx, args, token._id);
  const judge = (job: Doc<"jobs"> | null, attempt: number) =>
    judgeLease(job, attempt, session, token);
  const answers = await record(ctx, leases, judge, now);
  await countWrites(ctx.db, token, bytes - bytesLeft(leases, answers), now);
  return { answers };
}

/**
 * Writes the reports about leases that stand, and answers for each, but for the ones that it has no room for: there is room for
 * one at least. It begins with any, so that jobs of which much is deleted with each call hold up no other.
 */
export async function record(
  ctx: MutationCtx,
  leases: readonly LeaseReport[],
  judge: (job: Doc<"jobs"> | null, attempt: number) => Answer["answer"],
  now: number,
): Promise<ReportAnswer[]> {
  const answers: ReportAnswer[][] = leases.map(() => []);
  const first = now % leases.length;
  for (let i = 0; i < leases.length; i += 1) {
    const at = (first + i) % leases.length;
    const lease = leases[at]!;
    if (i > 0 && !(await hasRoom(ctx, lease.logs.length))) continue;
    const { id, attempt } = lease;
    const job = await findJob(ctx.db, id);
    const answer = judge(job, attempt);
    if (job === null || answer === "leaseLost") {
      answers[at] = [{ id, attempt, answer }];
      continue;
    }
    await showProgress(ctx, job, lease.updates, now);
    const logged = await addLogs(ctx.db, job, lease.logs, now);
    const written = await addOutput(ctx, job, lease.output);
    answers[at] = [{ id, attempt, answer, ...logged, ...written }];
  }
  return answers.flat();
}

/** The bytes of the leases that are left for the next call. */
function bytesLeft(leases: readonly LeaseReport[], answers: readonly ReportAnswer[]): number {
  const isAnswered = ({ id, attempt }: LeaseReport) =>
    answers.some((one) => one.id === id && one.attempt === attempt);
  if (answers.length === leases.length) return 0;
  const left = leases.filter((one) => !isAnswered(one));
  return left.reduce((sum, one) => sum + checkReport(one, 1), 0);
}

/** Whether the lease stands. A worker obeys a request to end the job: until then it may report. */
export function judgeLease(
  job: Doc<"jobs"> | null,
  attempt: number,
  session: Id<"sessions"> | null,
  token: Doc<"tokens">,
): Answer["answer"] {
  if (job?.status !== "running" || job.attempt !== attempt || job.session !== session) {
    return "leaseLost";
  }
  // A token that is not for the job cannot have claimed it.
  if (!covers(scopeOf(token), job)) return "leaseLost";
  return job.cancelRequestedAt === undefined ? "ok" : "canceled";
}

/** The latest value, unless a later one is there: a late value is dropped. */
async function showProgress(
  ctx: MutationCtx,
  job: Doc<"jobs">,
  updates: readonly ProgressUpdate[],
  now: number,
): Promise<void> {
  const last = updates.at(-1);
  if (last === undefined) return;
  const { attempt, value, revision } = last;
  const row = {
    ...{ job: job._id, attempt, value: value as Value, updatedAt: now },
    ...(revision === undefined ? {} : { revision }),
  };
  const there = await ctx.db
    .query("progress")
    .withIndex("job", (q) => q.eq("job", job._id))
    .unique();
  if (there === null) await ctx.db.insert("progress", row);
  else if (there.attempt !== attempt || (there.revision ?? 0) <= (revision ?? Infinity)) {
    await ctx.db.replace("progress", there._id, row);
  }
}

export function byLease({ updates = [], logs = [], output = [] }: Report): LeaseReport[] {
  const leases = new Map<string, LeaseReport>();
  const of = ({ id, attempt }: { id: string; attempt: number }): LeaseReport => {
    const key = `${attempt}:${id}`;
    const said = leases.get(key) ?? { id, attempt, updates: [], logs: [], output: [] };
    leases.set(key, said);
    return said;
  };
  for (const update of updates) of(update).updates.push(update);
  for (const log of logs) of(log).logs.push(log);
  for (const part of output) of(part).output.push(part);
  return [...leases.values()];
}

// --- The caller -------------------------------------------------------------------------------------

/**
 * The id of the session's row, which never changes, without depending on the row, which always does. A claim returns
 * it, and only to its caller. A session that is not there to be seen may have claimed for the first time a moment ago:
 * a snapshot may be older than that, and no lease is lost by it.
 */
export async function sessionOf(
  ctx: MutationCtx,
  { session, sessionKey }: { session?: string; sessionKey: string },
  token: Id<"tokens">,
): Promise<Id<"sessions"> | null> {
  if (session !== undefined) return await ownSession(ctx, session, token);
  const asked = { sessionKey, token };
  const seen = await ctx.runQuery(internal.attempts.report.findSession, asked, lookOnly);
  return seen ?? (await sessionOfKey(ctx.db, asked));
}

/** The session that a call names by its row, if it is of the caller's token: which never changes either. */
async function ownSession(
  ctx: MutationCtx,
  session: string,
  token: Id<"tokens">,
): Promise<Id<"sessions"> | null> {
  const id = ctx.db.normalizeId("sessions", session);
  if (id === null) return null;
  const seen = await ctx.runQuery(internal.attempts.report.findToken, { session: id }, lookOnly);
  const of = seen ?? (await ctx.db.get("sessions", id))?.token;
  return of === token ? id : null;
}

export const findToken = internalQuery({
  args: { session: v.id("sessions") },
  returns: v.union(v.id("tokens"), v.null()),
  handler: async ({ db }, { session }): Promise<Id<"tokens"> | null> =>
    (await db.get("sessions", session))?.token ?? null,
});

const lookOnly = { useStaleSnapshot: true } as const;

export const findSession = internalQuery({
  args: { sessionKey: v.string(), token: v.id("tokens") },
  returns: v.union(v.id("sessions"), v.null()),
  handler: async ({ db }, asked): Promise<Id<"sessions"> | null> => await sessionOfKey(db, asked),
});

async function sessionOfKey(
  db: DatabaseReader,
  { sessionKey, token }: { sessionKey: string; token: Id<"tokens"> },
): Promise<Id<"sessions"> | null> {
  const session = await db
    .query("sessions")
    .withIndex("sessionKey", (q) => q.eq("sessionKey", sessionKey))
    .unique();
  return session?.token === token ? session._id : null;
}

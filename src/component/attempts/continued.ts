/**
 * An outcome with jobs that go on from it: recorded and enqueued together, or not at all.
 *
 * In a sub-transaction, since a job that cannot be enqueued (its queue is being drained, its key is taken, its payload is
 * too large) must undo this outcome and no other: the attempt then has failed, and says why. So does a job of a group that
 * its worker's token is not for.
 *
 * Reads for real: the job; the queues, keys and rules of the jobs to follow, as `enqueue.ts`. Writes: as
 * `recording.ts` and `enqueue.ts`. Conflicts with: a transaction that ends the same attempt, or writes a note in the
 * job's row, as a request for its cancel; an enqueue with a key of these jobs, and as `enqueue.ts`; where its token's
 * bytes are counted, as `quotas.ts`.
 */
import { ConvexError, getConvexSize, v, type Infer, type Value } from "convex/values";
import {
  covers,
  errorText,
  groupForbidden,
  isConveyorError,
  TOKEN_JOB_BYTES,
  vFinished,
  vOutcome,
  type Outcome,
} from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Doc } from "../_generated/dataModel.js";
import {
  internalMutation,
  type DatabaseReader,
  type DatabaseWriter,
} from "../_generated/server.js";
import { withEffects } from "../edges/applyEffects.js";
import type { EdgeCtx, PendingCallback } from "../rows/effects.js";
import { declareQueue, findDeclared, getQueue, type Queue } from "../rows/queues.js";
import { enqueueJobs } from "../enter/enqueue.js";
import { effective, recordOutcome } from "./outcomes.js";
import { checkQuota, countWrites } from "../rows/quotas.js";
import { scopeOf } from "../rows/tokens.js";
import { owedFields } from "../rows/stored.js";

export type Continued = NonNullable<Infer<typeof vFinished>["continued"]>;

/** As `recordOutcome`, and enqueues the jobs to follow if the outcome is recorded as it was reported. */
export async function recordContinued(
  ctx: EdgeCtx,
  queue: Queue,
  job: Doc<"jobs">,
  outcome: Outcome,
  continued: Continued,
): Promise<void> {
  const { now, bySession, effects } = ctx;
  try {
    const token = await tokenOf(ctx.db, job);
    const following =
      token === null ? continued : await permitted(ctx.db, token, job, continued, now);
    const of = token === null ? {} : { token: token._id };
    const args = { job: job._id, outcome, continued: following, ...of };
    const callbacks: PendingCallback[] = await ctx.runMutation(
      internal.attempts.continued.recordFollowing,
      { ...args, bySession, now },
    );
    effects.callbacks.push(...callbacks);
  } catch (error) {
    const refused: Outcome = {
      kind: "failed",
      error: `The jobs that it was to be continued with were refused, so that its outcome (${outcome.kind}) was not recorded: ${textOf(error)}`,
    };
    await recordOutcome(ctx, queue, job, refused);
  }
}

/** Of the worker that has the job; `null` where Convex itself runs it. */
async function tokenOf(
  db: DatabaseReader,
  { session }: Doc<"jobs">,
): Promise<Doc<"tokens"> | null> {
  const row = session === undefined ? null : await db.get("sessions", session);
  return row?.token === undefined ? null : await db.get("tokens", row.token);
}

/**
 * The jobs to follow one of a worker with a token: counted as written by that; and, where the token is for some groups,
 * of a group of these, or, where none is named, of the job's own. Reads for real the session's row and the token.
 */
async function permitted(
  db: DatabaseWriter,
  token: Doc<"tokens">,
  { group: own }: Doc<"jobs">,
  continued: Continued,
  now: number,
): Promise<Continued> {
  checkQuota(token, now);
  const count = continued.reduce((sum, { jobs }) => sum + jobs.length, 0);
  await countWrites(db, token, getConvexSize(continued) + count * TOKEN_JOB_BYTES, now);
  const { name, groups } = scopeOf(token);
  if (groups === null) return continued;
  const isAllowed = (group: string | undefined) =>
    // Of which groups the app would answer may have changed since the claim; of the job's own it was asked then.
    groups === "byQuery" ? group === own : covers({ queues: null, groups }, { queue: "", group });
  return continued.map(({ queue, jobs }) => ({
    queue,
    jobs: jobs.map(({ payload, options }) => {
      const group = options?.group ?? own;
      if (group !== undefined && isAllowed(group))
        return { payload: payload as Value, options: { ...options, group } };
      throw groupForbidden(name, groups, group ?? "");
    }),
  }));
}

/** Returns the callbacks: they are run at the end of the step that this is a part of. */
export const recordFollowing = internalMutation({
  args: {
    job: v.id("jobs"),
    outcome: vOutcome,
    continued: vFinished.fields.continued,
    /** Of the worker that continues. */
    token: v.optional(v.id("tokens")),
    bySession: v.boolean(),
    now: v.number(),
  },
  returns: v.array(v.object(owedFields)),
  handler: (ctx, { job: id, outcome, continued = [], token, bySession, now }) =>
    withEffects(ctx, { now, bySession }, async (ctx): Promise<PendingCallback[]> => {
      const job = (await ctx.db.get("jobs", id))!;
      const stands = effective(job, outcome) === outcome;
      // Recorded first: the key of a job that ends with it may be taken by a job to follow.
      await recordOutcome(ctx, await getQueue(ctx.db, job.queue), job, outcome);
      // Of one trace with this one, unless they name another.
      const { traceparent } = job;
      const inherited = traceparent === undefined ? undefined : { traceparent };
      for (const { queue: declaration, jobs } of stands ? continued : []) {
        // No wrapper stands before a lane: the step declares by itself.
        const known = await findDeclared(ctx.db, declaration, now);
        const queue = known ?? (await declareQueue(ctx, declaration));
        const traced =
          inherited && jobs.map((one) => ({ ...one, options: { ...inherited, ...one.options } }));
        await enqueueJobs(ctx, queue, traced ?? jobs, token);
      }
      return ctx.effects.callbacks.splice(0);
    }),
});

function textOf(error: unknown): string {
  if (isConveyorError(error)) return error.data.message;
  if (error instanceof ConvexError) return JSON.stringify(error.data);
  return errorText(error);
}

/**
 * Complete: a worker's session reports how attempts ended, and in the same transaction claims what comes next.
 *
 * Order: outcomes → callbacks → everything re-read → claim. A callback may enqueue, cancel or retry: what was read
 * before it is not believed after it.
 *
 * A callback that conflicts takes the outcome down with it: that the app's data changed is found out at the commit,
 * where no `try` of ours can be. A worker whose call was refused for it asks with `deferCallbacks` that nobody be told
 * here: all that is owed becomes rows, and the transaction depends on nothing of the app's.
 *
 * Reads for real: the token, the session's row, each job reported, its queue's row, then as a claim. Writes: those
 * jobs, `payloads` for large results, the session's row, whatever the app's callbacks write; inserts into
 * `callbacks`. Conflicts with: what the callbacks conflict with, and as a claim. Never with an enqueue.
 */
import type { Value } from "convex/values";
import {
  checkLength,
  LEASES_MAX,
  type Answer,
  type ClaimedJob,
  type Finished,
  type Outcome,
} from "../shared/index.js";
import type { Doc } from "./_generated/dataModel.js";
import type { MutationCtx } from "./_generated/server.js";
import { owe, tellAll, type Owed } from "./callbacks.js";
import { checkRequest, claimedBefore, takeJobs, type ClaimRequest } from "./claim.js";
import {
  closeCall,
  enterHolder,
  findLease,
  judgeCall,
  keepLeases,
  type HeldLease,
  type Holder,
} from "./holders.js";
import { whyNotStorable } from "./payloads.js";
import { endJob } from "./ending.js";
import { forgetAsked } from "./cancels.js";
import { getQueue } from "./queues.js";
import { ensureJanitor } from "./timers.js";
import { authorize } from "./tokens.js";
import { fail, release, stop, succeed } from "./transitions.js";

export interface Completed {
  answers: Answer[];
  jobs: ClaimedJob[];
  cursor?: string;
  holder: string;
}

export async function complete(
  ctx: MutationCtx,
  args: {
    token: string;
    session: string;
    n: number;
    finished: Finished[];
    claim?: ClaimRequest;
    deferCallbacks?: boolean;
  },
): Promise<Completed> {
  const now = Date.now();
  checkLength("The finished jobs of a call", args.finished, 1, LEASES_MAX);
  const request = args.claim;
  const queues = request === undefined ? [] : checkRequest(request);
  const token = await authorize(ctx.db, args.token, queues);
  const caller = { token, session: args.session, name: token.name, queues };
  const holder = await enterHolder(ctx.db, caller, now);
  if (judgeCall(holder, args.n) === "repeated") {
    return { ...holder.reply, jobs: await claimedBefore(ctx, holder), holder: holder._id };
  }

  const recorded = await recordAll(ctx, holder, args.finished, now);
  let current: Holder = { ...holder, leases: recorded.leases };
  if (args.deferCallbacks === true) {
    for (const one of recorded.owed) await owe(ctx, one);
  } else if (recorded.owed.length > 0) {
    await keepLeases(ctx.db, holder, recorded.leases, now);
    await tellAll(ctx, recorded.owed);
    current = (await ctx.db.get("holders", holder._id))!;
  }
  const besideCallbacks = args.deferCallbacks !== true && recorded.owed.length > 0;
  const claimed =
    request === undefined
      ? undefined
      : await takeJobs(ctx, current, args.n, request, now, { besideCallbacks });

  const { answers } = recorded;
  const closed = await closeCall(
    ctx.db,
    current,
    {
      n: args.n,
      claimed: claimed?.leases ?? [],
      answers,
      cursor: claimed?.cursor,
      ...(request === undefined ? {} : { queues }),
    },
    now,
  );
  if (closed.leases.length > 0) await ensureJanitor(ctx, closed.expiresAt, now, claimed?.timer);
  if (claimed === undefined) return { answers, jobs: [], holder: holder._id };
  return { answers, jobs: claimed.jobs, cursor: claimed.cursor, holder: holder._id };
}

// --- Outcomes -----------------------------------------------------------------------------------

interface Recorded {
  answers: Answer[];
  /** What the holder still has. */
  leases: HeldLease[];
  owed: Owed[];
}

/** Records what is the holder's to report. Each gets an answer of its own; a stale one undoes no other. */
export async function recordAll(
  ctx: MutationCtx,
  holder: Holder,
  finished: readonly Finished[],
  now: number,
): Promise<Recorded> {
  const answers: Answer[] = [];
  const owed: Owed[] = [];
  let leases = holder.leases;
  for (const { id, attempt, outcome } of finished) {
    // Looked up among those that are left, so that an attempt reported twice in one call is recorded once.
    const held = findLease({ ...holder, leases }, id, attempt);
    const job = held === undefined ? null : await ctx.db.get("jobs", held.id);
    leases = leases.filter((lease) => lease !== held);
    if (held !== undefined && job === null) await forgetAsked(ctx.db, held.id);
    if (held === undefined || job?.status !== "running" || job.attempt !== attempt) {
      answers.push({ id, attempt, answer: await answerUnheld(ctx, holder, id, attempt) });
      continue;
    }
    const tell = await recordOutcome(ctx, job, outcome, now);
    if (tell !== null) owed.push(tell);
    answers.push({ id, attempt, answer: "ok" });
  }
  return { answers, leases, owed };
}

/** What to say of a lease that the session does not hold. Nothing is written: it may be late, repeated or foreign. */
async function answerUnheld(
  ctx: MutationCtx,
  holder: Holder,
  id: string,
  attempt: number,
): Promise<Answer["answer"]> {
  const jobId = ctx.db.normalizeId("jobs", id);
  const job = jobId === null ? null : await ctx.db.get("jobs", jobId);
  if (job?.attempt !== attempt) return "leaseLost";
  if (job.status === "canceled") return "canceled";
  const reported = job.status === "succeeded" || job.status === "failed";
  return reported && job.holder === holder._id ? "recorded" : "leaseLost";
}

/** Moves one job along the edge of its outcome. Returns whom to tell, if anybody. */
async function recordOutcome(
  ctx: MutationCtx,
  job: Doc<"jobs">,
  outcome: Outcome,
  now: number,
): Promise<Owed | null> {
  const queue = await getQueue(ctx.db, job.queue);
  if (job.cancelRequestedAt !== undefined) {
    await forgetAsked(ctx.db, job._id);
    if (outcome.kind !== "succeeded") {
      return await endJob(ctx, queue, await stop(ctx.db, job, now));
    }
  }
  if (outcome.kind !== "succeeded" && outcome.kind !== "failed") {
    await release(ctx.db, job, queue, { unacknowledged: false });
    return null;
  }
  const ended = await finish(ctx, job, outcome, now);
  const { onComplete } = queue.config;
  if (onComplete === undefined) return null;
  return {
    job: job._id,
    handle: onComplete,
    attempt: job.attempt,
    ...(job.worker === undefined ? {} : { worker: job.worker }),
    outcome:
      ended.result === undefined
        ? { status: "failed", error: ended.error! }
        : { status: "succeeded", result: ended.result },
  };
}

/** A result that cannot be stored fails the job, and says so: the work is done, and nobody could report it better. */
async function finish(
  ctx: MutationCtx,
  job: Doc<"jobs">,
  outcome: Extract<Outcome, { kind: "succeeded" | "failed" }>,
  now: number,
): Promise<Doc<"jobs">> {
  if (outcome.kind === "failed") return await fail(ctx.db, job, outcome.error, now);
  const result = (outcome.result ?? null) as Value;
  const refusal = whyNotStorable(result);
  if (refusal !== null) return await fail(ctx.db, job, refusal, now);
  return await succeed(ctx.db, job, result, now);
}

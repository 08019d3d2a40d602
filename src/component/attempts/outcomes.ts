/**
 * A job's fate after its worker's report of an outcome. The caller has found, by real reads, that the attempt runs and
 * is the caller's to report, and takes its lease out of the session's row in this transaction.
 *
 * Nothing that a worker reports is refused here, since a refusal would undo the outcomes beside it: an impossible
 * request fails the attempt, and the error states the rule.
 *
 * Reads for real: the job's queue, its rules, its key; the request to end it, if there is one; of one with a handler
 * that could not be begun, as `blocked.ts`. Writes: the job, `payloads` for large results, `attempts`, and an event of
 * such a one.
 */
import type { Value } from "convex/values";
import { isWork, RUN_AT_FUTURE_MAX_MS, type Outcome } from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { EdgeCtx } from "../rows/effects.js";
import { recordAttempt } from "./attemptRows.js";
import { recordBlocked } from "./blocked.js";
import { forgetAsked } from "../rows/cancels.js";
import { endAtDeadline, isBeyondDeadline } from "../edges/deadlines.js";
import { failAttempt } from "./failing.js";
import { rulesOf } from "../rows/jobRules.js";
import { logEnded } from "../rows/log.js";
import { store, whyNotStorable } from "../rows/payloads.js";
import type { Queue } from "../rows/queues.js";
import { comeRound, release, snooze, stop, succeed } from "../edges/transitions.js";

/** Moves a job along the edge of its attempt's outcome. */
export async function recordOutcome(
  ctx: EdgeCtx,
  queue: Queue,
  job: Doc<"jobs">,
  reported: Outcome,
): Promise<void> {
  const { now } = ctx;
  if (job.cancelRequestedAt !== undefined) await forgetAsked(ctx.db, job._id);
  const isFailure = await staysFailure(ctx, queue, job, reported);
  const outcome = isFailure ? sound(reported) : effective(job, reported);
  switch (outcome.kind) {
    case "canceled":
      return await stopJob(ctx, queue, job);
    case "succeeded":
      return await recordResult(ctx, queue, job, (outcome.result ?? null) as Value);
    case "failed":
      return await failAttempt(ctx, queue, job, outcome);
    case "snoozed": {
      const dueAt = now + outcome.runAfter;
      if (outcome.blocked !== undefined) {
        const failure = await recordBlocked(
          ctx,
          queue,
          job,
          { ...outcome, kind: outcome.blocked },
          now,
        );
        if (failure !== null) return await failAttempt(ctx, queue, job, failure);
      } else await recordAttempt(ctx.db, job, "snoozed", now);
      if (isBeyondDeadline(job, dueAt)) return await endAtDeadline(ctx, queue, job);
      await snooze(ctx, job, dueAt);
      return;
    }
    case "released":
      await recordAttempt(ctx.db, job, "released", now);
      if (isBeyondDeadline(job, now)) return await endAtDeadline(ctx, queue, job);
      await release(ctx, job, queue, { unacknowledged: false });
  }
}

/**
 * The outcome that is recorded for a reported one. Where the job is asked to end, only a success stands, since its work
 * is done, and anything else is a cancellation. A worker may also end a job as canceled by itself.
 */
export function effective(job: Doc<"jobs">, reported: Outcome): Outcome {
  const outcome = sound(reported);
  if (outcome.kind === "succeeded" || job.cancelRequestedAt === undefined) return outcome;
  return outcome.kind === "canceled" ? outcome : { kind: "canceled" };
}

/**
 * Whether a failure is one although the job is asked to end: for a work pool's job that would not be retried, since
 * apps that move from that package distinguish the two by it.
 */
async function staysFailure(
  ctx: EdgeCtx,
  queue: Queue,
  job: Doc<"jobs">,
  reported: Outcome,
): Promise<boolean> {
  if (!isWork(queue.name)) return false;
  if (job.cancelRequestedAt === undefined || reported.kind !== "failed") return false;
  const { retry } = await rulesOf(ctx.db, queue, job);
  return reported.retryable === false || (job.failures ?? 0) + 1 >= retry.maxAttempts;
}

/** Ends a job that is asked to end, once its attempt has ended. */
export async function stopJob(ctx: EdgeCtx, queue: Queue, job: Doc<"jobs">): Promise<void> {
  await recordAttempt(ctx.db, job, "canceled", ctx.now, job.cancelReason);
  await stop(ctx, job, queue);
}

async function recordResult(
  ctx: EdgeCtx,
  queue: Queue,
  job: Doc<"jobs">,
  result: Value,
): Promise<void> {
  // A circular job of which a cancel is asked for has had its last round.
  if (!queue.config.circular || job.cancelRequestedAt !== undefined) {
    await succeed(ctx, job, queue, result);
    return;
  }
  logEnded(queue.config, "roundSucceeded", job, ctx.now);
  await comeRound(ctx, job, queue, { result: await store(ctx.db, result, 1) });
}

/** The outcome as far as it can be recorded; an impossible one is a failure that states the reason. */
function sound(outcome: Outcome): Outcome {
  switch (outcome.kind) {
    case "succeeded": {
      // The work is done, and would end like this again.
      const refusal = whyNotStorable((outcome.result ?? null) as Value);
      return refusal === null ? outcome : { kind: "failed", error: refusal, retryable: false };
    }
    case "failed": {
      const { retryAfterMs, ...failure } = outcome;
      if (retryAfterMs === undefined || isWait(retryAfterMs)) return outcome;
      return { ...failure, error: `${failure.error} (${waitRule("retryAfterMs", retryAfterMs)})` };
    }
    case "snoozed":
      if (isWait(outcome.runAfter)) return outcome;
      return { kind: "failed", error: waitRule("runAfter of a snooze", outcome.runAfter) };
    default:
      return outcome;
  }
}

function isWait(ms: number): boolean {
  return ms >= 0 && ms <= RUN_AT_FUTURE_MAX_MS;
}

function waitRule(what: string, got: number): string {
  return `${what} must be from 0 to ${RUN_AT_FUTURE_MAX_MS} milliseconds from now; got ${got}`;
}

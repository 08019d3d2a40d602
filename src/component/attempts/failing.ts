/**
 * Ends an attempt that failed: its worker reported it, or it ran too long. Every transaction that ends such an attempt comes
 * here, so that a failure is a failure wherever it is found.
 *
 * Reads for real: the job's rules, its key. Writes: the job, its key; inserts into `attempts`.
 */
import {
  backoffMs,
  isWork,
  jittered,
  RUN_AT_FUTURE_MAX_MS,
  TRACE_MAX_BYTES,
  type Retry,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import { recordAttempt } from "./attemptRows.js";
import type { EdgeCtx } from "../rows/effects.js";
import { endAtDeadline, hasReachedDeadline, isBeyondDeadline } from "../edges/deadlines.js";
import { rulesOf } from "../rows/jobRules.js";
import { aboutJob, log } from "../rows/log.js";
import { cutError, noted } from "../rows/payloads.js";
import type { Queue } from "../rows/queues.js";
import { backOff, comeRound, fail, timeOut } from "../edges/transitions.js";

/** How an attempt failed. */
export interface Failure {
  error: string;
  /** Where it was thrown. */
  trace?: string | undefined;
  /** `false`: another attempt would fail as well. */
  retryable?: boolean | undefined;
  /** When to try again, in place of the backoff. */
  retryAfterMs?: number | undefined;
  /** It ran longer than its `timeoutMs`. */
  timedOut?: boolean;
}

/** Ends an attempt that failed: the job is tried again, comes round, or ends with it. */
export async function failAttempt(
  ctx: EdgeCtx,
  queue: Queue,
  job: Doc<"jobs">,
  failure: Failure,
): Promise<void> {
  const { now } = ctx;
  const { retry, timeoutMs } = await rulesOf(ctx.db, queue, job);
  const failures = (job.failures ?? 0) + 1;
  const fatal = failure.retryable === false;
  const isTriedAgain = !fatal && failures < retry.maxAttempts;
  // Nothing was said of retries in a queue that works on its items again and again: the next round is the retry.
  const goesRound = !fatal && queue.config.circular && retry.maxAttempts <= 1;
  const { error: reported, trace } = failure;
  await recordAttempt(ctx.db, job, failure.timedOut ? "timedOut" : "failed", now, reported, {
    ...(trace === undefined ? {} : { trace }),
  });
  const dueAt = now + waitMs(retry, failures, failure.retryAfterMs);
  const isOutOfTime =
    (isTriedAgain && isBeyondDeadline(job, dueAt)) ||
    (failure.timedOut === true && hasReachedDeadline(job, timeoutMs, now));
  logFailure(queue, job, failure, isOutOfTime || (!isTriedAgain && !goesRound));
  if (isOutOfTime) return await endAtDeadline(ctx, queue, job, failure.error);
  if (isTriedAgain) return void (await backOff(ctx, job, failure.error, dueAt));
  if (goesRound) return void (await comeRound(ctx, job, queue, { error: failure.error }));
  // A work pool's `onComplete` may compare the text with the function's error.
  const note = isWork(queue.name) ? null : whyOver(retry, failures, fatal);
  const error = noted(failure.error, note);
  if (failure.timedOut) await timeOut(ctx, job, queue, error, { failed: true });
  else await fail(ctx, job, queue, error);
}

function waitMs(retry: Retry, failures: number, asked: number | undefined): number {
  if (asked !== undefined) return Math.min(asked, RUN_AT_FUTURE_MAX_MS);
  const { initialBackoffMs, maxBackoffMs, base } = retry;
  const ms = backoffMs(failures, initialBackoffMs, maxBackoffMs, base);
  return jittered(ms, Math.random(), retry.jitter);
}

/** Why it is not tried again, for people; `null` without a retry rule. */
function whyOver({ maxAttempts }: Retry, failures: number, fatal: boolean): string | null {
  if (maxAttempts <= 1) return null;
  if (fatal) return "not retried, since another attempt would fail as well";
  return `not retried, since it failed ${failures} times and maxAttempts is ${maxAttempts}`;
}

/** One that will be tried again is a warning, and the last is an error. */
function logFailure(queue: Queue, job: Doc<"jobs">, failure: Failure, isLast: boolean): void {
  const event = failure.timedOut ? "attemptTimedOut" : "attemptFailed";
  log(queue.config, isLast ? "error" : "warn", event, {
    ...{ ...aboutJob(job), attempt: job.attempt, worker: job.worker },
    ...{ failures: (job.failures ?? 0) + 1, error: cutError(failure.error) },
    trace: failure.trace === undefined ? undefined : cutError(failure.trace, TRACE_MAX_BYTES),
    isLast,
  });
}

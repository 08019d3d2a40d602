/**
 * What becomes of an attempt that failed: its worker said so, or it ran too long. Whoever ends such an attempt comes here,
 * so that a failure is a failure wherever it is found.
 *
 * Reads for real: what the job has of its own, its key. Writes: the job, its key; inserts into `attempts`. That somebody
 * comes for a job which is tried again is its caller's to see to, once for all that it ends.
 */
import {
  backoffMs,
  jittered,
  RUN_AT_FUTURE_MAX_MS,
  TRACE_MAX_BYTES,
  type FinishedStatus,
  type Retry,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { MutationCtx } from "../_generated/server.js";
import { recordAttempt } from "./attemptRows.js";
import { isResultOwed, type Owed } from "../edges/callbacks.js";
import { addDue, type Dues } from "../edges/dispatcher.js";
import { endAtDeadline, hasReachedDeadline, isBeyondDeadline } from "../edges/deadlines.js";
import { endJob, toTell } from "../edges/ending.js";
import { rulesOf } from "../rows/jobRules.js";
import { log } from "../rows/log.js";
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

/**
 * Ends an attempt that failed. Returns whom to tell, if the job has ended with it or has come round. What is tried again is
 * among `dues`, which the caller sees to.
 */
export async function failAttempt(
  ctx: MutationCtx,
  queue: Queue,
  job: Doc<"jobs">,
  failure: Failure,
  now: number,
  dues: Dues,
): Promise<Owed | null> {
  const { retry, compat, timeoutMs } = await rulesOf(ctx.db, queue, job);
  const failures = (job.failures ?? 0) + 1;
  const fatal = failure.retryable === false;
  const isTriedAgain = !fatal && failures < retry.maxAttempts;
  // Nothing was said of retries in a queue that works on its items again and again: the next round is the retry.
  const goesRound = !fatal && queue.config.circular && retry.maxAttempts <= 1;
  const { error: said, trace } = failure;
  await recordAttempt(ctx.db, job, failure.timedOut ? "timedOut" : "failed", now, said, {
    ...(trace === undefined ? {} : { trace }),
  });
  const dueAt = now + waitMs(retry, failures, failure.retryAfterMs);
  const isOutOfTime =
    (isTriedAgain && isBeyondDeadline(job, dueAt)) ||
    (failure.timedOut === true && hasReachedDeadline(job, timeoutMs, now));
  logFailure(queue, job, failure, isOutOfTime || (!isTriedAgain && !goesRound));
  if (isOutOfTime) return (await endAtDeadline(ctx, queue, job, now, failure.error)).owed;
  if (isTriedAgain) {
    await backOff(ctx.db, job, failure.error, dueAt);
    addDue(dues, queue.name, dueAt);
    return null;
  }
  if (goesRound) return await failRound(ctx, queue, job, failure.error, now, dues);
  // A work pool's `onComplete` may compare the text with what the function threw.
  const note = compat === "workpool" ? null : whyOver(retry, failures, fatal);
  const error = noted(failure.error, note);
  const ended = failure.timedOut
    ? await timeOut(ctx.db, job, error, now, { failed: true })
    : await fail(ctx.db, job, error, now);
  return await endJob(ctx, queue, ended);
}

/** A failed round of a circular job: it goes to the end of the ring like one that succeeded. */
async function failRound(
  ctx: MutationCtx,
  queue: Queue,
  job: Doc<"jobs">,
  error: string,
  now: number,
  dues: Dues,
): Promise<Owed | null> {
  const moved = await goRound(ctx, queue, job, { error }, now, dues);
  return await tellRound(ctx, queue, job, moved, "failed");
}

/** To the end of the ring, at once or after a rest. */
export async function goRound(
  ctx: MutationCtx,
  queue: Queue,
  job: Doc<"jobs">,
  round: Parameters<typeof comeRound>[3],
  now: number,
  dues: Dues,
): Promise<Doc<"jobs">> {
  const { restMs } = queue.config;
  const dueAt = restMs > 0 ? now + restMs : null;
  const keepResult = "result" in round && (await isResultOwed(ctx.db, job));
  const moved = await comeRound(ctx, job, queue, round, { now, dueAt, keepResult });
  if (dueAt !== null) addDue(dues, queue.name, dueAt);
  return moved;
}

/** The app is told of every round. The job no longer names the worker of the round that is over. */
export async function tellRound(
  ctx: MutationCtx,
  queue: Queue,
  before: Doc<"jobs">,
  after: Doc<"jobs">,
  status: FinishedStatus,
): Promise<Owed | null> {
  const { worker } = before;
  const told = { ...after, ...(worker === undefined ? {} : { worker }) };
  return await toTell(ctx, queue, told, status);
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
  if (fatal) return `not retried, since its worker said that another attempt would fail as well`;
  return `not retried, since it failed ${failures} times and maxAttempts is ${maxAttempts}`;
}

/** One that will be tried again is a warning, and the last is an error. */
function logFailure(queue: Queue, job: Doc<"jobs">, failure: Failure, isLast: boolean): void {
  const event = failure.timedOut ? "attemptTimedOut" : "attemptFailed";
  log(queue.config, isLast ? "error" : "warn", event, {
    ...{ queue: queue.name, job: job._id, attempt: job.attempt, worker: job.worker },
    ...{ failures: (job.failures ?? 0) + 1, error: cutError(failure.error) },
    ...(failure.trace === undefined ? {} : { trace: cutError(failure.trace, TRACE_MAX_BYTES) }),
    isLast,
  });
}

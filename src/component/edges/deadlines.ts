/**
 * Deadlines: a job that has not ended by `deadlineMs` after its enqueue, or its last retry by hand, ends as `timedOut`
 * with the code `deadlineExceeded`. One that waits is ended by the alarm of the segment (`startDeadlines.ts`), and is
 * given to no worker until then; of one that runs the attempt has no more time than that, and ends as by `timeoutMs`.
 * An attempt that would begin behind the deadline is none: the job ends with the attempt before.
 *
 * Reads for real: as `endJob`. Writes: the job, as `endJob`.
 */
import type { Doc } from "../_generated/dataModel.js";
import type { EdgeCtx } from "../rows/effects.js";
import { aboutJob, log } from "../rows/log.js";
import { noted } from "../rows/payloads.js";
import type { Queue } from "../rows/queues.js";
import { timeOut } from "./transitions.js";

type Job = Doc<"jobs">;

/** An attempt's own clock runs from its call: it ends a moment before its time is over here. */
const SLACK_MS = 1_000;

/** Whether no attempt of the job may begin at this instant. */
export function isBeyondDeadline({ deadline }: Pick<Job, "deadline">, at: number): boolean {
  return deadline !== undefined && (deadline.isPassed === true || deadline.at <= at);
}

/** Whether the job's time is over and it was never begun. */
export function isExpired(job: Doc<"jobs">, now: number): boolean {
  return (job.expiresAt ?? Infinity) <= now && job.attempt === 0 && isWaiting(job);
}

/** Whether a job that waits has no time left: it has expired, or its deadline has passed. */
export function isOutOfTime(job: Doc<"jobs">, now: number): boolean {
  return isExpired(job, now) || (isWaiting(job) && isBeyondDeadline(job, now));
}

function isWaiting({ status }: Doc<"jobs">): boolean {
  return status === "scheduled" || status === "pending";
}

/** Whether an attempt that ran too long was bounded by its job's deadline, and not by its own rule. */
export function hasReachedDeadline(
  job: Pick<Job, "deadline" | "startedAt">,
  timeoutMs: number | undefined,
  now: number,
): boolean {
  const { deadline, startedAt = now } = job;
  if (deadline === undefined || deadline.at - startedAt > (timeoutMs ?? Infinity)) return false;
  return isBeyondDeadline(job, now + SLACK_MS);
}

/** How long an attempt that begins now may run: as long as its rule says, and no longer than its job. */
export function withinDeadline(
  { deadline }: Pick<Job, "deadline">,
  timeoutMs: number | undefined,
  now: number,
): number | undefined {
  if (deadline === undefined) return timeoutMs;
  return Math.min(timeoutMs ?? Infinity, Math.max(1, deadline.at - now));
}

/** Ends a job at its deadline, whether it waits or runs. `failure`: of its last attempt, if that has failed. */
export async function endAtDeadline(
  ctx: EdgeCtx,
  queue: Queue,
  job: Job,
  failure?: string,
): Promise<void> {
  const { ms = 0 } = job.deadline ?? {};
  const rule = `it had ${ms} ms from its enqueue on (deadlineMs)`;
  const error =
    failure === undefined
      ? `The job did not end in time: ${rule}.`
      : noted(failure, `not retried, since ${rule}`);
  await timeOut(ctx, job, queue, error, {
    failed: failure !== undefined,
    code: "deadlineExceeded",
  });
  log(queue.config, "error", "jobExpired", { ...aboutJob(job), error });
}

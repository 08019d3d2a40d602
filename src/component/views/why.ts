/**
 * Why: the live answer to "why is this job not running?".
 *
 * Reads for real: the job and its queue's row; of one that is due later its last attempt and its rules; of one that
 * waits its position, the workers that could take it, and the time of its queue's last claim. Writes nothing. A
 * subscription is invalidated when any of that changes: for a waiting job of a busy queue, by every claim.
 */
import {
  isFinished,
  whyEnded,
  whyExpired,
  whyLate,
  whyPaused,
  whyPreferred,
  whyRunning,
  whyScheduled,
  whyWaits,
  msOfCommit,
  type DueBecause,
  type Reason,
  type Why,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { DatabaseReader, QueryCtx } from "../_generated/server.js";
import { eligibleWorkersOf, insideOf } from "./eligibleWorkers.js";
import { isExpired, isOutOfTime } from "../edges/deadlines.js";
import { rulesOf } from "../rows/jobRules.js";
import { findJobOf } from "../rows/jobs.js";
import { lastClaimIn } from "../count/queueFlow.js";
import { costOf } from "../rows/conditions.js";
import { positionOf } from "./position.js";
import { getQueue, findQueueRow, type Queue } from "../rows/queues.js";

type Job = Doc<"jobs">;

/** `null` for an id that names no job, or, with `queue`, one of another queue. */
export async function why(
  ctx: QueryCtx,
  id: string,
  ofQueue?: string,
  withErrors: boolean = true,
): Promise<Why | null> {
  const found = await findJobOf(ctx.db, id, ofQueue);
  if (found === null) return null;
  const job = withErrors ? found : withoutErrors(found);
  return { status: job.status, reasons: await reasonsOf(ctx.db, job, Date.now()) };
}

/** Errors are not for every reader that may know why the job waits. */
function withoutErrors({ error: _error, cancelReason: _reason, ...job }: Job): Job {
  return job;
}

async function reasonsOf(db: DatabaseReader, job: Job, now: number): Promise<Reason[]> {
  const { status, worker = "", attempt, cancelRequestedAt, error, cancelReason: reason } = job;
  const isPaused = job.paused === true;
  if (isFinished(status)) return whyEnded({ status, finishedAt: job.finishedAt!, error, reason });
  if (status === "running") {
    const startedAt = job.startedAt!;
    return whyRunning({ worker, startedAt, attempt, cancelRequestedAt, isPaused });
  }
  const queue = await getQueue(db, job.queue);
  const pausedAt = queue.isPaused ? (await findQueueRow(db, queue.name))?.pausedAt : undefined;
  const paused = whyPaused({ isPaused, queue: queue.name, pausedAt });
  const expired = isExpired(job, now) ? [whyExpired(job.expiresAt!)] : [];
  if (isOutOfTime(job, now) && expired.length === 0) expired.push(whyLate(job.deadline!.at));
  if (status === "scheduled") {
    return [whyScheduled(job.order, await becauseOf(db, queue, job), now), ...paused, ...expired];
  }
  if (isPaused || expired.length > 0) return [...paused, ...expired];
  return [...paused, ...(await whyHere(db, queue, job, now))];
}

/** Why a job is due when it is, as its last attempt records it. */
async function becauseOf(db: DatabaseReader, queue: Queue, job: Job): Promise<DueBecause> {
  const { attempt, failures = 0, rounds = 0, error } = job;
  if (attempt === 0) return { kind: "asked" };
  const last = await db
    .query("attempts")
    .withIndex("job", (q) => q.eq("job", job._id).eq("attempt", attempt))
    .first();
  if (last?.blocked !== undefined) {
    const { kind, since } = last.blocked;
    const failsAt = since + queue.config.handlerMissingAfterMs;
    return { kind, since, failsAt };
  }
  if (last?.outcome === "snoozed") return { kind: "snoozed" };
  const { maxAttempts } = (await rulesOf(db, queue, job)).retry;
  if (failures > 0 && maxAttempts > 1) return { kind: "failed", failures, maxAttempts, error };
  return { kind: rounds > 0 ? "rests" : "asked" };
}

/** Of a job that is claimable. In a paused queue only reasons about workers are given. */
async function whyHere(db: DatabaseReader, queue: Queue, job: Job, now: number): Promise<Reason[]> {
  const [eligibleWorkers, inside, place, claimedAt] = await Promise.all([
    eligibleWorkersOf(db, job, now),
    insideOf(db, queue, job, now),
    positionOf(db, queue, job, now),
    lastClaimIn(db, queue),
  ]);
  if (job.prefer !== undefined && eligibleWorkers.fitting === 0 && !eligibleWorkers.more)
    return [whyPreferred(job.prefer)];
  const reasons = whyWaits({
    ...{ now, queue: queue.name, labels: job.labels ?? [], group: job.group, cost: costOf(job) },
    ...{ isDraining: queue.isDraining, eligibleWorkers, inside, claimedAt, ...place },
    claimableAt: msOfCommit(job.seq as bigint),
  });
  return queue.isPaused ? reasons.filter(({ kind }) => HOLD_ANYWAY.has(kind)) : reasons;
}

/** Reasons that would keep a job waiting even after its queue is resumed. */
const HOLD_ANYWAY = new Set<Reason["kind"]>(["noWorker", "noWorkerWithLabels", "behind"]);

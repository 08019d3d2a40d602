/**
 * Which job may run where: one predicate for every path that takes a job that waits, which are a wake, a claim and the jobs
 * that it names, a lane's step. The jobs that a lane is handed over with, or runs inline, were taken by one of these. A search only
 * picks jobs for which the predicate is then evaluated. None of them ends a job: one whose time is over is left to its alarm. Pure.
 */
import type { Doc } from "../_generated/dataModel.js";
import { isOutOfTime } from "./deadlines.js";
import type { Rules } from "../rows/jobRules.js";
import { allows, costOf, type Offer } from "../rows/conditions.js";
import { timeoutOf } from "./processTime.js";
import type { Queue } from "../rows/queues.js";

type Job = Doc<"jobs">;

export interface Taker {
  offer: Offer;
  /** The cost of the jobs that it has taken so far. */
  cost: number;
  /** It runs jobs inside Convex. */
  isLane: boolean;
  /** No attempt of it may end later: its process ends. */
  endsAt: number;
  now: number;
}

/**
 * - `take`
 * - `leave`: it is for another taker, or none for now, or its time is over
 * - `tooLong`: it is for a process that has more time left
 */
export type Verdict = "take" | "leave" | "tooLong";

/** `queue` is the job's, if the taker takes from it: one that it serves, and that is not paused. */
export function mayTake(
  { offer, cost, isLane, endsAt, now }: Taker,
  queue: Queue | undefined,
  job: Job,
  { handler, timeoutMs }: Rules,
): Verdict {
  if (queue === undefined || queue.isPaused || !isClaimable(job)) return "leave";
  if (isOutOfTime(job, now)) return "leave";
  if (!allows(offer, job) || cost + costOf(job) > (offer.maxCost ?? Infinity)) return "leave";
  if (!isLane) return "take";
  if (!queue.config.push || handler === undefined) return "leave";
  return now + timeoutOf(queue, timeoutMs) > endsAt ? "tooLong" : "take";
}

/** A lane has no labels, and no job prefers it: such a job needs no wake. */
export function mayRunInside({ labels = [], prefer }: Pick<Job, "labels" | "prefer">): boolean {
  return labels.length === 0 && prefer === undefined;
}

export function isClaimable({ status, paused }: Job): boolean {
  return status === "pending" && paused !== true;
}

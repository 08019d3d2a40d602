/** The timeline of a job: its enqueue, its attempts, and its status now. Pure. */
import { isFinished, type AttemptStatus, type JobStatus, type Status } from "../../shared/index.js";
import type { Labels } from "../labelOverrides.js";

export interface Step {
  readonly key: string;
  /** Absent for a future step without a known time. */
  readonly at?: number;
  /** Its end; absent for an instant and for a step in progress. */
  readonly until?: number;
  readonly goesOn: boolean;
  /** The status of its drawing. */
  readonly status: Status;
  readonly title: string;
  readonly error?: string;
}

/** The status of each outcome: its drawing. */
const DRAWN_AS: Readonly<Record<AttemptStatus["outcome"], Status>> = {
  running: "running",
  succeeded: "succeeded",
  failed: "failed",
  timedOut: "timedOut",
  canceled: "canceled",
  released: "pending",
  snoozed: "scheduled",
  lost: "timedOut",
};

/** In the order of time; future steps are last. */
export function timelineOf(
  job: JobStatus,
  attempts: readonly AttemptStatus[],
  { timeline, statuses }: Pick<Labels, "timeline" | "statuses">,
): Step[] {
  const { enqueuedAt } = job;
  const title = timeline.enqueued;
  const steps: Step[] = [
    { key: "enqueued", at: enqueuedAt, goesOn: false, status: "pending", title },
    ...attempts.map((tried) => attemptStep(tried, timeline)),
  ];
  const ended = endStep(job, attempts, statuses);
  if (ended !== null) steps.push(ended);
  const next = nextStep(job, timeline);
  if (next !== null) steps.push(next);
  if (job.cancelRequestedAt !== undefined && job.status === "running") {
    steps.push({
      ...{ key: "cancelRequested", at: job.cancelRequestedAt, goesOn: false },
      ...{ status: "canceled", title: timeline.cancelRequested },
    });
  }
  return steps.sort((a, b) => (a.at ?? Infinity) - (b.at ?? Infinity));
}

function attemptStep(tried: AttemptStatus, labels: Labels["timeline"]): Step {
  const { attempt, outcome, worker, startedAt } = tried;
  const endedAt = endOf(tried);
  const error = "error" in tried ? tried.error : undefined;
  const at = startedAt ?? endedAt;
  return {
    key: `attempt ${attempt}`,
    status: DRAWN_AS[outcome],
    title: labels.attempt(attempt, outcome, worker),
    ...(at === undefined ? {} : { at }),
    ...(endedAt === undefined ? {} : { until: endedAt }),
    goesOn: outcome === "running",
    ...(error === undefined ? {} : { error }),
  };
}

const endOf = (tried: AttemptStatus) => ("endedAt" in tried ? tried.endedAt : undefined);

/** The end of a job that no attempt shows: a cancel or an expiry while no worker held it. */
function endStep(
  job: JobStatus,
  attempts: readonly AttemptStatus[],
  statuses: Labels["statuses"],
): Step | null {
  if (!isFinished(job.status) || !("finishedAt" in job)) return null;
  const { finishedAt } = job;
  if (attempts.some((tried) => endOf(tried) === finishedAt)) return null;
  const why = "reason" in job ? job.reason : "error" in job ? job.error : undefined;
  return {
    ...{ key: "ended", at: finishedAt, goesOn: false, status: job.status },
    title: statuses[job.status],
    ...(why === undefined ? {} : { error: why }),
  };
}

function nextStep(job: JobStatus, labels: Labels["timeline"]): Step | null {
  if (job.status === "scheduled") {
    const title = job.failures > 0 ? labels.retry : labels.due;
    return { key: "due", at: job.dueAt, goesOn: false, status: "scheduled", title };
  }
  if (job.status === "pending") {
    const title = job.paused ? labels.paused : labels.waiting;
    return { key: "waits", goesOn: true, status: "pending", title };
  }
  return null;
}

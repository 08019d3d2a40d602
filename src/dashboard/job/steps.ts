/** What happened to a job, out of what is known of it: its enqueue, its attempts, and how it stands. Pure. */
import { isFinished, type AttemptStatus, type JobStatus, type Status } from "../../shared/index.js";

export interface Step {
  readonly key: string;
  /** Absent while it is still to come at a time nobody knows. */
  readonly at?: number;
  /** Until when it lasted; absent for what happened in an instant, and for what goes on. */
  readonly until?: number;
  readonly goesOn: boolean;
  /** As which state it is drawn. */
  readonly status: Status;
  readonly title: string;
  readonly error?: string;
}

/** How an attempt's outcome is drawn and told. */
const OUTCOMES: Readonly<Record<AttemptStatus["outcome"], readonly [Status, string]>> = {
  running: ["running", "runs"],
  succeeded: ["succeeded", "succeeded"],
  failed: ["failed", "failed"],
  timedOut: ["timedOut", "ran out of time"],
  canceled: ["canceled", "was canceled"],
  released: ["pending", "was given back"],
  snoozed: ["scheduled", "was put off"],
  lost: ["timedOut", "lost its worker"],
};

/** In the order of time; what is still to come is last. */
export function timelineOf(job: JobStatus, attempts: readonly AttemptStatus[]): Step[] {
  const steps: Step[] = [
    { key: "enqueued", at: job.enqueuedAt, goesOn: false, status: "pending", title: "Enqueued" },
    ...attempts.map(attemptStep),
  ];
  const ended = endStep(job, attempts);
  if (ended !== null) steps.push(ended);
  const next = nextStep(job);
  if (next !== null) steps.push(next);
  if (job.cancelRequestedAt !== undefined && job.status === "running") {
    steps.push({
      ...{ key: "cancelRequested", at: job.cancelRequestedAt, goesOn: false },
      ...{ status: "canceled", title: "Asked to end" },
    });
  }
  return steps.sort((a, b) => (a.at ?? Infinity) - (b.at ?? Infinity));
}

function attemptStep(tried: AttemptStatus): Step {
  const { attempt, outcome, worker, startedAt } = tried;
  const endedAt = endOf(tried);
  const error = "error" in tried ? tried.error : undefined;
  const [status, words] = OUTCOMES[outcome];
  const where = worker === undefined ? "" : ` on ${worker}`;
  const at = startedAt ?? endedAt;
  return {
    ...{ key: `attempt ${attempt}`, status, title: `Attempt ${attempt}${where} ${words}` },
    ...(at === undefined ? {} : { at }),
    ...(endedAt === undefined ? {} : { until: endedAt }),
    goesOn: outcome === "running",
    ...(error === undefined ? {} : { error }),
  };
}

const endOf = (tried: AttemptStatus) => ("endedAt" in tried ? tried.endedAt : undefined);

/** An end that no attempt tells: it was canceled, or expired, while nobody had it. */
function endStep(job: JobStatus, attempts: readonly AttemptStatus[]): Step | null {
  if (!isFinished(job.status) || !("finishedAt" in job)) return null;
  const { finishedAt } = job;
  if (attempts.some((tried) => endOf(tried) === finishedAt)) return null;
  const titles = {
    succeeded: "Succeeded",
    failed: "Failed",
    canceled: "Canceled",
    timedOut: "Timed out",
  };
  const why = "reason" in job ? job.reason : "error" in job ? job.error : undefined;
  return {
    ...{ key: "ended", at: finishedAt, goesOn: false, status: job.status },
    title: titles[job.status],
    ...(why === undefined ? {} : { error: why }),
  };
}

function nextStep(job: JobStatus): Step | null {
  if (job.status === "scheduled") {
    const title = job.failures > 0 ? "Is tried again" : "Falls due";
    return { key: "due", at: job.dueAt, goesOn: false, status: "scheduled", title };
  }
  if (job.status === "pending") {
    const title = job.paused ? "Paused" : "Waits to be begun";
    return { key: "waits", goesOn: true, status: "pending", title };
  }
  return null;
}

/**
 * Every text of the dashboard, in groups by view. No component has a text of its own: `labels.test.tsx` reads their source.
 * A text with a number or a name is a function. `{time}` in a text is the place of a time that the page keeps current.
 */
import type { AttemptStatus, Per, Percentiles, Status } from "../shared/index.js";
import { SETTING_LABELS } from "./settingLabels.js";
import { WORKER_LABELS } from "./workerLabels.js";
import { ago, countOf, duration, numeral, rate, several, share, until } from "./words.js";

/** Which jobs a list or a bulk action is about. */
export interface JobsMeant {
  readonly status?: Status;
  readonly name?: string;
  readonly tag?: string;
  readonly group?: string;
  readonly worker?: string;
  /** The bulk action, which without a status applies to the jobs that it can change. */
  readonly action?: "cancelMany" | "retryMany" | "deleteMany";
}

const statuses: Readonly<Record<Status, string>> = {
  scheduled: "Scheduled",
  pending: "Pending",
  running: "Running",
  succeeded: "Succeeded",
  failed: "Failed",
  canceled: "Canceled",
  timedOut: "Timed out",
};

const outcomes: Readonly<Record<AttemptStatus["outcome"], string>> = {
  running: "running",
  succeeded: "succeeded",
  failed: "failed",
  timedOut: "timed out",
  canceled: "canceled",
  released: "released",
  snoozed: "snoozed",
  lost: "worker lost",
};

/** Without a status in the filter: the jobs that an action can change. */
const CHANGEABLE = {
  cancelMany: "scheduled, pending and running jobs",
  retryMany: "failed and timed out jobs",
  deleteMany: "finished jobs",
} as const;

const RUN_AGAIN = "run again with a fresh set of attempts";

/** "failed jobs named “resize” with the tag “customer:7”". */
function jobsMeant({ status, name, tag, group, worker, action }: JobsMeant): string {
  const any = action === undefined ? "jobs" : CHANGEABLE[action];
  return [
    status === undefined ? any : `${statuses[status].toLowerCase()} jobs`,
    name === undefined ? "" : `named “${name}”`,
    tag === undefined ? "" : `with the tag “${tag}”`,
    group === undefined ? "" : `in the group “${group}”`,
    worker === undefined ? "" : `last claimed by “${worker}”`,
  ]
    .filter((part) => part !== "")
    .join(" ");
}

/** The texts that the dashboard shows unless its property `labels` replaces them. */
export const DEFAULT_LABELS = {
  page: {
    skip: "Skip to content",
    navigation: "Dashboard",
    breadcrumb: "Breadcrumb",
    queues: "Queues",
    workers: "Workers",
    notFound: "Page not found",
    notFoundText: "No page of the dashboard has this address.",
    toQueues: "Go to queues",
    loading: "Loading…",
    dismiss: "Dismiss",
    disconnected: "Disconnected.",
    reconnecting: "Showing the last known state. Reconnecting…",
    neverConnected: "Check that the deployment is running and that its address is correct.",
    loadFailed: (part: string) => `Could not load ${part}`,
    noAccess: (part: string) => `No access to ${part}`,
    tryAgain: "Try again",
    back: "Go back",
    details: "Details",
    showAll: (characters: number) => `Show all ${numeral(characters)} characters`,
    none: "–",
  },
  times: {
    duration: (ms: number) => duration(ms),
    ago: (at: number, now: number) => ago(at, now),
    until: (at: number, now: number) => until(at, now),
  },
  statuses,
  health: {
    green: "Healthy",
    yellow: "Warning",
    red: "Critical",
    /** Of the last finished jobs: their number, the part that succeeded from 0 to 1, and their average run time. */
    lastJobs: (jobs: number, successRate: number, averageMs: number) =>
      jobs === 1
        ? `Last job: ${successRate === 1 ? "succeeded" : "failed"}, run time ${duration(averageMs)}.`
        : `Last ${several(jobs, "job")}: ${share(successRate)} succeeded, average run time ${duration(averageMs)}.`,
    /** The same where none of them was begun, so that there is no run time. */
    noneRan: (jobs: number) =>
      jobs === 1
        ? "Last job: failed before it started."
        : `Last ${several(jobs, "job")}: failed before they started.`,
  },
  overview: {
    part: "queues",
    empty: "No queues yet",
    emptyText: "A queue appears with its first job, or when a worker first asks for its jobs.",
    /** Of the queues on the page; `more`: the page has no room for the further ones. */
    summary: (queues: number, critical: number, jobsPerMinute: number, more: boolean) =>
      `${more ? `First ${several(queues, "queue")}` : several(queues, "queue")}, ${critical} critical. ${rate(jobsPerMinute)} jobs/min.`,
    throughput: "Throughput",
    jobsPerMinute: (value: number) => `${rate(value)} jobs/min`,
    latencyP95: "Queue latency, p95",
    /** Of the small chart: jobs that finished in the last minutes, and the most in one minute. */
    throughputChart: (minutes: number, jobs: number, peak: number) =>
      jobs === 0
        ? `No jobs finished in the last ${several(minutes, "minute")}.`
        : `${several(jobs, "job")} finished in the last ${several(minutes, "minute")}, at most ${numeral(peak)} jobs/min.`,
    latencyChart: (lastMs: number, worstMs: number) =>
      `Queue latency, p95: ${duration(lastMs)} in the latest minute with jobs, ${duration(worstMs)} at most.`,
    latencyChartEmpty: "No queue latency recorded.",
  },
  mainLoop: {
    part: "main loop",
    title: "Main loop",
    idle: "Idle",
    running: "Running",
    blocked: "Waiting for places",
    stalled: "Stalled",
    stalledText: "A process has died. A sweep ends its attempts within 30 s.",
    generation: (generation: number) => `generation ${numeral(generation)}`,
    lanes: (count: number, more: boolean) =>
      `${countOf({ count, more })} ${count === 1 ? "lane" : "lanes"} awake`,
    places: (used: number, all: number) => `${numeral(used)} of ${numeral(all)} places used`,
    waiting: (queues: number) => `${several(queues, "queue")} waiting`,
    next: "next alarm {time}",
    overdue: "alarm overdue, due {time}",
    byQueue: "Places by queue",
    queueLanes: (lanes: number, jobs: number) =>
      `${several(lanes, "lane")}, ${several(jobs, "job")} running`,
    jobsAtOnce: (jobs: number, most: number) => `${numeral(jobs)} of ${numeral(most)} jobs at once`,
    queueWaits: "waiting for a place",
    placesLeft: (left: number) => `${several(left, "place")} left in Convex`,
  },
  queue: {
    unknown: (queue: string) => `No queue “${queue}”`,
    unknownText: "A queue appears with its first job, or when a worker first asks for its jobs.",
    sections: (queue: string) => `Sections of ${queue}`,
    jobs: "Jobs",
    events: "Events",
    configuration: "Configuration",
    activity: "Activity",
    paused: "Paused {time}",
    draining: "Draining, started {time}",
    drained: "Drained, started {time}",
    push: "Runs in Convex",
    oldest: "Oldest pending: {time}",
    eventsEmpty: "No events yet",
    eventsEmptyText: "Pauses, configuration changes and problems appear here.",
  },
  queueActions: {
    pause: "Pause",
    resume: "Resume",
    drain: "Drain",
    pauseQueue: (queue: string) => `Pause ${queue}`,
    resumeQueue: (queue: string) => `Resume ${queue}`,
    drainQueue: (queue: string) => `Drain ${queue}`,
    drainQuestion: (queue: string) => `Drain ${queue}?`,
    drainText:
      "New jobs are refused, and the backlog still runs. Resume the queue to end the drain.",
    retry: "Retry",
    retryFailed: "Retry failed",
    retryFailedOf: (queue: string) => `Retry failed jobs of ${queue}`,
    retryFailedQuestion: (queue: string) => `Retry all failed and timed out jobs of ${queue}?`,
    retryFailedText: `The jobs ${RUN_AGAIN}; their errors are discarded.`,
    paused: (queue: string) => `${queue} is paused.`,
    resumed: (queue: string) => `${queue} is resumed.`,
    draining: (queue: string) => `${queue} is draining: it refuses new jobs.`,
    pauseFailed: (queue: string, reason: string) => `Could not pause ${queue}: ${reason}`,
    resumeFailed: (queue: string, reason: string) => `Could not resume ${queue}: ${reason}`,
    drainFailed: (queue: string, reason: string) => `Could not drain ${queue}: ${reason}`,
  },
  jobs: {
    part: "jobs",
    label: (queue: string, meant: JobsMeant) => `Jobs of ${queue}: ${jobsMeant(meant)}`,
    all: "All",
    anyStatus: "Any status",
    name: "Name",
    worker: "Worker",
    tag: "Tag",
    group: "Group",
    order: "Order",
    newest: "Newest first",
    next: "Next to run",
    clearFilters: "Clear filters",
    empty: (meant: JobsMeant) => `No ${jobsMeant(meant)}`,
    noneFound: (meant: JobsMeant) => `No ${jobsMeant(meant)} found so far`,
    noneFoundText: "Only a part of the queue's jobs has been searched.",
    search: "Search more",
    searching: "Searching…",
    loadMore: "Load more",
    loadingMore: "Loading more…",
    job: "Job",
    status: "Status",
    time: "Time",
    runTime: "Run time",
    attempt: "Attempt",
    paused: "paused",
    cancelRequested: "cancel requested",
    backingOff: "backing off",
    key: (key: string) => `key ${key}`,
    ofGroup: (group: string) => `group ${group}`,
  },
  bulk: {
    cancel: "Cancel",
    retry: "Retry",
    delete: "Delete",
    cancelAll: "Cancel all",
    retryAll: "Retry all",
    deleteAll: "Delete all",
    cancelMeant: (meant: JobsMeant) => `Cancel all ${jobsMeant(meant)}`,
    retryMeant: (meant: JobsMeant) => `Retry all ${jobsMeant(meant)}`,
    deleteMeant: (meant: JobsMeant) => `Delete all ${jobsMeant(meant)}`,
    cancelQuestion: (meant: JobsMeant) => `Cancel all ${jobsMeant(meant)}?`,
    retryQuestion: (meant: JobsMeant) => `Retry all ${jobsMeant(meant)}?`,
    deleteQuestion: (meant: JobsMeant) => `Delete all ${jobsMeant(meant)}?`,
    cancelText: "Waiting jobs end at once. The workers of running jobs are asked to stop.",
    retryText: `The jobs ${RUN_AGAIN}; their results and errors are discarded.`,
    deleteText:
      "Payloads, results, logs and output are deleted too. This cannot be undone, and no callback runs.",
    noWorkerFilter: "Bulk actions are not available with a worker filter.",
    canceled: (jobs: number, isDone: boolean) => bulkDone(jobs, "canceled", isDone),
    retried: (jobs: number, isDone: boolean) => bulkDone(jobs, "retried", isDone),
    deleted: (jobs: number, isDone: boolean) => bulkDone(jobs, "deleted", isDone),
    cancelFailed: (reason: string) => `Could not cancel the jobs: ${reason}`,
    retryFailed: (reason: string) => `Could not retry the jobs: ${reason}`,
    deleteFailed: (reason: string) => `Could not delete the jobs: ${reason}`,
  },
  job: {
    part: "job",
    job: "Job",
    unnamed: (id: string) => `Job ${id}`,
    notFound: "Job not found",
    notFoundIn: (queue: string) => `${queue} has no job with this ID`,
    notFoundText: "The job was deleted, or its retention is over.",
    toQueue: (queue: string) => `Go to ${queue}`,
    status: "Status",
    timeline: "Timeline",
    payload: "Payload",
    result: "Result",
    error: "Error",
    lastError: "Last error",
    output: "Output",
    noOutput: "No output",
    noOutputYet: "No output yet",
    outputOf: (attempt: number) => `Attempt ${attempt}`,
    outputStreaming: (attempt: number) => `Attempt ${attempt}, streaming`,
    log: "Log",
    noLog: "No log entries",
    logData: "Data",
    logAttempt: (attempt: number) => `Attempt ${attempt}`,
    progress: "Progress",
    progressDetails: "Progress details",
    percent: (percent: number) => `${Math.round(percent)} %`,
    ahead: (jobs: number, more: boolean) =>
      `${more ? "More than " : ""}${several(jobs, "job")} ahead.`,
    startsAt: "Estimated start: {time}.",
  },
  jobFacts: {
    status: "Status",
    id: "ID",
    enqueued: "Enqueued",
    attempts: "Attempts",
    attemptsOf: (attempts: number, failed: number, lost: number) => {
      const parts = [
        failed > 0 ? `${numeral(failed)} failed` : "",
        lost > 0 ? `${numeral(lost)} with a lost worker` : "",
      ].filter((part) => part !== "");
      return parts.length === 0 ? numeral(attempts) : `${numeral(attempts)} (${parts.join(", ")})`;
    },
    worker: "Worker",
    latency: "Queue latency",
    runTime: "Run time",
    finished: "Finished",
    expires: "Expires",
    deadline: "Deadline",
    priority: "Priority",
    key: "Key",
    group: "Group",
    tags: "Tags",
    labels: "Required labels",
    cost: "Cost",
    rounds: "Rounds",
  },
  timeline: {
    enqueued: "Enqueued",
    attempt: (attempt: number, outcome: AttemptStatus["outcome"], worker: string | undefined) =>
      `Attempt ${attempt}${worker === undefined ? "" : ` on ${worker}`}: ${outcomes[outcome]}`,
    cancelRequested: "Cancel requested",
    retry: "Retry",
    due: "Due",
    paused: "Paused",
    waiting: "Waiting",
    took: "took {time}",
    soFar: "{time} so far",
  },
  jobActions: {
    retry: "Retry",
    retryQuestion: (job: string) => `Retry ${job}?`,
    retryText: "The job runs again with a fresh set of attempts; its result or error is discarded.",
    cancel: "Cancel",
    cancelQuestion: (job: string) => `Cancel ${job}?`,
    cancelVerb: "Cancel job",
    cancelRunning: "The worker is asked to stop the job.",
    cancelWaiting: "The job ends at once. It can be retried later.",
    reason: "Reason (optional)",
    delete: "Delete",
    deleteQuestion: (job: string) => `Delete ${job}?`,
    deleteText:
      "Its payload, result, log and output are deleted too. This cannot be undone, and no callback runs.",
    deleteRunning: "The worker is asked to stop the job.",
    canceled: (job: string) => `${job} is canceled.`,
    cancelRequested: (job: string) => `Cancel of ${job} requested.`,
    alreadyFinished: (job: string) => `${job} had already finished.`,
    retried: (job: string) => `${job} is retried.`,
    notRetried: (job: string) => `${job} was not retried.`,
    deleted: (job: string) => `${job} is deleted.`,
    alreadyDeleted: (job: string) => `${job} was already deleted.`,
    cancelFailed: (job: string, reason: string) => `Could not cancel ${job}: ${reason}`,
    retryFailed: (job: string, reason: string) => `Could not retry ${job}: ${reason}`,
    deleteFailed: (job: string, reason: string) => `Could not delete ${job}: ${reason}`,
  },
  workers: WORKER_LABELS,
  charts: {
    range: "Time range",
    lastHour: "Last hour",
    lastDays: "Last 2 days",
    lastMonth: "Last 30 days",
    jobsPer: (per: Per) => `Jobs per ${per}`,
    latency: "Queue latency",
    runTime: "Run time",
    enqueued: "Enqueued",
    started: "Started",
    flow: (enqueued: number, finished: number, failed: number) =>
      `${several(enqueued, "job")} enqueued, ${numeral(finished)} finished, ${numeral(failed)} of them failed or timed out.`,
    durations: (per: Per, { p50, p95, p99 }: Percentiles) =>
      `Latest ${per} with data: p50 ${duration(p50)}, p95 ${duration(p95)}, p99 ${duration(p99)}.`,
    noDurations: "No data in this time range.",
    table: "Show as table",
    tableOf: (per: Per) => `Figures per ${per}`,
    from: "Time",
    latencyColumn: "Queue latency, p50 / p95 / p99",
    runTimeColumn: "Run time, p50 / p95 / p99",
  },
  configuration: {
    declared: "Declared by code {time}. Overrides made at run time take precedence.",
    table: "Configuration in effect",
    setting: "Setting",
    value: "Value",
    source: "Source",
    override: "Override",
    code: "Code",
    default: "Default",
    declaredValue: (value: string) => `code: ${value}`,
    yes: "yes",
    no: "no",
    noRetries: "none",
    /** At most so many attempts, with backoffs of `initialMs * base ** n`, `maxMs` at most. */
    retries: (attempts: number, initialMs: number, base: number, maxMs: number) =>
      `${attempts} attempts, backoff ${duration(initialMs)} × ${base}ⁿ, at most ${duration(maxMs)}`,
    jitter: (jitter: string) => `jitter ${jitter}`,
  },
  settings: SETTING_LABELS,
};

function bulkDone(jobs: number, done: string, isDone: boolean): string {
  return `${several(jobs, "job")} ${done}${isDone ? "." : "; the remaining jobs follow in the background."}`;
}

/** The metrics of queues and workers, by their names. Pure. */
import {
  bucketBounds,
  BUCKETS,
  FINISHED_STATUSES,
  STATUSES,
  type Family,
  type MainLoop,
  type MetricHistogram,
  type Metrics,
  type MetricSample,
  type WorkerStatus,
} from "../shared/index.js";

/** A queue, by its name. */
export type Measured = Metrics & { queue: string };

/** Seconds, as Prometheus has it. Values in a bucket are below its bound: all but its own last millisecond. */
const BOUNDS = Array.from({ length: BUCKETS - 1 }, (_, i) => bucketBounds(i).max / 1_000);

const LIGHTS = { green: 0, yellow: 1, red: 2 };

export function familiesOf(
  {
    queues,
    workers,
    mainLoop,
  }: { queues: readonly Measured[]; workers: readonly WorkerStatus[]; mainLoop: MainLoop },
  now: number,
): Family[] {
  const each = (sample: (of: Measured) => number): MetricSample[] =>
    queues.map((of) => ({ labels: { queue: of.queue }, value: sample(of) }));
  const durations = (of: (one: Measured) => readonly [number[], number]): MetricHistogram[] =>
    queues.map((one) => {
      const [counts, sumMs] = of(one);
      return { labels: { queue: one.queue }, bounds: BOUNDS, counts, sum: sumMs / 1_000 };
    });
  return [
    gauge("jobs", "Jobs that are there, by status; each counted up to 1000.", jobsOf(queues)),
    gauge(
      "jobs_retrying",
      "Scheduled jobs that wait for another attempt after a failure, of the first 1000.",
      each(({ gauge: { counts } }) => counts.scheduled.retrying ?? 0),
    ),
    counter(
      "jobs_enqueued_total",
      "Jobs that came in.",
      each(({ totals }) => totals.enqueued),
    ),
    counter("jobs_finished_total", "Jobs that ended, by outcome.", endsOf(queues)),
    {
      ...named(
        "job_wait_seconds",
        "From enqueue to the start of the last attempt, of jobs that ended.",
      ),
      type: "histogram",
      samples: durations(({ totals }) => [totals.waitMs, totals.waitSumMs]),
    },
    {
      ...named(
        "job_run_seconds",
        "From the start of the last attempt to its end, of jobs that ended.",
      ),
      type: "histogram",
      samples: durations(({ totals }) => [totals.runMs, totals.runSumMs]),
    },
    gauge(
      "oldest_pending_age_seconds",
      "How long ago the job was enqueued that has been claimable for longest; 0 where none is.",
      each(({ gauge: { oldestPendingAt = now } }) => Math.max(0, now - oldestPendingAt) / 1_000),
    ),
    gauge(
      "queue_paused",
      "1 while no job may be claimed.",
      each((one) => Number(one.isPaused)),
    ),
    gauge(
      "queue_draining",
      "1 while no job may be enqueued.",
      each((one) => Number(one.isDraining)),
    ),
    gauge(
      "queue_health",
      "0 is well, 1 needs attention, 2 is not well.",
      each((one) => LIGHTS[one.gauge.health.light]),
    ),
    gauge("workers", "Workers that are alive, and lanes of Convex itself.", livingOf(workers)),
    ...workerFamilies(workers, now),
    ...mainLoopFamilies(mainLoop),
  ];
}

function mainLoopFamilies({ places, lanes, waiting, status }: MainLoop): Family[] {
  return [
    gauge("places", "Jobs that may run inside Convex at once, of all queues.", [
      { labels: { state: "used" }, value: places.used },
      { labels: { state: "left" }, value: places.left },
    ]),
    gauge("lanes_awake", "Lanes that are awake, up to 512.", [{ value: lanes.awake }]),
    gauge("queues_waiting", "Queues that wait for a slot or a place, up to 100.", [
      { value: waiting.length },
    ]),
    gauge("main_loop_stalled", "1 while a process has ended without a word.", [
      { value: Number(status === "stalled") },
    ]),
  ];
}

const named = (name: string, help: string) => ({ name: `conveyor_${name}`, help });
const gauge = (name: string, help: string, samples: MetricSample[]): Family => ({
  ...{ ...named(name, help), type: "gauge", samples },
});
const counter = (name: string, help: string, samples: MetricSample[]): Family => ({
  ...{ ...named(name, help), type: "counter", samples },
});

function jobsOf(queues: readonly Measured[]): MetricSample[] {
  return queues.flatMap(({ queue, gauge: { counts } }) =>
    STATUSES.map((status) => ({ labels: { queue, status }, value: counts[status].count })),
  );
}

function endsOf(queues: readonly Measured[]): MetricSample[] {
  return queues.flatMap(({ queue, totals }) =>
    FINISHED_STATUSES.map((outcome) => ({ labels: { queue, outcome }, value: totals[outcome] })),
  );
}

const LIVING = {
  worker: ["starting", "waiting", "working", "draining"],
  lane: ["waiting", "working"],
} as const;

/** Always all of them, so that none is missing when it falls to 0. */
function livingOf(workers: readonly WorkerStatus[]): MetricSample[] {
  return (["worker", "lane"] as const).flatMap((kind) =>
    LIVING[kind].map((state) => ({
      labels: { kind, state },
      value: workers.filter((one) => one.state === state && one.isLane === (kind === "lane"))
        .length,
    })),
  );
}

/** Of the 100 workers and lanes that were seen last. Sessions of one name are one: Prometheus refuses a series twice. */
function workerFamilies(workers: readonly WorkerStatus[], now: number): Family[] {
  const living = workers.filter(({ isLane, state }) => !isLane && state !== "stopped");
  const byName = new Map<string, WorkerStatus[]>();
  for (const one of living) byName.set(one.name, [...(byName.get(one.name) ?? []), one]);
  const each = (valueOf: (one: WorkerStatus[]) => number, labels = {}): MetricSample[] =>
    [...byName].map(([worker, of]) => ({ labels: { worker, ...labels }, value: valueOf(of) }));
  const sum = (of: WorkerStatus[], part: (one: WorkerStatus) => number): number =>
    of.reduce((total, one) => total + part(one), 0);
  return [
    gauge("workers_quiet", "Workers that are alive and claim nothing for now.", [
      { value: living.filter(({ quietBy }) => quietBy !== undefined).length },
    ]),
    gauge("worker_slots", "Slots of a worker: that hold a job, and all.", [
      ...each((of) => sum(of, ({ slots }) => slots?.used ?? 0), { state: "used" }),
      ...each((of) => sum(of, ({ slots }) => slots?.had ?? 0), { state: "had" }),
    ]),
    counter(
      "worker_jobs_done_total",
      "Outcomes that a worker has recorded since it was started.",
      each((of) => sum(of, ({ done = 0 }) => done)),
    ),
    gauge(
      "worker_last_seen_age_seconds",
      "Since the last call or beat of a worker.",
      each((of) => Math.max(0, now - Math.max(...of.map((one) => one.lastSeenAt))) / 1_000),
    ),
  ];
}

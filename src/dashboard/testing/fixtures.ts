/** Answers of a backend about queues and jobs, for tests. */
import type { DashboardJob } from "../../shared/index.js";
import {
  STATUSES,
  type Counts,
  type JobStatus,
  type ListedJob,
  type MainLoop,
  type Period,
  type QueueOverview,
} from "../../shared/index.js";
import type { ShownQueue } from "../../shared/index.js";

export const T0 = Date.UTC(2026, 10, 23, 12, 0);
const MINUTE = 60_000;

export const EVERY_ACTION: ShownQueue["may"] = [
  "pause",
  "resume",
  "drain",
  "cancelMany",
  "retryMany",
  "deleteMany",
];

export function countsOf(given: Partial<Record<keyof Counts, number>> = {}): Counts {
  return Object.fromEntries(
    STATUSES.map((status) => {
      const count = given[status] ?? 0;
      return [status, { count: Math.min(count, 1_000), more: count > 1_000 }];
    }),
  ) as Counts;
}

export function periodOf(at: number, given: Partial<Period> = {}): Period {
  return {
    ...{ at, enqueued: 0, started: 0, succeeded: 0, failed: 0, canceled: 0, timedOut: 0 },
    ...{ waitMs: null, runMs: null },
    ...given,
  };
}

/** Half an hour that rises and falls. */
export const someMinutes = (count = 30): Period[] =>
  Array.from({ length: count }, (_, n) => {
    const wave = Math.round(40 + 30 * Math.sin(n / 4));
    const waited = 200 + 40 * wave;
    return periodOf(T0 - (count - n) * MINUTE, {
      ...{ enqueued: wave + 4, started: wave, succeeded: wave - 3, failed: 2, canceled: 1 },
      waitMs: { p50: waited, p95: waited * 3, p99: waited * 5 },
      runMs: { p50: 1_024, p95: 2_048, p99: 4_096 },
    });
  });

export function queueOf(name: string, given: Partial<ShownQueue> = {}): ShownQueue {
  const config = { leaseMs: 30_000, maxResets: 3, shards: 8 };
  const state: QueueOverview["state"] = {
    ...{ name, declared: config, declaredAt: T0 - 90 * MINUTE, overrides: {} },
    inForce: { ...config, graceMs: 5_000 },
    sources: { leaseMs: "code", maxResets: "code", shards: "code", graceMs: "default" },
  };
  return {
    state,
    isPush: false,
    gauge: {
      at: T0,
      counts: countsOf({ pending: 12, running: 3, succeeded: 2_000, failed: 4 }),
      oldestPendingAt: T0 - 4_000,
      perMinute: { enqueued: 42, finished: 40, failed: 0.4 },
      health: {
        light: "green",
        reason: "it moves, and 98 of the last 100 jobs succeeded.",
        of: 100,
        successRate: 0.98,
        ran: 100,
        averageMs: 1_240,
        worsens: [],
      },
    },
    recent: someMinutes(),
    may: EVERY_ACTION,
    ...given,
  };
}

/** The main loop at rest. */
export const loopOf = (given: Partial<MainLoop> = {}): MainLoop => ({
  ...{ status: "idle", generation: 0, slots: 4, places: { used: 0, left: 56 } },
  ...{ lanes: { awake: 0, jobs: 0, more: false }, queues: [], processes: [], waiting: [] },
  ...given,
});

export const rowOf = (id: string, given: Partial<ListedJob> = {}): ListedJob => ({
  ...{ id, queue: "tiles", status: "running", enqueuedAt: T0 - MINUTE, attempt: 1, failures: 0 },
  ...{ startedAt: T0 - 2_000, worker: "anvil" },
  ...given,
});

export const runningJob = (id: string, given: object = {}): JobStatus => ({
  ...{ id, queue: "tiles", enqueuedAt: T0 - MINUTE, attempt: 1, failures: 0, resets: 0 },
  ...{ status: "running", worker: "anvil", startedAt: T0 - 2_000 },
  ...given,
});

export const shownJob = (job: JobStatus, given: Partial<DashboardJob> = {}): DashboardJob => ({
  job,
  payload: { tile: 7 },
  attempts: [],
  may: ["cancel", "retry", "delete"],
  ...given,
});

/** Counts a scenario's cost for the backend: calls that the platform would bill, conflicts, errors. */
import type { TestApp } from "../tests/support/testApp.js";

export interface Cost {
  jobs: number;
  /** Executions by clients, workers and the scheduler; a cached answer is none. */
  calls: number;
  conflicts: number;
  errors: number;
  seconds: number;
}

export async function measure(app: TestApp, run: () => Promise<number>): Promise<Cost> {
  const cost: Cost = { jobs: 0, calls: 0, conflicts: 0, errors: 0, seconds: 0 };
  const stop = app.backend.runner.onCompletion((completion) => {
    if (!completion.cached) cost.calls += 1;
    cost.conflicts += completion.conflicts;
    if (completion.error !== undefined) cost.errors += 1;
  });
  const startedAt = performance.now();
  cost.jobs = await run();
  cost.seconds = (performance.now() - startedAt) / 1_000;
  stop();
  return cost;
}

/** One line of the table: ratios and counts first, the clock last. */
export function row(cost: Cost): Record<string, number> {
  const per = (count: number, jobs: number) => Math.round((count / jobs) * 1_000) / 1_000;
  return {
    jobs: cost.jobs,
    "calls/job": per(cost.calls, cost.jobs),
    "conflicts/100 jobs": per(100 * cost.conflicts, cost.jobs),
    "gave up": cost.errors,
    "jobs/s": Math.round(cost.jobs / cost.seconds),
  };
}

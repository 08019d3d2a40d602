/**
 * On the wall clock: the same worker programs as real processes, over HTTP and the sync protocol. Question: does
 * virtual time hold on a real machine, and how soon does a waiting process hear of a job? Only ratios mean anything:
 * the backend, the workers and the caller share this machine's cores.
 */
import { PULL, type AlternativeName } from "../alternatives.js";
import { latencies, type Latencies } from "../figures/latencies.js";
import { startFleet, until, worksOf, type ProcessFleet } from "./fleet.js";

export interface WallLine {
  of: AlternativeName;
  workers: number;
  jobs: number;
  /** From the burst's answer to the last job's end. */
  perSecond: number;
  /** From a caller's answer to the job's first line, in the process that has it, one job at a time. */
  wakeMs: Latencies;
  /** The errors that workers got instead of an answer. */
  errors: number;
}

const WORK_MS = 20;
const PATIENCE_MS = 120_000;
/** Between two jobs of which each wakes a worker. */
const PAUSE_MS = 250;

export async function playProcesses({ isSmoke }: { isSmoke: boolean }): Promise<WallLine[]> {
  const [workers, jobs, wakes] = isSmoke ? [2, 10, 2] : [8, 400, 40];
  const lines: WallLine[] = [];
  for (const of of PULL) {
    const fleet = await startFleet(of, workers);
    try {
      const perSecond = await burst(fleet, jobs);
      const wakeMs = await wake(fleet, wakes);
      lines.push({ of, workers, jobs, perSecond, wakeMs, errors: fleet.errors.length });
    } finally {
      await fleet.close();
    }
  }
  return lines;
}

async function burst({ call, ended }: ProcessFleet, jobs: number): Promise<number> {
  await call("enqueueAll", { works: worksOf(jobs, WORK_MS) });
  const from = performance.now();
  await until(() => ended.size === jobs, PATIENCE_MS);
  return (1_000 * jobs) / (Math.max(...ended.values()) - from);
}

async function wake({ call, began, ended }: ProcessFleet, times: number): Promise<Latencies> {
  const waited: number[] = [];
  for (let i = 0; i < times; i++) {
    const n = 1_000_000 + i;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    await call("enqueue", { n, ms: WORK_MS });
    const from = performance.now();
    await until(() => ended.has(n), PATIENCE_MS);
    waited.push(Math.max(0, began.get(n)! - from));
  }
  return latencies(waited);
}

/** The texts of the page of workers. */
import { numeral, several } from "./words.js";

export const WORKER_LABELS = {
  part: "workers",
  empty: "No workers yet",
  emptyText: "A worker appears when it first claims a job, a lane when Convex first runs one.",
  /** Workers and lanes that are online, the number of them that run jobs, and the jobs that they run; `more`: of the first 100. */
  summary: (workers: number, lanes: number, busy: number, jobs: number, more: boolean) => {
    const least = more ? "At least " : "";
    const all = `${least}${several(workers, "worker")} and ${several(lanes, "lane")} online`;
    return jobs === 0 ? `${all}, all idle.` : `${all}, ${busy} running ${several(jobs, "job")}.`;
  },
  showOffline: (count: number) => `Show offline (${numeral(count)})`,
  starting: "Starting",
  waiting: "Idle",
  working: "Working",
  draining: "Draining",
  stopped: "Offline",
  quiet: "Quiet",
  /** Slots with jobs, and all slots. */
  slots: (used: number, had: number) => `${numeral(used)} of ${several(had, "slot")}`,
  done: (jobs: number) => `${several(jobs, "job")} done`,
  since: "since {time}",
  started: "started {time}",
  /** The program and the machine of a worker: the parts that are known. */
  version: (version: string) => `v${version}`,
  process: (pid: number) => `PID ${pid}`,
  quietOne: "Quiet",
  quietWorker: (worker: string) => `Quiet ${worker}: it claims no more jobs`,
  resumeOne: "Resume",
  resumeWorker: (worker: string) => `Resume ${worker}`,
  quieted: (worker: string) => `${worker} claims no more jobs.`,
  resumed: (worker: string) => `${worker} claims jobs again.`,
  quietFailed: (worker: string, reason: string) => `Could not quiet ${worker}: ${reason}`,
  resumeFailed: (worker: string, reason: string) => `Could not resume ${worker}: ${reason}`,
  lastSeen: "last seen {time}",
  lane: "Convex",
  external: "External",
  noJobs: "No jobs",
  jobsOf: (worker: string) => `Jobs of ${worker}`,
  more: (jobs: number) => `and ${numeral(jobs)} more`,
  heldJob: (queue: string, job: string, attempt: number) => `${queue} ${job}, attempt ${attempt}`,
  runsFor: "for {time}",
  attempt: (attempt: number) => `attempt ${attempt}`,
};

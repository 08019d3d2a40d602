/**
 * A backlog, from a thousand jobs to a million. Question: does a job become dearer or slower because many more wait? So
 * many wait already; then two thousand are run and measured. A million scheduled functions that are all due take the
 * local backend more than 10 GB and half an hour: plain scheduling is played up to a hundred thousand, which already
 * shows the growth.
 */
import type { Case, Scenario } from "../cases.js";

const SIZES = [1_000, 10_000, 100_000, 1_000_000];
const SCHEDULED_MAX = 100_000;
const MEASURED = 2_000;

const pushed = (backlog: number, jobs = MEASURED): Case => ({
  name: `${backlog.toLocaleString("en")} waiting`,
  of: ["conveyor", "workpool", ...(backlog > SCHEDULED_MAX ? [] : (["plain"] as const))],
  ...{ class: "s256", parallelism: 50, load: { inOne: jobs }, work: { kind: "act", ms: 100 } },
  ...{ backlog, size: backlog },
});
const pulled = (backlog: number, jobs = 1_000): Case => ({
  name: `${backlog.toLocaleString("en")} waiting, 16 workers`,
  of: ["pulled", "farm", "ring"],
  ...{ class: "s256", load: { inOne: jobs }, work: { kind: "act", ms: 20 } },
  ...{ fleet: { workers: 16, concurrency: 4 }, backlog, size: backlog },
});

export const backlogs: Scenario = {
  title: "Backlogs",
  question: "Does a job cost more because a million more wait?",
  cases: [...SIZES.map((size) => pushed(size)), ...SIZES.map((size) => pulled(size))],
  smoke: [pushed(500, 20), pulled(500, 20)],
  grows: "jobs that wait",
};

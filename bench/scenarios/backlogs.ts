/**
 * A backlog, from a thousand jobs to a million. Question: does a job become dearer or slower because many others wait? So many
 * wait already; then two thousand are worked off and measured. A million scheduled functions that are all due take the local
 * backend 10 GB and more than half an hour, and the two patterns for workers outside are slower than that: these three are
 * played up to a hundred thousand, where it shows already what grows.
 */
import type { AlternativeName } from "../alternatives.js";
import type { Case, Scenario } from "../cases.js";

const SIZES = [1_000, 10_000, 100_000, 1_000_000];
const SIZE_OF_ALL_MAX = 100_000;
const MEASURED = 2_000;

const upTo = (backlog: number, of: AlternativeName[], others: AlternativeName[]) =>
  backlog > SIZE_OF_ALL_MAX ? of : [...of, ...others];

const pushed = (backlog: number, jobs = MEASURED): Case => ({
  name: `${backlog.toLocaleString("en")} waiting`,
  of: upTo(backlog, ["conveyor", "workpool"], ["plain"]),
  ...{ class: "s256", parallelism: 50, load: { inOne: jobs }, work: { kind: "act", ms: 100 } },
  ...{ backlog, size: backlog },
});
const pulled = (backlog: number, jobs = 1_000): Case => ({
  name: `${backlog.toLocaleString("en")} waiting, 16 workers`,
  of: upTo(backlog, ["pulled"], ["farm", "ring"]),
  ...{ class: "s256", load: { inOne: jobs }, work: { kind: "act", ms: 20 } },
  ...{ fleet: { workers: 16, concurrency: 4 }, backlog, size: backlog },
});

export const backlogs: Scenario = {
  title: "Backlogs",
  question: "Does a job cost more because a million others wait?",
  cases: [...SIZES.map((size) => pushed(size)), ...SIZES.map((size) => pulled(size))],
  smoke: [pushed(500, 20), pulled(500, 20)],
  grows: "jobs that wait",
};

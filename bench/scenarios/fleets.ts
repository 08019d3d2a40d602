/**
 * From one worker outside of Convex to a thousand, on one queue, each with one job at a time. Question: does a larger
 * fleet do more, up to the class's limits, and does any worker get an error? A backlog of short jobs.
 */
import { PULL } from "../alternatives.js";
import type { Case, Scenario } from "../cases.js";

const fleetOf = (workers: number, of: "s16" | "s256", jobs: number): Case => ({
  ...{ name: `${workers} workers, ${of.toUpperCase()}`, of: PULL, class: of },
  ...{ load: { inOne: jobs }, work: { kind: "act", ms: 20 } },
  ...{ fleet: { workers, concurrency: 1 }, size: workers },
});
/** So much that the figure is of their work, and not of their arrival; the other cases would take hours. */
const longer = (workers: number, of: "s16" | "s256"): Case => {
  const { size: _size, ...one } = fleetOf(workers, of, LONGER * workers);
  const name = `${workers} workers, ${LONGER} jobs for each, ${of.toUpperCase()}`;
  return { ...one, name, of: ["pulled"] };
};
/** Enough for each of a thousand to have one. */
const jobsFor = (workers: number): number => Math.max(600, workers);
const LONGER = 5;

export const fleets: Scenario = {
  title: "Fleets of 1 to 1,000 workers",
  question: "Does a larger fleet do more?",
  cases: [
    ...[1, 4, 16, 64, 256, 1_000].map((n) => fleetOf(n, "s16", jobsFor(n))),
    ...[64, 256, 1_000].map((n) => fleetOf(n, "s256", jobsFor(n))),
    ...[256, 1_000].map((n) => longer(n, "s16")),
    ...[256, 1_000].map((n) => longer(n, "s256")),
  ],
  smoke: [fleetOf(2, "s16", 10)],
  grows: "workers",
};

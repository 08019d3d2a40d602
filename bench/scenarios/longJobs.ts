/**
 * Jobs of a minute, one per second, on the smallest class. Question: how many run at once where the scheduler has eight
 * places, and at which cost are they kept alive?
 */
import { PUSH } from "../alternatives.js";
import type { Case, Scenario } from "../cases.js";

const long = (jobs: number): Case => ({
  ...{ name: `${jobs} jobs`, of: PUSH, class: "s16", parallelism: 60 },
  ...{ load: { everyMs: 1_000, jobs }, work: { kind: "act", ms: 60_000 } },
});

export const longJobs: Scenario = {
  title: "Jobs of a minute, one a second",
  question: "How many run at once on S16, and at which cost?",
  cases: [long(120)],
  smoke: [long(3)],
};

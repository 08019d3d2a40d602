/**
 * A cancel of all waiting jobs: a thousand jobs of 20 seconds of which ten run, two seconds after their caller has been answered.
 * Question: how long does it take, at which cost, and does any job begin all the same?
 */
import { PUSH } from "../alternatives.js";
import type { Case, Scenario } from "../cases.js";

const storm = (jobs: number): Case => ({
  ...{ name: `${jobs.toLocaleString("en")} jobs`, of: PUSH, class: "s16", parallelism: 10 },
  ...{ load: { inOne: jobs }, work: { kind: "act", ms: 20_000 } },
  ...{ cancelAfterMs: 2_000, size: jobs },
});

export const cancels: Scenario = {
  title: "A storm of cancels",
  question: "How long does a cancel of all waiting jobs take, and at which cost?",
  cases: [storm(1_000), storm(4_000)],
  smoke: [storm(30)],
  grows: "jobs that wait",
};

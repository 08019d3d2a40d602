/**
 * Attempts that fail. Question: how much do retries cost? One attempt in ten throws, and is tried again after a quarter
 * of a second, doubling, up to five attempts.
 */
import { PUSH } from "../alternatives.js";
import type { Case, Scenario } from "../cases.js";

const failing = (hundredths: number, jobs: number): Case => ({
  ...{ name: `${hundredths} % fail`, of: PUSH, class: "s16", parallelism: 50, tries: [25] },
  ...{
    load: { inOne: jobs },
    work: { kind: "act", ms: 100, failing: hundredths },
    size: hundredths,
  },
});

export const failures: Scenario = {
  title: "Failures with retries",
  question: "How much does a job cost when one attempt in ten fails?",
  cases: [failing(0.0001, 1_000), failing(10, 1_000), failing(30, 1_000)],
  smoke: [failing(10, 40)],
  grows: "attempts of 100 that fail",
};

/**
 * Jobs that wait for I/O: actions of a second each, as a call of a slow API is. Question: how many run at once on a
 * small deployment, which schedules eight functions at a time, and on a large one?
 */
import { PUSH_AND_INLINE } from "../alternatives.js";
import type { Case, Scenario } from "../cases.js";

const backlogOf = (of: "s16" | "s256", jobs: number): Case => ({
  ...{ name: of.toUpperCase(), of: PUSH_AND_INLINE, class: of, parallelism: 50, tries: [8, 25] },
  ...{ load: { inOne: jobs }, work: { kind: "act", ms: 1_000 } },
});

export const waitingJobs: Scenario = {
  title: "Jobs of one second that wait for others",
  question: "How many run at once on S16, and on S256?",
  cases: [backlogOf("s16", 1_000), backlogOf("s256", 1_000)],
  smoke: [backlogOf("s16", 30)],
};

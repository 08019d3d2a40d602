/**
 * Jobs that do nothing. Question: how many jobs per second does each way reach at most, and how much does its own work
 * cost? The figures are of the overhead alone.
 */
import { PUSH, PUSH_AND_INLINE } from "../alternatives.js";
import type { Case, Scenario } from "../cases.js";

const actions = (jobs: number): Case => ({
  ...{ name: "actions", of: PUSH_AND_INLINE, class: "s16", parallelism: 50, tries: [8, 25] },
  ...{ load: { inOne: jobs }, work: { kind: "act", ms: 0 } },
});
const mutations = (jobs: number): Case => ({
  ...actions(jobs),
  ...{ name: "mutations", of: PUSH, work: { kind: "book", ms: 0 } },
});

export const noOps: Scenario = {
  title: "Jobs that do nothing",
  question: "How many a second get through at full speed?",
  cases: [
    actions(1_000),
    { ...actions(1_000), name: "actions, S256", class: "s256" },
    mutations(1_000),
    { ...mutations(1_000), name: "mutations, S256", class: "s256" },
  ],
  smoke: [actions(40), mutations(40)],
};

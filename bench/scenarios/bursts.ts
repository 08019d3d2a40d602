/**
 * A thousand jobs at once. Question: how soon is a burst drained, at which cost, and do callers conflict with each
 * other? Brought by one mutation; or by a mutation each, at the same instant, of callers with longer and longer work of
 * their own: the longer a mutation runs, the more it can conflict.
 */
import { PUSH, PUSH_AND_INLINE } from "../alternatives.js";
import type { Case, Scenario } from "../cases.js";

const burst: Case = {
  ...{ name: "1,000 in one mutation", of: PUSH_AND_INLINE, class: "s16" },
  ...{ parallelism: 50, tries: [8, 25], load: { inOne: 1_000 }, work: { kind: "act", ms: 100 } },
};
const storm: Case = { ...burst, name: "1,000 callers", of: PUSH, load: { atOnce: 1_000 } };
const pairs: Case = {
  ...{ ...storm, name: "1,000 callers × 2 jobs", queues: 1 },
  load: { streams: [{ calls: { atOnce: 1_000 }, jobs: 2, ms: 100 }] },
};
/** In milliseconds, of five each read. */
const slow = (ms: number): Case => ({ ...storm, name: `1,000 callers of ${ms} ms`, reads: ms / 5 });

export const bursts: Scenario = {
  title: "Bursts",
  question: "How soon is a burst of 1,000 jobs drained, and with how many conflicts?",
  cases: [
    burst,
    { ...burst, name: "1,000 in one mutation, S256", class: "s256" },
    storm,
    pairs,
    slow(60),
    slow(300),
  ],
  smoke: [
    { ...burst, load: { inOne: 60 } },
    { ...storm, load: { atOnce: 40 } },
  ],
};

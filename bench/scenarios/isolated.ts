/**
 * One job now and then. Question: how much does a job cost where nothing else goes on, and how long after its commit
 * does it begin? Everything is asleep when it comes, and goes to sleep again.
 */
import { PUSH } from "../alternatives.js";
import type { Case, Scenario } from "../cases.js";

const idle = { of: PUSH, class: "s16", parallelism: 10 } as const;
const everyMinute = (jobs: number) => ({ everyMs: 60_000, jobs });
const action: Case = {
  ...{ name: "an action of 20 ms", ...idle },
  ...{ load: everyMinute(100), work: { kind: "act", ms: 20 } },
};

export const isolated: Scenario = {
  title: "One isolated job",
  question: "How much does one job cost from idle, and how soon does it begin?",
  cases: [
    action,
    { ...action, name: "a mutation", work: { kind: "book", ms: 0 } },
    { ...action, name: "an action, S256", class: "s256" },
  ],
  smoke: [{ ...action, load: everyMinute(2) }],
};

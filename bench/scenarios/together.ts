/**
 * Producers and workers at once: callers bring jobs, one each, while a fleet drains them. Question: do enqueues and
 * claims conflict with each other?
 */
import { PULL } from "../alternatives.js";
import type { Case, Scenario } from "../cases.js";

const both = (perSecond: number, seconds: number, of: "s16" | "s256"): Case => ({
  ...{ name: `${perSecond}/s, 32 workers, ${of.toUpperCase()}`, of: PULL, class: of },
  ...{ load: { perSecond, seconds }, work: { kind: "act", ms: 200 } },
  ...{ fleet: { workers: 32, concurrency: 2 } },
});

export const together: Scenario = {
  title: "Producers and workers together",
  question: "Do enqueues and claims conflict with each other?",
  cases: [both(20, 30, "s16"), both(60, 20, "s16"), both(60, 20, "s256")],
  smoke: [both(10, 2, "s16")],
};

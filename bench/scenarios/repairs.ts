/**
 * Processes that die with jobs in hand, and a scheduler that has no room meanwhile. Question: how soon is a lost job done, and
 * how much slower are the other jobs? A tenth of a fleet of sixty is killed; the machine of all running actions is lost;
 * the app's own scheduled actions fill the scheduler for minutes.
 */
import { PULL, PUSH } from "../alternatives.js";
import type { Case, Fault, Scenario } from "../cases.js";

const MINUTE_MS = 60_000;

/** Each of the fleet has a job in hand when its tenth dies, and as many jobs wait. */
const killed = (name: string, workers: number, fault: Fault): Case => ({
  ...{ name, of: PULL, class: "s16", seeds: 8 },
  ...{ load: { inOne: 3 * workers }, work: { kind: "act", ms: 5_000 } },
  ...{ fleet: { workers, concurrency: 1 }, fault },
});

const pushed = (name: string, fault: Fault, seconds = 120): Case => ({
  ...{ name, of: PUSH, class: "s16", parallelism: 10, seeds: 8 },
  ...{ load: { perSecond: 2, seconds }, work: { kind: "act", ms: 1_000 } },
  fault,
});

const choked = { afterMs: 2_000, chokesMs: 3 * MINUTE_MS } as const;

export const repairs: Scenario = {
  title: "Repairs",
  question: "How soon is a lost job done, and how much slower are the other jobs?",
  cases: [
    killed("a tenth of a fleet of 60 is killed", 60, { afterMs: 2_000, kills: 6 }),
    killed("the same while the scheduler is full", 60, { ...choked, kills: 6 }),
    pushed("the machine of all actions is lost", { afterMs: 30_000, losesActions: true }),
    pushed("the scheduler is full for minutes", { ...choked, afterMs: 30_000 }),
  ],
  smoke: [
    killed("a tenth of a fleet is killed", 3, { afterMs: 1_000, kills: 1 }),
    pushed("the machine of all actions is lost", { afterMs: 1_000, losesActions: true }, 3),
  ],
};

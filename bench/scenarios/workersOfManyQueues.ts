/**
 * Workers outside of Convex that serve many queues, with little to do: twelve jobs per second in all. Question: does a
 * worker pay for queues that are empty, and do the workers conflict?
 */
import type { Case, Scenario } from "../cases.js";
import type { Played } from "../play.js";

const PER_SECOND = 12;

interface Options {
  seconds?: number;
  /** Into how many of the queues jobs come. Defaults to all. */
  filled?: number;
  /** How many jobs a worker does at once. */
  concurrency?: number;
}

export function ofMany(
  queues: number,
  workers: number,
  { seconds = 40, filled = queues, concurrency = 8 }: Options = {},
): Case {
  return {
    name: `${queues} × ${workers}`,
    ...{ of: ["many"], class: "s16" },
    ...{ load: { perSecond: PER_SECOND, seconds }, work: { kind: "act", ms: 200 } },
    ...{ fleet: { workers, concurrency, queues, filled }, size: queues },
  };
}

/** Queues and workers. */
export const PAIRS: readonly (readonly [number, number])[] = [
  ...([
    [1, 2],
    [1, 8],
    [1, 64],
    [3, 8],
    [6, 8],
  ] as const),
  ...([
    [12, 2],
    [12, 8],
    [12, 64],
    [30, 8],
  ] as const),
];

/** Attempts of `claim` and `complete` that lost to another commit, in a hundred jobs. */
export function conflictsOf({ stats, jobs }: Pick<Played, "stats" | "jobs">): number {
  const calls = ["many:claim", "many:complete"].map((name) => stats.functions[name]);
  return (100 * calls.reduce((sum, of) => sum + (of?.conflicts ?? 0), 0)) / jobs;
}

export const workersOfManyQueues: Scenario = {
  title: "Workers of many queues",
  question: "How much do empty queues cost a worker, and do the workers conflict?",
  cases: PAIRS.map(([queues, workers]) => ofMany(queues, workers)),
  smoke: [ofMany(3, 2, { seconds: 3 })],
  grows: "queues",
};

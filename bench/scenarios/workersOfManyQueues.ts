/**
 * Workers outside of Convex that serve many queues, with little to do: twelve jobs a second in all. Question: does a worker
 * pay for queues that are empty, and do the workers meet?
 */
import type { Case, Scenario } from "../cases.js";

const PER_SECOND = 12;

export function ofMany(queues: number, workers: number, seconds = 40): Case {
  return {
    name: `${queues} × ${workers}`,
    ...{ of: ["many"], class: "s16" },
    ...{ load: { perSecond: PER_SECOND, seconds }, work: { kind: "act", ms: 200 } },
    ...{ fleet: { workers, concurrency: 8, queues }, size: queues },
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

export const workersOfManyQueues: Scenario = {
  title: "Workers of many queues",
  question: "What does a worker pay for queues that are empty, and do the workers meet?",
  cases: PAIRS.map(([queues, workers]) => ofMany(queues, workers)),
  smoke: [ofMany(3, 2, 3)],
  grows: "queues",
};

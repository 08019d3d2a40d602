/**
 * From one queue to thirty, each with a job of a second every second. Question: does a job begin as soon and cost as little
 * where its queue is one of many? Every job's action calls a mutation of the app, as actions do that have found something out.
 */
import type { Case, Scenario } from "../cases.js";
import { streaming } from "../streams.js";

const even = (queues: number, of: "s16" | "s256", jobs = 60): Case =>
  streaming({
    name: `${queues} ${queues === 1 ? "queue" : "queues"}, ${of.toUpperCase()}`,
    ...{ class: of, parallelism: 10, seeds: 8, size: queues, saves: true },
    streams: [{ queues, calls: { everyMs: 1_000, jobs }, ms: 1_000 }],
  });

export const manyQueues: Scenario = {
  title: "Many queues",
  question: "Does a job begin as soon and cost as little where its queue is one of many?",
  grows: "queues",
  cases: [
    ...[1, 3, 5, 8, 12, 24, 30].map((queues) => even(queues, "s16")),
    ...[3, 12, 30].map((queues) => even(queues, "s256")),
  ],
  smoke: [even(3, "s16", 2)],
};

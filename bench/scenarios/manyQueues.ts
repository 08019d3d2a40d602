/**
 * Jobs of many queues. Question: does a job begin as soon and cost as little where its queue is one of many, however its
 * queues are used: evenly, hardly ever, all by one mutation, or all at once?
 */
import type { Case, Scenario } from "../cases.js";
import { small, streaming } from "../streams.js";

const shared = { class: "s16", parallelism: 10, seeds: 8 } as const;

/** The action of each job calls a mutation, as actions do that have found something out. */
const even = (queues: number, of: "s16" | "s256", jobs = 60): Case =>
  streaming({
    ...{ name: `${queues} ${queues === 1 ? "queue" : "queues"}, ${of.toUpperCase()}`, ...shared },
    ...{ class: of, size: queues, saves: true },
    streams: [{ queues, calls: { everyMs: 1_000, jobs }, ms: 1_000 }],
  });

export const manyQueues: Scenario = {
  title: "Many queues",
  question:
    "Each queue has a job of a second every second. Does a job begin as soon and cost as little where its queue is one of many?",
  grows: "queues",
  cases: [
    ...[1, 3, 5, 8, 12, 24, 30].map((queues) => even(queues, "s16")),
    ...[3, 12, 30].map((queues) => even(queues, "s256")),
  ],
  smoke: [small(even(3, "s16", 2))],
};

const anyOf = (queues: number, seconds: number, mounts = queues): Case =>
  streaming({
    ...{ name: "10 jobs of 200 ms a second", ...shared, mounts },
    streams: [{ queues, into: "any", calls: { perSecond: 10, seconds }, ms: 200 }],
  });

export const twoHundredQueues: Scenario = {
  title: "Two hundred queues",
  question: "Each job goes into any one of 200 queues, so that a queue seldom has one.",
  cases: [anyOf(200, 60)],
  smoke: [small(anyOf(5, 1))],
};

const nowAndThen = (times: number): Case =>
  streaming({
    ...{ name: "jobs of 200 ms", ...shared },
    streams: [{ queues: 6, apartMs: 200, calls: { everyMs: 600_000, jobs: times }, ms: 200 }],
  });

export const sixNowAndThen: Scenario = {
  title: "Six queues every ten minutes",
  question:
    "One job in each of six queues, 200 ms apart, then nothing for ten minutes. How many calls does such a job cost?",
  cases: [nowAndThen(10)],
  smoke: [small(nowAndThen(1))],
};

const fanOut = (times: number): Case =>
  streaming({
    ...{ name: "every 2 s", ...shared },
    streams: [{ queues: 8, into: "all", calls: { everyMs: 2_000, jobs: times }, ms: 200 }],
  });

export const oneIntoEight: Scenario = {
  title: "One mutation into eight queues",
  question: "A mutation brings a job of 200 ms into each of eight queues, every other second.",
  cases: [fanOut(30)],
  smoke: [small(fanOut(2))],
};

const bothKinds = (seconds: number): Case =>
  streaming({
    ...{ name: "a job a second each", ...shared },
    streams: [
      { sort: "actions", queues: 3, calls: { everyMs: 1_000, jobs: seconds }, ms: 500 },
      {
        ...{ sort: "mutations", first: 3, queues: 3, kind: "book", ms: 0, startMs: 167 },
        calls: { everyMs: 1_000, jobs: seconds },
      },
    ],
  });

export const sixOfBothKinds: Scenario = {
  title: "Mutations and actions in six queues",
  question: "Three queues have actions of 500 ms, three have mutations.",
  cases: [bothKinds(60)],
  smoke: [small(bothKinds(2))],
};

const twoEach = (queues: number, mounts = 200): Case =>
  streaming({
    ...{ name: "all within two seconds", ...shared, mounts, isCrowded: true },
    streams: [{ queues, jobs: 2, calls: { everyMs: 2_000, jobs: 1 }, ms: 20 }],
  });

export const thousandQueues: Scenario = {
  title: "A thousand queues of two jobs",
  question: "Two jobs of 20 ms come into each of 1,000 queues. How soon are all done?",
  cases: [twoEach(1_000)],
  smoke: [small(twoEach(20))],
};

/**
 * Jobs of minutes, and a short one a second beside them: in the same queue, or in one of its own. Question: do short jobs
 * begin as soon as without the long ones, and what does that cost? Every job's action calls a mutation of the app.
 */
import type { Case, Scenario } from "../cases.js";
import { streaming } from "../streams.js";

const SHORT = { sort: "short", ms: 200 };
const everySecond = (seconds: number) => ({ everyMs: 1_000, jobs: seconds });
const shared = { class: "s16", parallelism: 10, seeds: 8, saves: true } as const;

/** The short ones come for as long as long ones run. */
const inOneQueue: Case = streaming({
  ...{ name: "jobs of 8 minutes in the same queue", ...shared },
  streams: [
    { sort: "8 min", calls: { everyMs: 35_000, jobs: 6 }, ms: 480_000 },
    { ...SHORT, calls: everySecond(650) },
  ],
});

const besideQueues = (queues: number, seconds = 300): Case =>
  streaming({
    ...{ name: `${queues} queues with a job of 5 minutes each, and one more`, ...shared },
    streams: [
      { sort: "5 min", queues, calls: { everyMs: 1_000, jobs: 1 }, ms: seconds * 1_000 },
      { ...SHORT, first: queues, calls: everySecond(seconds) },
    ],
  });

export const longBesideShort: Scenario = {
  title: "Long jobs beside short ones",
  question: "Do short jobs begin as soon beside jobs of minutes, and what does that cost?",
  cases: [inOneQueue, besideQueues(4), besideQueues(8)],
  smoke: [besideQueues(2, 3)],
};

/**
 * Jobs of minutes, and short ones at the same time: in the same queue, or in one of their own. Question: do short jobs
 * begin as soon as without the long ones, and at which cost? Every job's action calls a mutation of the app.
 */
import type { Case, Scenario } from "../cases.js";
import { small, streaming, type Stream } from "../streams.js";

const MINUTE_MS = 60_000;
const SHORT = { sort: "short", ms: 200 };
const everySecond = (seconds: number) => ({ everyMs: 1_000, jobs: seconds });
const shared = { class: "s16", parallelism: 10, seeds: 8, saves: true } as const;

/** The short ones come for as long as long ones run. */
const inOneQueue: Case = streaming({
  ...{ name: "jobs of 8 minutes in the same queue", ...shared },
  streams: [
    { sort: "8 min", calls: { everyMs: 35_000, jobs: 6 }, ms: 8 * MINUTE_MS },
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

/** Two hours of patience: eight at once are done with them in forty minutes. */
const besideBacklog = (of: "s16" | "s256"): Case =>
  streaming({
    ...{ name: `a queue with 300 jobs of a minute, and one more, ${of.toUpperCase()}`, ...shared },
    ...{ class: of, parallelism: 50, patienceMs: 120 * MINUTE_MS, isCrowded: of === "s16" },
    streams: [
      { sort: "1 min, 300 at once", areInLine: true, ...atOnce(300), ms: MINUTE_MS },
      { ...SHORT, first: 1, calls: everySecond(300) },
    ],
  });

function atOnce(jobs: number): Pick<Stream, "calls" | "jobs"> {
  return { calls: { atOnce: 1 }, jobs };
}

export const longBesideShort: Scenario = {
  title: "Long jobs beside short ones",
  question: "Do short jobs begin as soon beside jobs of minutes, and at which cost?",
  cases: [
    ...[inOneQueue, besideQueues(4), besideQueues(8)],
    ...[besideBacklog("s16"), besideBacklog("s256")],
  ],
  smoke: [small(besideQueues(2, 3))],
};

/** Conveyor ends an attempt after 25 minutes. */
const LONGEST_MS = 24.5 * MINUTE_MS;

const hour = (name: string, queueOf: (stream: number) => number): Case =>
  streaming({
    ...{ name, ...shared, timeoutMs: 25 * MINUTE_MS },
    streams: [
      { sort: "2 min", ms: 2 * MINUTE_MS, calls: { everyMs: 5 * MINUTE_MS, jobs: 12 } },
      { sort: "10 min", ms: 10 * MINUTE_MS, calls: { everyMs: 15 * MINUTE_MS, jobs: 4 } },
      { sort: "24.5 min", ms: LONGEST_MS, calls: { everyMs: 30 * MINUTE_MS, jobs: 2 } },
      { ...SHORT, calls: { everyMs: 2_000, jobs: 1_800 } },
    ].map((stream, i) => ({ ...stream, first: queueOf(i), startMs: 13_000 * i })),
  });

const hourSmoke: Case = streaming({
  ...{ name: "in two queues", ...shared, timeoutMs: 25 * MINUTE_MS },
  streams: [
    { sort: "1 min", calls: { everyMs: MINUTE_MS, jobs: 1 }, ms: MINUTE_MS },
    { ...SHORT, first: 1, calls: everySecond(3) },
  ],
});

export const longHour: Scenario = {
  title: "An hour of jobs of 2, 10 and 25 minutes among short ones",
  question: "Do short jobs begin as soon, and long ones too, in one queue and in a queue for each?",
  cases: [hour("in one queue", () => 0), hour("in four queues", (stream) => stream)],
  smoke: [small(hourSmoke)],
};

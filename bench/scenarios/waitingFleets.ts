/**
 * Fleets of workers outside of Convex that wait, each worker with one job at a time. Question: how much does a job
 * cost that all workers hear of, and how much of it do fleets on call save? The same workers in both: with a condition of its
 * own each follows the queue always, and without one they are on call or stand by. First jobs alone, then nothing, then a
 * burst; and one job per second, beside the published patterns, in which each worker follows, too.
 */
import type { Case, Scenario, Window } from "../cases.js";
import { small } from "../streams.js";

/** All have found their places in the fleet. */
const WAITS_MS = 180_000;
const EVERY_MS = 30_000;
/** The seed decides when workers begin, and so their places in the fleet. */
const SEEDS = 3;
/** Each worker gets one of a burst. */
const BURST_WORK_MS = 1_000;

export const ALONE = "jobs alone";
export const IDLE = "idle";
export const BURST = "burst";

const waiting = (workers: number, jobs: number, idleMinutes: number, burst: number): Case => {
  const aloneMs = jobs * EVERY_MS;
  const pauseMs = idleMinutes * 60_000;
  const windows: Window[] = [
    { name: ALONE, fromMs: 0, toMs: aloneMs },
    { name: IDLE, fromMs: aloneMs, toMs: aloneMs + pauseMs },
    { name: BURST, fromMs: aloneMs + pauseMs, toMs: aloneMs + pauseMs + 60_000 },
  ];
  return {
    ...{ name: `${workers} workers`, of: ["pulled", "following"] },
    // A burst for a large fleet is on S16 one of the class's permits.
    ...{ class: workers > 64 ? "s256" : "s16", fleet: { workers, concurrency: 1 } },
    load: { alone: jobs, everyMs: EVERY_MS, pauseMs, burst },
    work: { kind: "act", ms: (n) => (n < jobs ? 50 : BURST_WORK_MS) },
    ...{ waitsMs: WAITS_MS, windows },
    // Of 256 workers a seed takes minutes.
    ...(workers > 64 ? {} : { seeds: SEEDS }),
  };
};

const oneASecond = (workers: number, seconds: number): Case => ({
  ...{ name: `${workers} workers, one job per second`, class: "s16" },
  ...{ of: ["pulled", "following", "farm", "ring"], fleet: { workers, concurrency: 1 } },
  ...{ load: { perSecond: 1, seconds }, work: { kind: "act", ms: 20 }, waitsMs: WAITS_MS },
});

export const waitingFleets: Scenario = {
  title: "Fleets that wait",
  question: "How much does a job cost a fleet that waits?",
  cases: [
    ...[8, 64, 256].map((n) => waiting(n, 6, 5, 1_000)),
    ...[16, 64, 256].map((n) => oneASecond(n, 60)),
  ],
  smoke: [small(waiting(2, 2, 1, 4)), oneASecond(2, 3)],
};

/** What is compared, and under which load. */
import type { DeploymentClass } from "../../local/functions/classes.js";

export const ALTERNATIVES = ["conveyor", "workpool", "plain"] as const;
export type Alternative = (typeof ALTERNATIVES)[number];

/**
 * How jobs come: all by one mutation; so many mutations at the same instant; one every so many milliseconds; or so many a
 * second on average, each independent of the others.
 */
export type Load =
  | { inOne: number }
  | { atOnce: number }
  | { everyMs: number; jobs: number }
  | { perSecond: number; seconds: number };

export interface Scenario {
  name: string;
  class: DeploymentClass;
  load: Load;
  /** How many jobs may run at once, for those that bound it. */
  parallelism: number;
  /** An action that takes so long; or a mutation. */
  kind: "act" | "book";
  workMs: number;
  /** What callers do before they enqueue, in reads of about 5 ms. */
  reads?: number;
}

const isolated = { class: "s16", parallelism: 10, workMs: 20 } as const;
const burst = { class: "s16", parallelism: 50, workMs: 100, kind: "act" } as const;
const stream = { class: "s256", parallelism: 64, workMs: 20, kind: "act" } as const;

/** About 60 and 300 ms. */
const READS = { short: 12, long: 60 };

export const FULL: Scenario[] = [
  {
    name: "isolated, one a minute",
    ...isolated,
    kind: "act",
    load: { everyMs: 60_000, jobs: 8 },
  },
  {
    name: "isolated, a mutation a minute",
    ...isolated,
    kind: "book",
    load: { everyMs: 60_000, jobs: 8 },
  },
  { name: "trickle, 1/s", ...isolated, kind: "act", load: { perSecond: 1, seconds: 60 } },
  { name: "1,000 in one mutation", ...burst, load: { inOne: 1_000 } },
  { name: "1,000 mutations at once", ...burst, load: { atOnce: 1_000 } },
  {
    name: "1,000 mutations of 60 ms at once",
    ...burst,
    load: { atOnce: 1_000 },
    reads: READS.short,
  },
  {
    name: "backlog of 1,000, 1 s, S16",
    ...{ class: "s16", parallelism: 50, workMs: 1_000, kind: "act" },
    load: { inOne: 1_000 },
  },
  {
    name: "backlog of 1,000, 1 s, S256",
    ...{ class: "s256", parallelism: 50, workMs: 1_000, kind: "act" },
    load: { inOne: 1_000 },
  },
  {
    name: "backlog of 1,000 mutations",
    ...{ class: "s16", parallelism: 50, workMs: 0, kind: "book" },
    load: { inOne: 1_000 },
  },
  { name: "20 ms jobs, 100/s", ...stream, load: { perSecond: 100, seconds: 10 } },
  {
    name: "20 ms jobs, 100/s, callers of 60 ms",
    ...stream,
    load: { perSecond: 100, seconds: 10 },
    reads: READS.short,
  },
  {
    name: "20 ms jobs, 100/s, callers of 300 ms",
    ...stream,
    load: { perSecond: 100, seconds: 10 },
    reads: READS.long,
  },
  { name: "20 ms jobs, 400/s", ...stream, load: { perSecond: 400, seconds: 10 } },
  {
    name: "60 s jobs, 1/s, S16",
    ...{ class: "s16", parallelism: 40, workMs: 60_000, kind: "act" },
    load: { everyMs: 1_000, jobs: 40 },
  },
];

export const SMOKE: Scenario[] = [
  { name: "isolated", ...isolated, kind: "act", load: { everyMs: 60_000, jobs: 2 } },
  { name: "100 in one mutation", ...burst, load: { inOne: 60 } },
  { name: "40 mutations at once", ...burst, load: { atOnce: 40 } },
  { name: "20 ms jobs, 100/s", ...stream, load: { perSecond: 100, seconds: 1 } },
];

/**
 * Where workpool may do better with fewer jobs at once than it is allowed: more of its own functions find room. The best
 * of these is what is shown.
 */
export const WORKPOOL_TRIES = [0.16, 0.5, 1];

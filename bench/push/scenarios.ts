/** What is compared, and under which load. */
import type { DeploymentClass } from "../../local/functions/classes.js";
import type { Arrivals } from "../load.js";

/** By the module of the app that brings the jobs in, and what they are called in tables. */
export const ALTERNATIVES = {
  conveyor: "conveyor",
  inline: "conveyor, inline",
  workpool: "workpool",
  plain: "plain",
} as const;
export type Alternative = keyof typeof ALTERNATIVES;

/** How jobs come: all by one mutation, or by a mutation each. */
export type Load = { inOne: number } | Arrivals;

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
  /** Conveyor is also played with a handler inside its lane. */
  inline?: true;
}

const isolated = { class: "s16", parallelism: 10, workMs: 20 } as const;
const burst = { class: "s16", parallelism: 50, workMs: 100, kind: "act" } as const;
const backlog = { parallelism: 50, workMs: 1_000, kind: "act", load: { inOne: 1_000 } } as const;
const stream = { class: "s256", parallelism: 64, workMs: 20, kind: "act" } as const;
const storm = { atOnce: 1_000 };
const hundred = { perSecond: 100, seconds: 10 };

/** Callers whose own mutation takes about so long, in milliseconds. */
const SLOW = [15, 60, 200, 300];
const slow = (scenario: Scenario): Scenario[] =>
  SLOW.map((ms) => ({
    ...{ ...scenario, reads: ms / 5 },
    name: `${scenario.name}, callers of ${ms} ms`,
  }));

const trickle = (perSecond: number): Scenario => ({
  ...{ name: `trickle, ${perSecond}/s`, ...isolated, kind: "act" },
  load: { perSecond, seconds: 60 },
});

export const FULL: Scenario[] = [
  { name: "isolated, one a minute", ...isolated, kind: "act", load: { everyMs: 60_000, jobs: 8 } },
  {
    name: "isolated, a mutation a minute",
    ...isolated,
    kind: "book",
    load: { everyMs: 60_000, jobs: 8 },
  },
  trickle(1),
  { name: "1,000 in one mutation", ...burst, load: { inOne: 1_000 }, inline: true },
  { name: "1,000 at once", ...burst, load: storm },
  ...slow({ name: "1,000 at once", ...burst, load: storm }),
  { name: "backlog of 1,000, 1 s, S16", ...backlog, class: "s16", inline: true },
  { name: "backlog of 1,000, 1 s, S256", ...backlog, class: "s256", inline: true },
  {
    name: "backlog of 1,000 mutations",
    ...{ class: "s16", parallelism: 50, workMs: 0, kind: "book" },
    load: { inOne: 1_000 },
  },
  { name: "20 ms jobs, 100/s", ...stream, load: hundred, inline: true },
  ...slow({ name: "20 ms jobs, 100/s", ...stream, load: hundred }),
  { name: "20 ms jobs, 400/s", ...stream, load: { perSecond: 400, seconds: 10 }, inline: true },
  {
    name: "60 s jobs, 1/s, S16",
    ...{ class: "s16", parallelism: 40, workMs: 60_000, kind: "act" },
    load: { everyMs: 1_000, jobs: 40 },
  },
];

/** For sweeps, by name alone: smaller, since many are played. */
export const EXTRA: Scenario[] = [
  trickle(0.5),
  trickle(2),
  trickle(5),
  { name: "short stream", ...stream, load: { perSecond: 100, seconds: 4 } },
  { name: "short stream, 400/s", ...stream, load: { perSecond: 400, seconds: 2 } },
  { name: "short burst", ...burst, load: { inOne: 300 } },
  {
    name: "short backlog of mutations",
    ...{ class: "s16", parallelism: 50, workMs: 0, kind: "book" },
    load: { inOne: 400 },
  },
];

export const SMOKE: Scenario[] = [
  { name: "isolated", ...isolated, kind: "act", load: { everyMs: 60_000, jobs: 2 } },
  { name: "60 in one mutation", ...burst, load: { inOne: 60 }, inline: true },
  { name: "40 mutations at once", ...burst, load: { atOnce: 40 } },
  { name: "20 ms jobs, 100/s", ...stream, load: { perSecond: 100, seconds: 1 } },
];

/**
 * Where workpool may do better with fewer jobs at once than it is allowed: more of its own functions find room. The best
 * of these is what is shown.
 */
export const WORKPOOL_TRIES = [0.16, 0.5, 1];

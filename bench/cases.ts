/** The shapes of a played load: a scenario asks a question, its cases are the loads that answer it. */
import type { DeploymentClass } from "../local/functions/classes.js";
import type { AlternativeName } from "./alternatives.js";
import type { Arrivals } from "./load.js";
import type { Stream } from "./streams.js";

/**
 * How jobs come: all by one mutation, or one for each thousand; or by a mutation each; or nothing comes for so long; or
 * streams of calls come into several queues; or first a few alone, then nothing for so long, and then all by one mutation.
 */
export type Load =
  | { inOne: number }
  | Arrivals
  | { idleMs: number }
  | { streams: readonly Stream[] }
  | { alone: number; everyMs: number; pauseMs: number; burst: number };

/** The shape of a job. */
export interface Work {
  /** An action, or a mutation. For programs outside of Convex it makes no difference. */
  kind: "act" | "book";
  /** How long the nth takes, in milliseconds. */
  ms: number | ((n: number) => number);
  /** Each payload carries a string of so many bytes. */
  payloadBytes?: number;
  /** So many of 100 attempts throw, and are tried again. */
  failing?: number;
  /** Whether its action calls a mutation of the app. Of streams only. */
  saves?: boolean;
  /** Whether its handler, which is a mutation, or its callback patches the counter. Of streams only. */
  counts?: "handler" | "callback";
  /** Whether the nth goes first, for an alternative with priorities. */
  isUrgent?: (n: number) => boolean;
}

export function msOf({ ms }: Work, n: number): number {
  return typeof ms === "number" ? ms : ms(n);
}

/** Programs outside of Convex. */
export interface Fleet {
  workers: number;
  /** How many jobs each of them does at once. */
  concurrency: number;
  /** How many queues each of them serves, where that is more than one. */
  queues?: number;
  /** Into how many of them jobs come. Defaults to all. */
  filled?: number;
}

/** A fault, once, so long after the first job comes. */
export interface Fault {
  afterMs: number;
  /** So many programs are killed, as by `kill -9`. */
  kills?: number;
  /** The machine of all actions that run then is lost. */
  losesActions?: boolean;
  /** The app's own scheduled actions, of so many milliseconds each, fill the scheduler. */
  chokesMs?: number;
}

/** One load, played by each alternative in a world of its own. */
export interface Case {
  /** Its difference within its scenario: "S256", "400/s". */
  name: string;
  of: readonly AlternativeName[];
  class: DeploymentClass;
  load: Load;
  work: Work;
  /** How many jobs may run at once, for alternatives with a bound. */
  parallelism?: number;
  /**
   * Further settings of workpool's besides `parallelism`: where it is allowed many at once and much comes, fewer may be
   * more, since its own functions find room. The best is shown.
   */
  tries?: readonly number[];
  /** How many queues there are, where there are several: the load is of streams. */
  queues?: number;
  /** How many workpools are mounted for them: queue i has the one numbered i modulo so many. Defaults to 30. */
  mounts?: number;
  /** Of Conveyor's queues, where a job takes longer than their default allows. */
  timeoutMs?: number;
  /** Jobs want more places than the class has: how soon they begin is for comparison only. */
  isCrowded?: boolean;
  /** Played with so many seeds, from 1 on: figures are means over them, with the interval in which the mean is. */
  seeds?: number;
  /** A job that has not ended so long after the last call was answered counts as lost. Defaults to half an hour. */
  patienceMs?: number;
  /** So long before the first job comes all wait. */
  waitsMs?: number;
  /** For programs outside. */
  fleet?: Fleet;
  /** Into how many parts Conveyor's queue is split. Defaults to the product's default. */
  shards?: number;
  /** The app's own mutation patches the counter as often, at the same time. */
  bumps?: Arrivals;
  /** The callers' own work before they enqueue, in reads of about 5 ms. */
  reads?: number;
  /** So many jobs wait already; then only as many as the load has are waited for. */
  backlog?: number;
  fault?: Fault;
  /** So long after all callers have been answered, all jobs that have not begun are canceled. */
  cancelAfterMs?: number;
  /** The key by which figures are split. */
  sort?: (n: number) => string;
  /** Figures are of these stretches, and of nothing else: for a comparison of a run with itself later on. */
  windows?: readonly Window[];
  /** Where it stands on the axis along which its scenario grows. */
  size?: number;
}

/** From so long after the first job comes, to so long after. */
export interface Window {
  name: string;
  fromMs: number;
  toMs: number;
}

export interface Scenario {
  title: string;
  /** The question that its cases answer. */
  question: string;
  cases: readonly Case[];
  /** The same, small: it shows that it runs, and nothing else. */
  smoke: readonly Case[];
  /** The quantity that grows from case to case, as an axis names it. */
  grows?: string;
}

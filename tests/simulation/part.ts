/** The two kinds of things that a simulation is put together from: parts, which act, and checkers, which observe. */
import type { Draw } from "./draw.js";
import type { Commit, Row, Tables } from "./observed.js";
import type { Plan, Planned, QueueName, WorkerSpec } from "./plan.js";
import type { Simulation } from "./simulation.js";

/** A workload or a fault: the events that it plans for a seed, and a function that performs each. */
export interface Part {
  readonly name: string;
  /** Its effect, in words. */
  readonly about: string;
  /** How likely it is on. Defaults to 0.5. */
  readonly chance?: number;
  /** Whether it has anything to do in such a plan. Defaults to yes. */
  fits?: (plan: Plan) => boolean;
  /** Programs that it adds. */
  readonly serves?: readonly WorkerSpec[];
  /** The events that it adds, each with its own name before the dot. Their times are before `plan.faultsMs`. */
  plan(draw: Draw, plan: Plan): Planned[];
  /** How an event is performed, by the word after the dot. No event waits for an answer of the backend: it may be down. */
  readonly perform: Readonly<
    Record<string, (simulation: Simulation, event: any) => void | Promise<void>>
  >;
  /** The phase with faults is over: any fault of the part that would go on ends now. */
  heal?(simulation: Simulation): void | Promise<void>;
  /** The events that it must have caused in some seed: each is reported with `simulation.happened`. */
  readonly marks: readonly string[];
}

/** One run of one handler, as the service outside heard of it. */
export interface Run {
  queue: QueueName;
  job: string;
  n: number;
  attempt: number;
  /** Tells one run from another of the same attempt. */
  run: string;
  what: "began" | "ended";
  /** Of a job that its handler was given with others. */
  batch?: string;
  /** Milliseconds from the start. */
  at: number;
}

/** A call of the app's, and its answer; neither reply nor error if there never was one. */
export interface Asked {
  /** The function of `app/calls.ts`. */
  what: string;
  args: any;
  at: number;
  answeredAt?: number;
  reply?: any;
  error?: string;
}

/** A checker's input. */
export interface Facts {
  readonly plan: Plan;
  readonly tables: Tables;
  readonly runs: readonly Run[];
  readonly asked: readonly Asked[];
  /** Milliseconds from the start. */
  now: () => number;
  /** As rows have it: milliseconds since 1970. */
  date: () => number;
  /** Tells that something has happened that some seed must show: for the coverage table. */
  happened: (what: string) => void;
  /** Reports a broken promise: how, with the job or queue that it concerns. */
  broken: (how: string) => void;
  /** The job as people know it in traces: its number. */
  nameOf: (job: string) => string;
}

/** A checker's reactions, as things happen. */
export interface Watching {
  commit?(commit: Commit): void;
  ran?(run: Run): void;
  answered?(asked: Asked): void;
  /** A program outside runs from now on, or does so no more: it was killed, stands still, or was told to stop. */
  stood?(worker: string, isUp: boolean): void;
  /** A program outside has printed a line of JSON. */
  printed?(worker: string, line: unknown): void;
  /** All has come to rest after the faults: every job has ended that can. */
  end?(): void;
  /** Days later: the retention of all jobs is over. */
  gone?(): void;
}

export interface Checker {
  readonly name: string;
  /** The promise that it checks, in words. */
  readonly promise: string;
  /** The events that it must have seen in some seed, or it has checked nothing: reported with `happened`. */
  readonly marks: readonly string[];
  watch(facts: Facts): Watching;
}

export type { Commit, Row };

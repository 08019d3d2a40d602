/**
 * A seed's plan: the queues and their configuration, the workers, and every event with its time. All of it is data, drawn before
 * anything runs: the run moves no draw, a part that is left out moves no other, and a failing run is made smaller by leaving
 * events out.
 */
import type { DeploymentClass } from "../../local/functions/classes.js";
import type { QueueOverrides } from "../../src/shared/index.js";
import { kindOf, type Kind, type QueueName } from "./app/names.js";

export { kindOf, type Kind, type QueueName };
/** Queues of which there are as many as a seed likes, all of one kind: see `workloads/crowd.ts`. */
export type CrowdName = `many${number}`;

export interface WorkerSpec {
  name: string;
  queues: QueueName[];
  concurrency: number;
  labels: string[];
  maxCost?: number;
  /** Absent: it does jobs of all groups, and jobs of none. */
  groups?: string[];
  /** Its handlers are given several jobs, where the part `batches` is on. */
  batch?: { size: number; waitMs: number; by?: "group" };
  /** The module of the app whose functions it calls, and the name of its token: where they are its own. */
  api?: "rows" | "scoped";
  token?: "byQuery" | "byPrefix";
  /** It serves queues of the second mount: see `workloads/secondMount.ts`. */
  isOfSecond?: boolean;
}

/** Something that is done at a certain time. The rest of its fields are its part's own: plain data. */
export interface Planned {
  /** Milliseconds from the start. */
  at: number;
  /** `part.verb`, as in `producers.enqueue`. */
  do: string;
  [detail: string]: unknown;
}

export interface Plan {
  seed: number;
  /** Of a large world: so many jobs its producers enqueue. Absent: a few. */
  jobs?: number;
  class: DeploymentClass;
  /** How uneven the time of all work is: see `local/virtual/costs.ts`. */
  jitter: number;
  /** The queues in use, each with its overrides. */
  queues: Partial<Record<QueueName, QueueOverrides>>;
  /** The same for queues of the crowd. */
  crowd: Partial<Record<CrowdName, QueueOverrides>>;
  workers: WorkerSpec[];
  /** The workloads and faults that are on. */
  parts: string[];
  /** How long the phase with faults is, in milliseconds. */
  faultsMs: number;
  /** In the order of their times. */
  events: Planned[];
}

/** Kinds that programs outside serve. */
export const PULLED: readonly Kind[] = ["pulled", "mixed", "ring"];
/** Kinds that programs outside serve in a large world, where some jobs of `acted` need labels that no lane has. */
export const SERVED: readonly Kind[] = [...PULLED, "acted"];
/** Kinds that Convex serves. */
export const PUSHED: readonly Kind[] = ["acted", "inlined", "written", "looked", "mixed", "wheel"];
/** Their items come round, and never finish. */
export const CIRCULAR: readonly Kind[] = ["ring", "wheel"];

export function isOf(kinds: readonly Kind[], queue: unknown): boolean {
  return kinds.includes(kindOf(queue));
}

export function usedQueues(plan: Plan): QueueName[] {
  return Object.keys(plan.queues) as QueueName[];
}

/**
 * What a seed comes to: which queues there are and how they are configured, who works, and everything that will be done to
 * them and when. All of it is data, drawn before anything runs: what happens then moves no draw, a part that is left out
 * moves no other, and a failing run is made smaller by leaving events out.
 */
import type { QueueOverrides } from "../../src/shared/index.js";
import type { QueueName } from "./app/queues.js";

export type { QueueName };
/** Queues of which there are as many as a seed likes, all of one kind: see `workloads/crowd.ts`. */
export type CrowdName = `many${number}`;

export interface WorkerSpec {
  name: string;
  queues: QueueName[];
  concurrency: number;
  labels: string[];
  maxCost?: number;
  /** Absent: it does jobs of all groups, and those of none. */
  groups?: string[];
}

/** Something that is done at a certain time. The rest of its fields are its part's own: plain data. */
export interface Planned {
  /** Milliseconds from the start. */
  at: number;
  /** `part.what`, as in `producers.enqueue`. */
  do: string;
  [detail: string]: unknown;
}

export interface Plan {
  seed: number;
  class: "s16" | "s256" | "d1024";
  /** How uneven the time of all work is: see `local/virtual/costs.ts`. */
  jitter: number;
  /** Those that are used, each with what it is configured to. */
  queues: Partial<Record<QueueName, QueueOverrides>>;
  /** The same of those of which there are many. */
  crowd: Partial<Record<CrowdName, QueueOverrides>>;
  workers: WorkerSpec[];
  /** The workloads and faults that are on. */
  parts: string[];
  /** How long the phase with faults is, in milliseconds. */
  faultsMs: number;
  /** In the order of their times. */
  events: Planned[];
}

/** Those that programs outside serve. */
export const PULLED: readonly QueueName[] = ["pulled", "mixed", "ring"];
/** Those that Convex serves. */
export const PUSHED: readonly QueueName[] = [
  "acted",
  "inlined",
  "written",
  "looked",
  "mixed",
  "wheel",
];
/** Their items come round, and never finish. */
export const CIRCULAR: readonly QueueName[] = ["ring", "wheel"];

export function usedQueues(plan: Plan): QueueName[] {
  return Object.keys(plan.queues) as QueueName[];
}

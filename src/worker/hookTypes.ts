/** The hooks of a worker, and its budgets. Nothing here runs. */
import type { Outcome, PeekedJob } from "../shared/index.js";
import type { WorkerStatus } from "./events.js";
import type { Job } from "./types.js";

/** The argument of `beforeClaim`. */
export interface ClaimContext<Queue extends string = string> {
  /** How many jobs the claim would ask for. */
  max: number;
  /** The part of the worker's `maxCost` that running jobs leave over; absent without one. */
  maxCost?: number;
  status: WorkerStatus;
  /** See {@link Worker.peek}. */
  peek: (options?: PeekOptions<Queue>) => Promise<PeekedJob[]>;
}

/** The conditions of one claim, all within the worker's own options. */
export interface ClaimConditions<Queue extends string = string> {
  /** At most so much cost, a whole number, at least 1. */
  maxCost?: number;
  /** Only these of the worker's queues. */
  queues?: readonly Queue[];
  /**
   * Only these jobs, up to 64, as `peek` has shown them: another worker may be faster. Of a queue with a strict order, or a
   * circular one, no job is taken so. Not together with `queues`.
   */
  ids?: readonly string[];
  /** Only these of the worker's labels. Each change of labels or groups changes the worker's place in its fleet. */
  labels?: readonly string[];
  /**
   * Only these groups, of the worker's `groups` where it has some. A group that the token is not for ends the worker with
   * `groupForbidden`.
   */
  groups?: readonly string[];
}

export interface PeekOptions<Queue extends string = string> {
  /** Of the worker's queues. */
  queues?: readonly Queue[];
  /**
   * 1 to 64.
   * @default 10
   */
  limit?: number;
}

/** How a handler has ended. */
export interface JobEnd {
  /** `released` also where it failed after its job was given back at a stop, or its lease was lost. */
  outcome: Outcome["kind"];
  /** How long its handler ran, with `beforeJob` and `around`, in milliseconds. */
  ms: number;
  /** The message of a failure. */
  error?: string;
  /** The thrown value. */
  thrown?: unknown;
}

/** Limits beyond which a worker claims nothing more. It measures them before each claim. */
export interface BackPressure {
  /** The share of the machine's memory in use, or of the container's, over 0 up to 1. Node, Bun and Deno tell it. */
  memory?: number;
  /** The share of the machine's processor time in use, over 0 up to 1, measured once per second. Node, Bun and Deno tell it. */
  cpu?: number;
  /** True where the worker is to claim nothing for now: a GPU's memory, a service that is down. */
  check?: () => boolean | Promise<boolean>;
}

export interface Hooks<Queue extends string = string> {
  /**
   * Runs before each claim: `false` leaves this one out, and the next comes a second later at the earliest; conditions
   * narrow it. Outcomes do not wait for it. One that throws leaves the claim out, with the event `hookFailed`.
   *
   * @example
   * beforeClaim: async () => ({ maxCost: await freeMegabytes() }),
   */
  beforeClaim?: (
    ctx: ClaimContext<Queue>,
  ) => ClaimConditions<Queue> | boolean | void | Promise<ClaimConditions<Queue> | boolean | void>;
  /** Runs before each handler. An error fails the attempt, as one of the handler does. */
  beforeJob?: (job: Job) => void | Promise<void>;
  /** Runs after each handler, with its outcome, before that is recorded. An error changes nothing: it is the event `hookFailed`. */
  afterJob?: (job: Job, end: JobEnd) => void | Promise<void>;
  /**
   * Runs around each handler: `next()` runs it. The result is the job's, an error fails the attempt. For traces, contexts
   * of `AsyncLocalStorage`, locks. The attempt ends with both: a handler that `around` does not wait for keeps the slot and
   * the lease until its own end. A further `next()` after that runs it again, without the jobs that it had continued with.
   *
   * @example
   * around: (job, next) => tracer.startActiveSpan(job.queue, async (span) => {
   *   try {
   *     return await next();
   *   } finally {
   *     span.end();
   *   }
   * }),
   */
  around?: (job: Job, next: () => Promise<unknown>) => unknown;
  /**
   * Limits beyond which nothing is claimed. Jobs in hand go on.
   * @default none
   */
  backPressure?: BackPressure;
}

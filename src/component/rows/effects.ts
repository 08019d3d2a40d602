/**
 * Effects: the work that goes with the edges of jobs beside their rows. An edge adds it to the effects of its transaction, and
 * `edges/applyEffects.ts` applies it once, at the end. Only that file makes an {@link EdgeCtx}, so that no effect is left over.
 */
import type { ObjectType } from "convex/values";
import type { Id } from "../_generated/dataModel.js";
import type { MutationCtx } from "../_generated/server.js";
import type { Offer } from "./conditions.js";
import type { Queue } from "./queues.js";
import type { owedFields } from "./stored.js";

/** The context of a step that moves jobs. */
export interface EdgeCtx extends MutationCtx {
  /** The instant of the step, in milliseconds. */
  now: number;
  /** The call is of the session that holds the jobs: a sweep finds the ends of its jobs, and nothing is armed to count them. */
  bySession: boolean;
  effects: Effects;
}

export interface Effects {
  /** By queue. */
  wakes: Map<string, QueueWakes>;
  dueTimes: DueTime[];
  callbacks: PendingCallback[];
  /**
   * Of jobs that have ended before, and were moved since by this very transaction: the end before may be one that it has yet
   * to deliver, and that a callback of another job precedes.
   */
  laterCallbacks: PendingCallback[];
  /** Queues with jobs that have ended: the roll-up is to count them soon. */
  toCount: Set<string>;
}

/** An instant for which the alarm of its segment must come: a job falls due then, or runs out of time. */
export interface DueTime {
  kind: "dispatcher" | "expiry";
  queue: string;
  at: number;
  /**
   * It is of a job that is enqueued, or retried with a new deadline. Another step may last until an alarm that is near has
   * rung, and must not rely on that.
   */
  isNew?: boolean;
}

/** One call of `onComplete` that is to be made. */
export type PendingCallback = ObjectType<typeof owedFields>;

/**
 * The wake that a job needs:
 *
 * - `now`: no worker outside is there, and the wake takes any job that waits
 * - `apart`: some are, none of which may take this job
 * - `later`: it is left to them first
 */
export type Wake = "now" | "apart" | "later";

/** The wakes of one queue. Only `edges/wakes.ts` decides on them. */
export interface QueueWakes {
  queue: Queue;
  /** A lane or a wake finds all further jobs of this transaction, too. */
  isSettled: boolean;
  /** Of a queue with jobs that are left to workers outside first: the offers of the workers that are present. */
  offers?: readonly Offer[];
  /** Of such a queue: kinds of wakes with the places in which another call of the transaction has ensured one. */
  relied?: Set<string>;
  /** So many jobs have become claimable by this transaction. */
  claimable: number;
  ofJobs: { job: Id<"jobs">; wake: Wake; isNew: boolean }[];
  /** The declaration of the queue allows more than before: a wake finds the jobs that this is for. */
  isBlind: boolean;
}

/**
 * A worker's messages to its deployment, as calls. The protocol's rules live on this side of it, the wire on the other.
 */
import type {
  Answer,
  OutputUpdate,
  ClaimedJob,
  Continuation,
  Duty,
  Finished,
  FinishedAnswer,
  Hello,
  Lease,
  LogUpdate,
  OnCallRequest,
  PeekedJob,
  Places,
  ProgressUpdate,
  ReportAnswer,
  Waiting,
} from "../shared/index.js";

import type { PeekOptions } from "./hookTypes.js";

export interface ClaimRequest {
  max: number;
  /** The cost that the claimed jobs may have together. */
  maxCost?: number;
  cursor?: string;
  /** It comes when no other worker does: it takes any job, of any worker's shard. */
  woken?: boolean;
  /** Jobs to take before any other. */
  named?: string[];
  /** Which of its queues to scan besides. Absent: in all. */
  lookIn?: string[];
  /** It scans for jobs that have waited a while: a job that has just come is another worker's. */
  waited?: boolean;
  /** It knows its places among the workers of its queues. */
  placed?: boolean;
  /** Instead of the labels and groups that the worker offers: fewer. */
  labels?: string[];
  groups?: string[];
  /** It is of a large fleet, and asks for its duty. */
  onCall?: OnCallRequest;
}

export interface CompleteOptions {
  claim?: ClaimRequest;
  /** Callbacks run in a later transaction: the outcome must not wait for a callback that cannot commit. */
  deferCallbacks?: boolean;
  /** The other held leases: the call is a beat for these, and answers for them. */
  held?: Lease[];
}

export interface PlaceInFleet {
  size: number;
  rank: number | null;
}

export interface Claimed {
  jobs: ClaimedJob[];
  cursor?: string;
  /** How many serve its queues, itself among them, and its place in an order that all agree on, if it is known. */
  fleet?: PlaceInFleet;
  /** The same by queue, where it is known. */
  places?: Places;
  duty?: Duty;
}

export interface Beat {
  answers: Answer[];
  /** Of an idle worker: how many serve one of its queues, where these are many. */
  fleet?: number;
  duty?: Duty;
}

/** An outcome with its job's queue, which names the validator of the result, and the jobs to be enqueued with it. */
export type Report = Omit<Finished, "continued"> & {
  queue: string;
  continued?: Continuation[];
  /** The same, made into jobs already: from handlers inside Convex that are functions of their own. */
  follows?: NonNullable<Finished["continued"]>;
};

/** An outcome that was recorded as a failure, since the result or a job to continue with fits no validator. */
export interface RefusedResult {
  id: string;
  attempt: number;
  error: string;
}

/**
 * Every promise settles within the transport's own timeout. It rejects with {@link Unanswered} when it is unknown
 * whether the call took effect, and with any other error when it certainly did not.
 */
export interface Transport {
  claim(callSeq: number, claim: ClaimRequest): Promise<Claimed>;
  complete(
    callSeq: number,
    finished: Report[],
    options?: CompleteOptions,
  ): Promise<Claimed & { answers: FinishedAnswer[]; refused?: RefusedResult[]; held?: Answer[] }>;
  /** Whether the deployment has the functions and version that a worker needs. */
  hello(): Promise<Hello>;
  /** Hands one outcome over to be recorded by the deployment itself, however often that takes. */
  completeLater(finished: Report): Promise<void>;
  /** `leaving`: the session is over, and this is a number above all of its calls. */
  heartbeat(leases: Lease[], options?: { leaving?: number; onCall?: OnCallRequest }): Promise<Beat>;
  report(reported: {
    updates: ProgressUpdate[];
    logs: LogUpdate[];
    output: OutputUpdate[];
  }): Promise<ReportAnswer[]>;
  /** The first waiting jobs that this worker might have. */
  peek(options: PeekOptions): Promise<PeekedJob[]>;
  /**
   * Follows the waiting jobs of each queue: the jobs, where they are few, or from an older deployment whether there are
   * any. `onError` may be called any number of times.
   */
  watchHasWork(
    onValue: (queue: string, waiting: boolean | Waiting) => void,
    onError: (queue: string, error: unknown) => void,
  ): HasWorkWatch;
  /** Follows which leases of this session are canceled. */
  watchCancellations(
    onValue: (leases: Lease[]) => void,
    onError: (error: unknown) => void,
  ): () => void;
  /** Follows whether a worker that stands by has been called up. */
  watchStandby(
    place: { peers: string; since: number },
    onValue: (isCalled: boolean) => void,
    onError: (error: unknown) => void,
  ): () => void;
  close(): Promise<void>;
}

/** The subscriptions to waiting jobs. */
export interface HasWorkWatch {
  /** Follows a queue from a claim's cursor on, until that fails: behind it lies nothing that this worker may have. */
  goOn: (queue: string, cursor: string) => void;
  end: () => void;
}

/**
 * A call that may or may not have taken effect: no connection, no answer in time, or an answer of something in between.
 */
export class Unanswered extends Error {
  override readonly name = "Unanswered";
}

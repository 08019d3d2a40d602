/**
 * The wire's types with payloads and results filled in: the types of a queue's validators, carried from `enqueue` through the
 * worker's handler to the page. Types only; the values are checked in `src/client`.
 */
import type { FinalOutcome, OnCompleteArgs } from "./onComplete.js";
import type { JobStatus } from "./jobStatus.js";
import type { Answer, ClaimedJob, PeekedJob } from "./protocol.js";

/** Shows the members of a type instead of the expression that made it. */
type Expand<T> = { [Key in keyof T]: T[Key] };

/** A job's id. It is a string on the wire; the type remembers the queue, so that ids of two queues don't mix. */
export type JobId<Queue extends string = string> = string & { readonly __conveyorQueue: Queue };

/** The ids that a queue's functions take: its own jobs' ids and plain strings, but not another queue's ids. */
export type OwnJobId<Queue extends string> =
  JobId<Queue> | (string & { readonly __conveyorQueue?: never });

/** For each queue by name, its payload, its result, and the progress of its handlers. */
export type QueueTypes = Record<
  string,
  { payload: any; result: any; progress?: any; related?: any }
>;

type TypedStatus<
  Status extends JobStatus,
  Queue extends string,
  Result,
  Progress,
> = Status extends JobStatus
  ? Expand<
      Omit<Status, "id" | "queue" | "result" | "progress"> & {
        id: JobId<Queue>;
        queue: Queue;
      } & (Status extends { status: "succeeded" } ? { result: Result } : unknown) &
        (Status extends { status: "running" } ? { progress?: Progress } : unknown)
    >
  : never;

/** A job as a page sees it: a union on `status`. `result` of a succeeded job is the return value of its handler. */
export type TypedJobStatus<
  Result = any,
  Queue extends string = string,
  Progress = any,
> = TypedStatus<JobStatus, Queue, Result, Progress>;

/** A claimed job: a union on `queue`. */
export type TypedClaimedJob<Queues extends QueueTypes> = {
  [Queue in keyof Queues & string]: Expand<
    Omit<ClaimedJob, "id" | "queue" | "payload" | "related"> & {
      id: JobId<Queue>;
      queue: Queue;
      payload: Queues[Queue]["payload"];
    } & (Queues[Queue] extends { related: infer Related } ? { related: Related } : unknown)
  >;
}[keyof Queues & string];

/** A job that could be claimed: a union on `queue`. */
export type TypedPeekedJob<Queues extends QueueTypes> = {
  [Queue in keyof Queues & string]: Expand<
    Omit<PeekedJob, "id" | "queue" | "payload"> & {
      id: JobId<Queue>;
      queue: Queue;
      /** Absent if it is over 512 bytes. */
      payload?: Queues[Queue]["payload"];
    }
  >;
}[keyof Queues & string];

/** The answer of `claim`. */
export interface ClaimReply<Queues extends QueueTypes = QueueTypes> {
  jobs: TypedClaimedJob<Queues>[];
  /** To be handed back with the next claim; opaque. */
  cursor: string;
  /** Never there: it carries the results' types to the worker's handlers. */
  readonly __queues?: Queues;
}

/** How an outcome was taken. */
export type FinishedAnswer = Omit<Answer, "answer"> & {
  answer:
    | Answer["answer"]
    /** The functions serve its queue no longer, and cannot check its result: nothing of it is recorded, and the job went back. */
    | "queueNotServed";
};

/** The description of a deployment for a worker that starts. */
export interface Hello {
  /** The protocol of the workers' functions: a worker needs the protocol of its own release, or a later one. */
  protocol: number;
  /** Of the package with which the app's functions were deployed. */
  version: string;
  /** Queues of the token that these functions do not serve, if any. */
  notServed?: string[];
}

/** The answer of `complete`: for each outcome, and, if a claim came with it, the jobs claimed. */
export interface CompleteReply<
  Queues extends QueueTypes = QueueTypes,
  Continues extends QueueTypes = QueueTypes,
> {
  answers: FinishedAnswer[];
  jobs: TypedClaimedJob<Queues>[];
  cursor?: string;
  /** How the leases stand that the call named besides. */
  held?: Answer[];
  /** Never there: it carries the payloads' types of the queues that handlers may continue with. */
  readonly __continues?: Continues;
}

type TypedFinalOutcome<Outcome extends FinalOutcome, Result> = Outcome extends {
  status: "succeeded";
}
  ? Expand<Omit<Outcome, "result"> & { result: Result }>
  : Outcome;

/** The arguments of an `onComplete` mutation. */
export type TypedOnCompleteArgs<Payload = any, Result = any, Context = any> = Expand<
  Omit<OnCompleteArgs, "payload" | "outcome" | "context"> & {
    payload: Payload;
    outcome: TypedFinalOutcome<FinalOutcome, Result>;
    context?: Context;
  }
>;

/** The types a worker's author meets: options, handlers, events. Nothing here runs. */
import type { FunctionReference, FunctionReturnType } from "convex/server";
import type { JobId, Outcome, QueueTypes } from "../shared/index.js";

/** The module of the app that exports what `conveyor.workerApi` built, all five, as in `api.worker`. */
export interface WorkerApi {
  hasWork: FunctionReference<"query", "public", any, any>;
  claim: FunctionReference<"mutation", "public", any, any>;
  complete: FunctionReference<"mutation", "public", any, any>;
  heartbeat: FunctionReference<"mutation", "public", any, any>;
  report: FunctionReference<"mutation", "public", any, any>;
}

/** The payloads and results of the queues that a worker API serves. */
export type QueuesOf<Api extends WorkerApi> =
  FunctionReturnType<Api["claim"]> extends { readonly __queues?: infer Queues }
    ? Extract<Queues, QueueTypes>
    : QueueTypes;

/** One attempt of one job, as its handler gets it. */
export interface Job<Queue extends string = string, Payload = any> {
  id: JobId<Queue>;
  queue: Queue;
  payload: Payload;
  /** 1 for the first time, one more at every claim, whoever made it. */
  attempt: number;
  /** How often a handler failed before. */
  failures: number;
  /** How often a worker was lost with it before. */
  resets: number;
  /** In milliseconds since 1970, by the deployment's clock. */
  enqueuedAt: number;
}

/** What a handler may use beside its job. */
export interface HandlerContext {
  /**
   * Aborts when the work has become useless: the lease was lost or ran out, or the worker's grace is over. What the handler returns after that is dropped. Give it to `fetch`, and look at `signal.aborted`
   * in loops.
   */
  readonly signal: AbortSignal;
  /**
   * Shows everybody how far the job is: any Convex value up to 8 KiB. The latest one wins; it is sent at most every
   * 250 ms, for all jobs of the worker in one call, and it may be lost. Call it as often as you like.
   *
   * @throws `payloadTooLarge`, or a `TypeError` for what is not a Convex value.
   */
  readonly progress: (value: unknown) => void;
  /** Reports something about this job to `onEvent`, or to the console where there is none. */
  readonly log: (message: string, details?: unknown) => void;
}

/** A handler that returns nothing has the result `null`. */
type HandlerResult<Result> = null extends Result ? Result | void | undefined : Result;

/**
 * Does one job. What it returns is the result, up to about 1 MiB; what it throws fails the job with that message, for
 * good: only a lost worker's jobs come back by themselves. It may be run more than once for a job, when a worker is lost
 * or somebody retries: make what it does outside idempotent by `job.id`; `job.attempt` tells the runs apart.
 */
export type Handler<Queue extends string = string, Payload = any, Result = any> = (
  job: Job<Queue, Payload>,
  ctx: HandlerContext,
) => HandlerResult<Result> | Promise<HandlerResult<Result>>;

/** A handler for each queue that the worker serves. */
export type Handlers<Queues extends QueueTypes> = {
  [Queue in keyof Queues & string]?: Handler<
    Queue,
    Queues[Queue]["payload"],
    Queues[Queue]["result"]
  >;
};

/** What `new Worker(…)` takes: `url`, `token`, `api` and `handlers` are needed, the rest has defaults. */
export interface WorkerOptions<Api extends WorkerApi> {
  /** The deployment's URL, as in `https://happy-otter-123.convex.cloud`. */
  url: string;
  /** A worker token, made by the app's `tokenApi().create`. A secret: keep it in the environment. */
  token: string;
  /** The module that exports the worker API: `api.worker`. The handlers' types come from it. */
  api: Api;
  /** What to do with a job, by queue. The worker serves the queues that have a handler. */
  handlers: Handlers<QueuesOf<Api>>;
  /**
   * The queues to serve, 1 to 16, of those that have a handler.
   * @default every queue with a handler
   */
  queues?: readonly (keyof QueuesOf<Api> & string)[];
  /**
   * How people see this worker in `conveyor.workers` and in a job's status, 1 to 64 characters.
   * @default the host's name and the process id
   */
  name?: string;
  /**
   * How many jobs to run at once, 1 to 64. Handlers share one thread: more than 1 pays where they wait for something,
   * or compute in processes of their own.
   * @default 1
   */
  concurrency?: number;
  /**
   * How often an idle worker says that it is there, in milliseconds, at least 1,000; 0 for never. It is for people
   * who look at the list of workers: nothing else depends on it.
   * @default 60_000
   */
  presenceMs?: number;
  /**
   * Whether SIGTERM and SIGINT stop the worker gracefully, with 25 s for its handlers. A second signal stops it at once.
   * The process ends when nothing keeps it alive: a handler that ignores its signal may; `process.exit()` after `run`
   * sees to that. For another grace, set this to false and call `stop({ graceMs })` from a listener of your own.
   * @default true
   */
  handleSignals?: boolean;
  /**
   * Gets everything that happens, for logs and metrics. Must not throw.
   * @default what needs attention goes to the console
   */
  onEvent?: (event: WorkerEvent) => void;
}

/** What {@link Worker.stop} takes. */
export interface StopOptions {
  /**
   * How long handlers may go on, in milliseconds, 0 to 86,400,000. Then they are aborted and their jobs given back.
   * @default 25_000
   */
  graceMs?: number;
}

/** Which attempt an event is about. */
interface OfJob {
  id: string;
  queue: string;
  attempt: number;
}

/** Why a handler was aborted. */
export type LossReason =
  /** The deployment says that the job is no longer this worker's. */
  | "leaseLost"
  /** Somebody canceled the job. Not in this version, which cancels only jobs that wait. */
  | "canceled"
  /** No beat got through for a whole lease, by this process's own clock. */
  | "expired"
  /** The worker stops, and its grace is over. */
  | "stopping";

export type CallName = "claim" | "complete" | "heartbeat" | "progress" | "hasWork";

/** What happens in a worker. */
export type WorkerEvent =
  | { kind: "started"; name: string; session: string; queues: string[] }
  | { kind: "claimed"; jobs: OfJob[] }
  | ({ kind: "finished"; outcome: Outcome["kind"]; ms: number; error?: string } & OfJob)
  /** The outcome is in the database: `recorded` when an earlier, unanswered call had brought it there. */
  | ({ kind: "recorded"; answer: "ok" | "recorded" } & OfJob)
  /** The job is lost; its handler's signal aborts, and its result will be dropped. */
  | ({ kind: "leaseLost"; reason: LossReason } & OfJob)
  /** A handler ended after its job was lost; what it brought is dropped. */
  | ({ kind: "resultDropped"; outcome: Outcome["kind"] } & OfJob)
  /** A handler went on after its signal; it no longer takes a slot. */
  | ({ kind: "handlerAbandoned" } & OfJob)
  /** A call was not answered; it is repeated. */
  | { kind: "callRepeated"; call: CallName; error: string; inMs: number }
  /** The deployment refused a call; nothing came of it. */
  | { kind: "callRejected"; call: CallName; error: string }
  | ({ kind: "log"; message: string; details?: unknown } & OfJob)
  | { kind: "stopping"; graceMs: number }
  /** `unrecorded` outcomes could not be brought home in time; their jobs go to others when the lease ends. */
  | { kind: "stopped"; unrecorded: number };

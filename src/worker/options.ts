/** The options of a worker. Nothing here runs. */
import type { Tracer } from "../shared/index.js";
import type { WorkerEvent } from "./events.js";
import type { Hooks } from "./hookTypes.js";
import type { ContinuesOf, Handlers, QueuesOf, WorkerApi } from "./types.js";

/** When a handler's output is sent. Later sends show later and cost fewer calls. */
export interface OutputOptions {
  /**
   * Text in which this is found is sent at once.
   * @default /[,.!?\n]/
   */
  flushOn?: RegExp;
  /**
   * Text with more characters is sent at once, 0 to 16,384.
   * @default 100
   */
  flushChars?: number;
  /**
   * Other text is sent after so many milliseconds, 0 to 60,000.
   * @default 1_000
   */
  flushMs?: number;
}

/** The options of `new Worker(…)`: `url`, `token`, `api` and `handlers` are needed, the rest has defaults. */
export interface WorkerOptions<Api extends WorkerApi> extends Hooks<keyof QueuesOf<Api> & string> {
  /** The deployment's URL, as in `https://happy-otter-123.convex.cloud`. */
  url: string;
  /** A worker token, made by the app's `tokenApi().create`. A secret: keep it in the environment. */
  token: string;
  /** The module that exports the worker API: `api.worker`. The handlers' types come from it. */
  api: Api;
  /**
   * The handler of each queue: a function of one job, or `{ batch, handler }` with a function of several. The worker serves
   * the queues that have a handler. All its handlers take batches, or none does: two kinds are two workers.
   */
  handlers: Handlers<QueuesOf<Api>, ContinuesOf<Api>>;
  /**
   * The queues to serve, 1 to 32, each with a handler and named once. `onlyWhenIdle` puts a queue last: its jobs are claimed
   * only with room that the worker's other queues have left.
   * @default every queue with a handler
   * @example
   * queues: ["urgent", { queue: "backfill", onlyWhenIdle: true }],
   */
  queues?: readonly (
    (keyof QueuesOf<Api> & string) | { queue: keyof QueuesOf<Api> & string; onlyWhenIdle?: boolean }
  )[];
  /**
   * How people see this worker in `conveyor.workers` and in a job's status, 1 to 64 characters.
   * @default the host's name and the process id, with a number for each further worker of the process
   */
  name?: string;
  /**
   * The version of the program, as the list of workers and the dashboard show it, 1 to 64 characters.
   * @default none: they show the version of this library
   */
  version?: string;
  /**
   * How many jobs to run at once, 1 to 64; of handlers of batches, how many batches. Handlers share one thread: more than 1 pays where they wait for something,
   * or compute in processes of their own.
   * @default 1
   */
  concurrency?: number;
  /**
   * The labels of this worker, which jobs ask for with `labels`: it gets jobs that ask for no other label. Up to 64,
   * and 4 KiB together with `groups`. A number of it, as `vramGb=40`, serves jobs that need at least so much: `vramGb>=24`.
   * @default none: it gets jobs that ask for nothing
   */
  labels?: readonly string[];
  /**
   * The budget out of which its jobs' `cost` is taken, a whole number: it claims only jobs that fit into the part that
   * running jobs leave over. Megabytes of memory, say, where jobs are enqueued with the megabytes that they need.
   * @default no bound: `concurrency` alone decides
   */
  maxCost?: number;
  /**
   * Claims only jobs of these groups. A group that the token is not for is refused with `groupForbidden`.
   * 1 to 64, and 4 KiB together with `labels`.
   * @default the token's groups; of a token for all, jobs of any group, and of none
   */
  groups?: readonly string[];
  /** When the output of handlers is sent. */
  output?: OutputOptions;
  /**
   * When the worker ends by itself, gracefully: after so many jobs, so long a time, or so long without a job.
   * @default none: it works until it is stopped
   */
  stopAfter?: StopAfter;
  /**
   * How long handlers may go on when the worker is to stop, in milliseconds, 0 to 86,400,000. Then they are aborted, and
   * their jobs go to other workers. The last calls take a fraction of a second more, and up to 4 s where the deployment is
   * slow. The default is under the 10 s after which Docker kills.
   * @default 8_000
   */
  graceMs?: number;
  /**
   * How often the event `status` comes, in milliseconds, at least 1,000; 0 for never.
   * @default 60_000
   */
  statusMs?: number;
  /**
   * Polls by plain HTTP, for a place where no WebSocket can be had: about every `everyMs`, at least 250, with jitter,
   * and up to eight times as seldom while nothing is found. A cancellation is heard of with the next beat, a third of a
   * lease later at most. Each poll is a call.
   * @default none: it follows its queues over a WebSocket, and polls nothing
   */
  poll?: { everyMs: number };
  /**
   * How often an idle worker says that it is there, in milliseconds, at least 1,000; 0 for never. It serves the list of
   * workers. With 0 a worker of a large fleet never stands by: it hears of every job.
   * @default 60_000; of a worker that stands by in a fleet of more than eight, about 10_000 per worker of the fleet, 1_800_000 at most
   */
  presenceMs?: number;
  /**
   * Whether SIGTERM and SIGINT stop the worker gracefully, with `graceMs` for its handlers. A second signal stops it at once.
   * The process ends when nothing keeps it alive. A handler that ignores its signal may; `process.exit()` after `run`
   * prevents that. Where a runtime has no signals, as in a browser, this does nothing.
   * @default true
   */
  handleSignals?: boolean;
  /**
   * Makes a span of each attempt, and of the wait before it where the job has a `traceparent`: a tracer of
   * `@opentelemetry/api`. The attempt's span is the child of that `traceparent`, and active while the handler runs, as far as
   * the tracer can; of a batch each job has its span, and none is active. A tracer that throws harms no job.
   * @default none
   * @example
   * tracer: trace.getTracer("render-worker"),
   */
  tracer?: Tracer;
  /**
   * Gets everything that happens, for logs and metrics. Must not throw.
   * @default problems go to the console
   */
  onEvent?: (event: WorkerEvent) => void;
}

/** The options of {@link Worker.stop}. */
export interface StopOptions {
  /**
   * How long handlers may go on, in milliseconds, 0 to 86,400,000. Then they are aborted and their jobs given back.
   * @default the worker's `graceMs`
   */
  graceMs?: number;
}

/** When a worker ends by itself. The first limit that is reached counts. */
export interface StopAfter {
  /** After so many attempts, at least 1, retries and snoozed ones included: it begins no more, and ends with the last. */
  jobs?: number;
  /** After so many milliseconds, up to 86,400,000. Handlers have the worker's `graceMs`. */
  ms?: number;
  /** After so many milliseconds in a row without a job in hand, up to 86,400,000. */
  idleMs?: number;
}

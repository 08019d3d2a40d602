/** Options, events and states of a pool of processes. Nothing here runs. */
import type { WorkerState } from "../events.js";

/** The options of `new WorkerPool(…)`: `file` is needed, the rest has defaults. */
export interface PoolOptions {
  /**
   * The module that each process loads: it makes a `Worker`, or several, while it is loaded. Whether it calls `run` is of
   * no importance. TypeScript runs by the app's `tsx`, or by Node's own type stripping. A path is relative to the
   * current folder.
   */
  file: string | URL;
  /**
   * How many processes, 1 to 256. A process uses one core for JavaScript.
   * @default 4
   */
  processes?: number;
  /**
   * The name of the pool; the name of a process is this and a number of its own, as in `gpu-1:3`. Numbers are not used again.
   * @default the host's name and the process id of the pool
   */
  name?: string;
  /** Arguments of the module: its `process.argv` from the third on. */
  args?: readonly string[];
  /**
   * Further environment variables of the processes.
   * @default the environment of the pool alone
   */
  env?: Readonly<Record<string, string>>;
  /**
   * Arguments of Node itself, as `["--max-old-space-size=512"]`.
   * @default those of the pool's process
   */
  execArgv?: readonly string[];
  /**
   * How long handlers may go on in a process that is to stop, in milliseconds, 0 to 86,400,000. It takes the place of
   * `graceMs` of its workers. A process that is there 5 s later is killed.
   * @default 8_000
   */
  graceMs?: number;
  /**
   * How often each process is asked whether it answers, and how much memory it takes, in milliseconds, at least 100.
   * @default 5_000
   */
  checkMs?: number;
  /**
   * A process that acknowledges no message for so long is killed and replaced, in milliseconds, at least `checkMs`. It
   * must be longer than the longest block of the thread by a handler.
   * @default 60_000
   */
  silentMs?: number;
  /**
   * A process that takes more memory (its resident set), in bytes, is stopped with its grace, and replaced. Beyond one and
   * a half times as much it is killed.
   * @default no limit
   */
  maxMemoryBytes?: number;
  /**
   * After so many ends of processes before any was ever ready, `run` throws the last error. 0: never.
   * @default 0
   */
  startTries?: number;
  /**
   * Whether SIGTERM and SIGINT stop the pool gracefully. A second signal waits for no handler.
   * @default true
   */
  handleSignals?: boolean;
  /**
   * Gets everything that happens, for logs and metrics. Must not throw.
   * @default ends and problems go to the console
   */
  onEvent?: (event: PoolEvent) => void;
}

/** Which process an event is about. */
export interface OfProcess {
  /** 1 for the first of the pool, and one more with every start. */
  id: number;
  name: string;
  pid: number;
}

/** Why a process has ended. */
export type EndReason =
  /** The pool has stopped it. */
  | "stopped"
  /** Its workers have come to their end by themselves, as by `stopAfter`. */
  | "finished"
  /** It failed, or was killed from outside. */
  | "crashed"
  /** It acknowledged nothing for `silentMs`. */
  | "silent"
  /** It took more memory than `maxMemoryBytes`. */
  | "memory";

/** An event of a pool. */
export type PoolEvent =
  | ({ kind: "started" } & OfProcess)
  /** The deployment has answered all its workers. */
  | ({ kind: "ready" } & OfProcess)
  /** It is stopped or killed, and another one comes. */
  | ({ kind: "replaced"; reason: "silent" | "memory"; memoryBytes: number } & OfProcess)
  | ({
      kind: "ended";
      reason: EndReason;
      code: number | null;
      signal: string | null;
      error?: string;
    } & OfProcess)
  /** Another process is started in its place in so many milliseconds, after so many failures in a row. */
  | ({ kind: "backoff"; inMs: number; failures: number } & OfProcess)
  /** A message that this release of the pool does not know. It has no effect. */
  | ({ kind: "unknownMessage"; message: unknown } & OfProcess)
  /** The new process of a rolling restart has ended before it was ready. The old ones go on. */
  | { kind: "restartFailed"; error: string };

/** A process at one moment. */
export interface ProcessStatus extends OfProcess {
  /** The state of its workers. */
  state: WorkerState;
  /** Whether its workers claim nothing for now. */
  isQuiet: boolean;
  /** Slots with running handlers, and all slots. */
  slots: { used: number; had: number };
  /** How many outcomes of its attempts are in the database. */
  done: number;
  /** The resident set, as of the last check. */
  memoryBytes: number;
  /** In milliseconds since 1970. */
  startedAt: number;
}

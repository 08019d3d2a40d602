/**
 * A pool of processes as a program uses it. The processes are those of `fork`: a library for pools of tasks has no place for a
 * program that works until it is stopped, and each dependency is every app's (docs/internals/choices/processes.md).
 */
import { hostname } from "node:os";
import { fileURLToPath } from "node:url";
import { NAME_MAX_LENGTH } from "../../shared/index.js";
import { systemClock } from "../clock.js";
import { GRACE_DEFAULT_MS } from "../limits.js";
import { callListener } from "../listeners.js";
import type { StopOptions } from "../options.js";
import { onStopSignal } from "../signals.js";
import { checkPool, checkPoolGrace, checkProcesses } from "./checkPool.js";
import { forkProcess, moduleFile, nodeArguments } from "./fork.js";
import { CHECK_DEFAULT_MS, PROCESSES_DEFAULT, SILENT_DEFAULT_MS } from "./limits.js";
import { printPoolEvent, processLine } from "./line.js";
import type { PoolEvent, PoolOptions, ProcessStatus } from "./options.js";
import { Supervisor } from "./supervisor.js";

/**
 * Processes that run one worker module, on Node, Bun or Deno. A process that ends, does not answer or takes too much
 * memory is replaced, after a backoff where it failed. Jobs of a process that stops have its grace, and go back; jobs of
 * one that was killed go to other workers when their leases are over.
 *
 * @example
 * import { WorkerPool } from "convex-conveyor/worker/node";
 *
 * const pool = new WorkerPool({ file: "./worker.ts", processes: 4, maxMemoryBytes: 512 * 2 ** 20 });
 * await pool.run();
 */
export class WorkerPool {
  /** The option `name`, or else the host's name and the process id. */
  readonly name: string;

  private readonly graceMs: number;
  private readonly supervisor: Supervisor;
  private running: Promise<void> | undefined;

  /**
   * Checks the options; starts nothing.
   *
   * @param options See {@link PoolOptions}.
   * @throws `invalidArgument` for a file that is not there, a `.ts` file that nothing here can run, and a number or
   * name out of bounds.
   */
  constructor(private readonly options: PoolOptions) {
    checkPool(options);
    const file = moduleFile(options.file);
    const execArgv = nodeArguments(file, options.execArgv ?? process.execArgv);
    const program = fileURLToPath(new URL("./child.js", import.meta.url));
    const { args = [], env = {} } = options;
    const { checkMs = CHECK_DEFAULT_MS, silentMs = Math.max(SILENT_DEFAULT_MS, checkMs) } = options;
    this.name = options.name ?? `${hostname()}:${process.pid}`.slice(8 - NAME_MAX_LENGTH);
    this.graceMs = options.graceMs ?? GRACE_DEFAULT_MS;
    this.supervisor = new Supervisor({
      clock: systemClock,
      fork: () => forkProcess({ program, file, args, env, execArgv }),
      name: this.name,
      processes: options.processes ?? PROCESSES_DEFAULT,
      graceMs: this.graceMs,
      checkMs,
      silentMs,
      maxMemoryBytes: options.maxMemoryBytes,
      startTries: options.startTries ?? 0,
      emit: (event) => this.emit(event),
    });
  }

  /** The processes that are there, also those that leave. */
  get processes(): ProcessStatus[] {
    return this.supervisor.statuses;
  }

  /** A line for each process, as in `gpu-1:3 (pid 4711) working, 2/4 slots, 18 done, 142 MB`. */
  toString(): string {
    return this.processes.map(processLine).join("\n");
  }

  /**
   * Starts the processes; resolves when the pool has been stopped and the last process has ended. A pool runs once.
   *
   * @throws With `startTries`: the error of a process, when so many have ended before one was ready.
   */
  async run(): Promise<void> {
    this.running ??= this.work();
    await this.running;
  }

  /**
   * Starts or stops processes until there are so many. Those that are too many stop with the pool's grace. Before
   * {@link run} it starts nothing: it is the number with which `run` begins.
   *
   * @param processes 1 to 256.
   * @returns Resolves when the processes that are too many have ended, and the new ones have begun.
   * @throws `invalidArgument` for a number out of bounds.
   */
  async resize(processes: number): Promise<void> {
    checkProcesses(processes);
    await this.supervisor.resize(processes);
  }

  /**
   * Replaces all processes, one after another: a new one is ready before an old one stops. A process that is not ready
   * itself is replaced at once.
   *
   * @throws When a new process has ended before it was ready. The old ones go on.
   */
  async restart(): Promise<void> {
    await this.supervisor.restart();
  }

  /** No process claims anything more until {@link resume}, new ones included. Jobs in hand go on. */
  quiet(): void {
    this.supervisor.quiet(true);
  }

  /** Claims again after {@link quiet}. */
  resume(): void {
    this.supervisor.quiet(false);
  }

  /**
   * Stops all processes gracefully. Resolves when they have ended: at most 5 s after the grace, since then they are
   * killed. Calling it again with less hurries it.
   *
   * @param options.graceMs In milliseconds, 0 to 86,400,000.
   * @default graceMs the pool's `graceMs`, 8_000
   * @throws `invalidArgument` for a grace out of bounds.
   */
  async stop({ graceMs = this.graceMs }: StopOptions = {}): Promise<void> {
    checkPoolGrace(graceMs);
    await this.supervisor.stop(graceMs);
  }

  private async work(): Promise<void> {
    const unlisten =
      this.options.handleSignals === false
        ? () => {}
        : onStopSignal((times) => {
            if (times > 2) this.supervisor.killAll();
            else void this.supervisor.stop(times === 1 ? this.graceMs : 0);
          });
    try {
      await this.supervisor.run();
    } finally {
      unlisten();
    }
  }

  private emit(event: PoolEvent): void {
    callListener(this.options.onEvent ?? printPoolEvent, event, "a pool's");
  }
}

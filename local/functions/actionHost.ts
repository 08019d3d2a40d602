/** The host of an action: real time, timers and network, and system calls that overlap. */
import { ActionTimers } from "./actionTimers.js";
import { PlatformError } from "./errors.js";
import type { Effects } from "./host.js";
import type { CallFacts, CallHost } from "./invoke.js";
import type { Target } from "./lookup.js";
import { PermitPool } from "./permits.js";
import type { Services } from "./scope.js";
import { syscallError, unknownSyscall, type AsyncSyscalls } from "./syscalls.js";
import type { LogLine } from "./types.js";

/** For code that is left of an action that is over. A new one each time, for a promise keeps all that wait for it. */
const noAnswer = () => new Promise<never>(() => {});

export class ActionHost implements CallHost {
  readonly aborted: Promise<never>;
  #abort!: (reason: unknown) => void;
  readonly #timers: ActionTimers;
  /** System calls under way, by name: the calls left in it at the end were not awaited. */
  readonly #calls = new Map<Promise<string>, string>();
  #outstanding = 0;
  readonly #slots: PermitPool;
  #failed = false;
  #isLost = false;
  /** It has ended, or its machine has: code that is left of it gets no answer any more, as its isolate is gone. */
  #isOver = false;
  readonly #startedAt: number;

  constructor(
    private readonly services: Services,
    private readonly target: Target,
    private readonly operations: AsyncSyscalls,
    private readonly write: (line: LogLine) => void,
  ) {
    this.#startedAt = services.env.now();
    this.#timers = new ActionTimers(services.env, (reason) => this.rejected(reason));
    this.#slots = new PermitPool(services.env, {
      what: "operations of one action",
      limit: services.options.actionOperations,
      maxWaitMs: Infinity,
    });
    this.aborted = new Promise((_, reject) => (this.#abort = reject));
    // The promise may have no listener when it rejects, and that is no bug.
    this.aborted.catch(() => {});
  }

  now(): number {
    return Math.floor(this.services.env.now());
  }

  performanceNow(): number {
    return this.services.env.now() - this.#startedAt;
  }

  random(): number {
    return this.services.env.random();
  }

  randomBytes(length: number): Uint8Array {
    return this.services.env.randomBytes(length);
  }

  log(level: LogLine["level"], text: string): void {
    this.write({
      level,
      text: `[${level}] ${text}`,
      at: this.services.env.now(),
      ...this.target.address,
    });
  }

  syscall(operation: string): string {
    throw unknownSyscall(operation, this.target);
  }

  asyncSyscall(operation: string, args: string): Promise<string> {
    if (this.#isLost) return new Promise(() => {});
    const run = this.operations[operation];
    if (run === undefined) return Promise.reject(unknownSyscall(operation, this.target));
    // A failure of the platform can be caught here, unlike in a transaction: an action may well try again.
    const started = this.#slots.run(() => run(JSON.parse(args)), { patient: true });
    this.#count(started);
    const answer = started.then(
      (value) => (this.#isOver ? noAnswer() : JSON.stringify(value)),
      (error: unknown) => {
        if (this.#isOver) return noAnswer();
        throw syscallError(error);
      },
    );
    this.#calls.set(answer, operation);
    const done = () => void this.#calls.delete(answer);
    answer.then(done, done);
    return answer;
  }

  effects(): Effects {
    return {
      setTimer: (ms, repeat, run) => this.#timers.set(ms, repeat, run),
      clearTimer: (id) => this.#timers.clear(id),
      fetch: this.services.env.fetch,
    };
  }

  importsDynamically(): boolean {
    return true;
  }

  facts(): CallFacts {
    return { kind: "action" };
  }

  rejected(reason: unknown): void {
    this.#failed = true;
    this.#abort(reason);
  }

  /** The machine is gone: its requests may still take effect, and it receives no answer any more. */
  lose(): void {
    this.#isLost = true;
    this.#isOver = true;
    this.rejected(
      new PlatformError(503, "ActionLost", "The machine that ran this action is gone."),
    );
  }

  outside<T>(work: Promise<T>): Promise<T> {
    return this.track(this.services.env.outside(work));
  }

  track<T>(work: Promise<T>): Promise<T> {
    this.#count(work);
    return work.then(
      (value) => (this.#isOver ? noAnswer() : value),
      (error: unknown) => {
        if (this.#isOver) return noAnswer();
        throw error;
      },
    );
  }

  #count(work: Promise<unknown>): void {
    this.#outstanding++;
    const done = () => void this.#outstanding--;
    work.then(done, done);
  }

  /** An action may wait for anything, for as long as it may run. */
  begun(): void {}

  /** Does not wait: an action that has returned is over, and calls that it did not await may or may not take effect. */
  async settle(): Promise<boolean> {
    this.#timers.clearAll();
    this.#isOver = true;
    const dangling = [...this.#calls.values()];
    if (this.#isLost) return false;
    if (dangling.length > 0) {
      this.log(
        "WARN",
        `'${dangling.length} unawaited operation${dangling.length === 1 ? "" : "s"}: [${dangling.join(", ")}]. ` +
          `Async operations should be awaited or they might not run. ` +
          `See https://docs.convex.dev/functions/actions#dangling-promises for more information.'`,
      );
    }
    return !this.#failed && this.#outstanding === 0;
  }
}

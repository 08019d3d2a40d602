/**
 * The host of a query or mutation: frozen time, seeded randomness, system calls in their order, no effects.
 *
 * Everything here must give the same answers when the function is repeated with the same seed on the same snapshot.
 */
import type { JSONValue } from "convex/values";
import { SystemLimitError } from "../limitErrors.js";
import { FunctionError, PlatformError } from "./errors.js";
import { Fifo } from "./fifo.js";
import { EffectRefused, type Effects } from "./host.js";
import type { CallFacts, CallHost } from "./invoke.js";
import { withinLogLimit } from "./logLimit.js";
import type { Execution, Services } from "./scope.js";
import { Standstill } from "./standstill.js";
import type { AsyncSyscalls, SyncSyscalls } from "./syscalls.js";
import { syscallError, unknownSyscall } from "./syscalls.js";
import { SystemTime } from "./systemTime.js";
import { UserTime } from "./userTime.js";
import type { LogLine } from "./types.js";

/** Operations that the platform runs together when they are pending together (isolate: AsyncSyscallBatch::Reads). */
const BATCHED: ReadonlySet<string> = new Set(["1.0/get", "1.0/queryStreamNext"]);

export class TransactionHost implements CallHost {
  readonly aborted: Promise<never>;
  #abort!: (reason: unknown) => void;
  #failure: { reason: unknown } | null = null;
  readonly #queue = new Fifo();
  readonly #standstill: Standstill;
  readonly #startedAt: number;
  readonly #systemTime: SystemTime;
  readonly #userTime: UserTime;

  constructor(
    private readonly services: Services,
    private readonly execution: Execution,
    private readonly sync: SyncSyscalls,
    private readonly async: AsyncSyscalls,
  ) {
    this.#startedAt = services.env.now();
    this.aborted = new Promise((_, reject) => (this.#abort = reject));
    // The promise may have no listener when it rejects, and that is no bug.
    this.aborted.catch(() => {});
    this.#standstill = new Standstill(services.env);
    this.#userTime = new UserTime(services.env, services.options.userTimeMs);
    this.#systemTime = new SystemTime(services.env, (error) => this.#fail(error));
  }

  now(): number {
    const { scope } = this.execution;
    scope.observed.time = true;
    return scope.now;
  }

  /** Stands still in queries, which are cached; a mutation may measure itself. */
  performanceNow(): number {
    if (this.execution.target.analyzed.udfType === "Query") return 0;
    return this.services.env.now() - this.#startedAt;
  }

  random(): number {
    return this.execution.random.next();
  }

  randomBytes(length: number): Uint8Array {
    return this.execution.random.bytes(length);
  }

  log(level: LogLine["level"], text: string): void {
    const { scope, target } = this.execution;
    const at = this.services.env.now();
    const line = { level, text: `[${level}] ${text}`, at, ...target.address };
    const kept = withinLogLimit(line, scope.logs.length, scope.tx.global.logLines);
    if (kept !== null) scope.logs.push(kept);
  }

  syscall(operation: string, args: string): string {
    const run = this.sync[operation];
    if (run === undefined) throw unknownSyscall(operation, this.execution.target);
    this.#charge();
    return JSON.stringify(run(JSON.parse(args)));
  }

  asyncSyscall(operation: string, args: string): Promise<string> {
    const run = this.async[operation];
    if (run === undefined) return Promise.reject(unknownSyscall(operation, this.execution.target));
    this.#charge();
    const isRead = BATCHED.has(operation);
    this.#systemTime.begin();
    this.#standstill.begin();
    const done = () => {
      this.#systemTime.done();
      this.#standstill.done();
    };
    const answer = this.#queue
      .run(() => run(JSON.parse(args)), { isRead })
      .then(
        (value: JSONValue) => {
          done();
          return JSON.stringify(value);
        },
        (error: unknown) => {
          done();
          // A failure of the platform ends the whole function: it cannot be caught and so cannot be half done.
          if (error instanceof PlatformError) this.#fail(error);
          // So do limits on the platform's own rows, which no function can see. Limits of the function's own are its errors.
          if (error instanceof SystemLimitError) {
            this.#fail(new PlatformError(500, "InternalServerError", error.message));
          }
          throw syscallError(error);
        },
      );
    // Whether it is awaited inside is seen there: `convex/server` wraps it in a promise of the sandbox.
    answer.catch(() => {});
    return answer;
  }

  effects(what: string): Effects {
    throw new EffectRefused(what);
  }

  importsDynamically(): boolean {
    return false;
  }

  facts(): CallFacts {
    const { scope, target } = this.execution;
    return {
      kind: "transaction",
      now: scope.now,
      measures: target.analyzed.udfType === "Mutation",
    };
  }

  rejected(reason: unknown): void {
    this.#fail(reason);
  }

  outside<T>(work: Promise<T>): Promise<T> {
    return this.track(this.services.env.outside(work));
  }

  track<T>(work: Promise<T>): Promise<T> {
    return this.#standstill.track(work);
  }

  begun(): void {
    this.#standstill.watch((error) => this.#fail(error));
  }

  async settle(): Promise<boolean> {
    this.#standstill.end();
    await this.#queue.idle();
    // Node reports unhandled rejections only when the microtasks are done: before that, the sandbox may not go to
    // another call, nor may this call succeed.
    await this.services.env.pause();
    this.#systemTime.end();
    if (this.#failure !== null) throw this.#failure.reason;
    return this.#standstill.still;
  }

  #charge(): void {
    const overrun = this.#userTime.charge("call");
    if (overrun !== null) this.#fail(overrun);
  }

  #fail(reason: unknown): void {
    this.#failure ??= { reason };
    this.#queue.close(new FunctionError("The function was aborted."));
    this.#abort(reason);
  }
}

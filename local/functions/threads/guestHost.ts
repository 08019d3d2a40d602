/**
 * The host of a call in its thread. Reads that do not change while the call runs are answered here: time, randomness,
 * timers, the numbers of query streams. Everything else goes to the backend, where the call's other host is.
 */
import { wallEnvironment } from "../../environment.js";
import { ActionTimers } from "../actionTimers.js";
import { EffectRefused, type Effects } from "../host.js";
import type { CallFacts, CallHost } from "../invoke.js";
import { seededRandom, type Random } from "../random.js";
import { Standstill } from "../standstill.js";
import type { LogLine } from "../types.js";
import type { BackendLink } from "./backendLink.js";
import type { CallMessage } from "./protocol.js";

const OPEN_STREAM = "1.0/queryStream";
const CLOSE_STREAM = "1.0/queryCleanup";

export class GuestHost implements CallHost {
  readonly aborted: Promise<never>;
  /** Whether the function has asked for the time. */
  observedTime = false;
  #abort!: (reason: unknown) => void;
  #failure: { reason: unknown } | null = null;
  readonly #startedAt = wallEnvironment.now();
  readonly #random: Random;
  readonly #timers = new ActionTimers(wallEnvironment, (reason) => this.rejected(reason));
  readonly #streams = new Set<number>();
  #lastStream = 0;
  /** System calls under way. */
  readonly #calls = new Set<Promise<string>>();
  readonly #standstill = new Standstill(wallEnvironment);

  constructor(
    private readonly message: CallMessage,
    private readonly backend: BackendLink,
  ) {
    this.#random = seededRandom(message.seed);
    this.aborted = new Promise((_, reject) => (this.#abort = reject));
    // The promise may have no listener when it rejects, and that is no bug.
    this.aborted.catch(() => {});
  }

  facts(): CallFacts {
    return this.message.facts;
  }

  now(): number {
    const { facts } = this.message;
    if (facts.kind === "action") return Math.floor(wallEnvironment.now());
    this.observedTime = true;
    return facts.now;
  }

  performanceNow(): number {
    const { facts } = this.message;
    if (facts.kind === "transaction" && !facts.measures) return 0;
    return wallEnvironment.now() - this.#startedAt;
  }

  random(): number {
    return this.#random.next();
  }

  randomBytes(length: number): Uint8Array {
    return this.#random.bytes(length);
  }

  log(level: LogLine["level"], text: string): void {
    this.backend.tell({ kind: "log", call: this.message.call, level, text });
  }

  syscall(operation: string, args: string): string {
    const { call } = this.message;
    if (operation === OPEN_STREAM) {
      const stream = ++this.#lastStream;
      this.#streams.add(stream);
      this.backend.tell({ kind: "stream", call, stream, query: args });
      return JSON.stringify({ queryId: stream });
    }
    if (operation === CLOSE_STREAM) {
      const { queryId: stream } = JSON.parse(args) as { queryId: number };
      const known = this.#streams.delete(stream);
      if (known) this.backend.tell({ kind: "stream", call, stream, query: null });
      return String(known);
    }
    return this.backend.ask(call, operation, args);
  }

  asyncSyscall(operation: string, args: string): Promise<string> {
    const answer = this.track(this.backend.call(this.message.call, operation, args));
    this.#calls.add(answer);
    const done = () => void this.#calls.delete(answer);
    answer.then(done, done);
    return answer;
  }

  effects(what: string): Effects {
    if (this.message.facts.kind === "transaction") throw new EffectRefused(what);
    return {
      setTimer: (ms, repeat, run) => this.#timers.set(ms, repeat, run),
      clearTimer: (id) => this.#timers.clear(id),
      fetch,
    };
  }

  importsDynamically(): boolean {
    return this.message.facts.kind === "action";
  }

  rejected(reason: unknown): void {
    this.#failure ??= { reason };
    this.#abort(reason);
  }

  outside<T>(work: Promise<T>): Promise<T> {
    return this.track(work);
  }

  track<T>(work: Promise<T>): Promise<T> {
    return this.#standstill.track(work);
  }

  begun(): void {
    // Its other host, in the backend, cannot know: a function that waits here may also be computing.
    if (this.message.facts.kind === "action") return;
    this.#standstill.watch((error) => this.rejected(error));
  }

  async settle(): Promise<boolean> {
    this.#standstill.end();
    this.#timers.clearAll();
    if (this.message.facts.kind === "transaction") {
      // An answer may have made the function ask again.
      while (this.#calls.size > 0 && this.#failure === null) {
        await Promise.race([Promise.allSettled(this.#calls), this.aborted.catch(() => {})]);
      }
    }
    // Node reports unhandled rejections when the microtasks are done.
    await wallEnvironment.pause();
    if (this.#failure !== null) throw this.#failure.reason;
    return this.#standstill.still;
  }
}

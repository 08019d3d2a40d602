/**
 * The last completions of functions, and the readers that wait for the next: the output of `npx convex dev` and `npx
 * convex logs`.
 *
 * A reader's cursor is the time of the last completion it has seen, made unique, so that a cursor of an earlier run of
 * the backend is simply in the past.
 */
import type { Environment } from "../environment.js";
import type { Completion, FunctionRunner } from "../functions/types.js";
import { LOG_POLL_MS, MAX_KEPT_COMPLETIONS } from "./limits.js";

/** Completions after the reader's cursor, in the CLI's words. */
export interface LogPage {
  entries: unknown[];
  newCursor: number;
}

export class FunctionLogs {
  readonly #env: Environment;
  readonly #kept: { cursor: number; entry: unknown }[] = [];
  readonly #waiting = new Set<() => void>();
  readonly #stop: () => void;
  #last = 0;

  constructor(env: Environment, runner: FunctionRunner) {
    this.#env = env;
    this.#stop = runner.onCompletion((completion) => this.#keep(completion));
  }

  /** Waits for something to report, but not for the first page: its reader only wants to know where the end is. */
  async read(cursor: number, signal: AbortSignal): Promise<LogPage> {
    const isAfter = (kept: { cursor: number }): boolean => kept.cursor > cursor;
    if (cursor > 0 && !this.#kept.some(isAfter)) await this.#next(signal);
    const after = this.#kept.filter(isAfter);
    return {
      entries: after.map((kept) => kept.entry),
      newCursor: after.at(-1)?.cursor ?? (cursor > 0 ? cursor : this.#unique()),
    };
  }

  close(): void {
    this.#stop();
    this.#wake();
  }

  #keep(completion: Completion): void {
    this.#kept.push({ cursor: this.#unique(), entry: toEntry(completion) });
    if (this.#kept.length > MAX_KEPT_COMPLETIONS) this.#kept.shift();
    this.#wake();
  }

  #next(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        timer.cancel();
        this.#waiting.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = this.#env.timer(LOG_POLL_MS, done);
      this.#waiting.add(done);
      signal.addEventListener("abort", done);
    });
  }

  #wake(): void {
    for (const done of [...this.#waiting]) done();
  }

  /** Milliseconds, and a thousandth more where two fall together: a double holds that. */
  #unique(): number {
    this.#last = Math.max(this.#env.now(), this.#last + 0.001);
    return this.#last;
  }
}

function toEntry(completion: Completion): unknown {
  const { address, udfType, requestId } = completion;
  return {
    kind: "Completion",
    udfType,
    identifier: address.path,
    ...(address.namespace === "" ? {} : { componentPath: address.namespace }),
    timestamp: completion.startedAt / 1000,
    executionTime: completion.durationMs / 1000,
    cachedResult: completion.cached,
    requestId,
    executionId: requestId,
    success: null,
    error: completion.error ?? null,
    logLines: completion.logs.map((line) => ({
      messages: [line.text.replace(/^\[[A-Z]+\] /, "")],
      level: line.level,
      timestamp: Math.round(line.at),
      isTruncated: false,
    })),
  };
}

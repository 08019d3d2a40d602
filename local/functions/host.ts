/**
 * The seam between a sandbox and its calls: everything that code inside can ask of the world outside.
 *
 * One sandbox serves many calls, one at a time, and each call brings its own host; so time, randomness, log lines and
 * system calls always belong to the call that is running.
 */
import type { LogLine } from "./types.js";

export interface Host {
  /** Milliseconds since the epoch, whole. The same through a query or mutation. */
  now(): number;
  /** Milliseconds with a fraction, from a zero of its own. */
  performanceNow(): number;
  /** Uniform in [0, 1). */
  random(): number;
  randomBytes(length: number): Uint8Array;
  log(level: LogLine["level"], text: string): void;
  syscall(operation: string, args: string): string;
  asyncSyscall(operation: string, args: string): Promise<string>;
  /**
   * The effects that only actions have; throws the platform's refusal elsewhere. `what` is the name of the API that the
   * code called.
   */
  effects(what: string): Effects;
  /** Whether `import()` is allowed: not in queries and mutations. */
  importsDynamically(): boolean;
  /** Code inside left a rejection unhandled. */
  rejected(reason: unknown): void;
  /** Work that the machine does by itself (digests), which the call may be waiting for. */
  outside<T>(work: Promise<T>): Promise<T>;
  /** Counts work outside the database (digests, network) that a call may be waiting for. */
  track<T>(work: Promise<T>): Promise<T>;
}

/** The part of the world that only actions see. */
export interface Effects {
  setTimer(ms: number, repeat: boolean, run: () => void): number;
  clearTimer(id: number): void;
  fetch: typeof fetch;
}

/** The platform's error for these effects in queries and mutations. */
export class EffectRefused extends Error {
  constructor(what: string) {
    super(
      `Can't use ${what} in queries and mutations. Please consider using an action. ` +
        `See https://docs.convex.dev/functions/actions for more details.`,
    );
  }
}

/**
 * JavaScript's own time of one query or mutation, where it is modelled: the time of its start and its system calls by
 * the clock's model. Where it is measured, threads do that (`threads/`).
 */
import type { Environment, UserWork } from "../environment.js";
import { FunctionError } from "./errors.js";

export class UserTime {
  #spentMs = 0;

  constructor(
    private readonly env: Pick<Environment, "userTime">,
    private readonly limitMs: number,
  ) {
    this.#spentMs = env.userTime?.("start") ?? 0;
  }

  /** The error to fail with, when the total is too much with this. */
  charge(of: UserWork): FunctionError | null {
    this.#spentMs += this.env.userTime?.(of) ?? 0;
    return this.#spentMs > this.limitMs ? timedOut(this.limitMs) : null;
  }
}

/** The platform's words: timeout.rs, termination.rs. */
export function timedOut(limitMs: number): FunctionError {
  const limit = limitMs < 1000 ? `${limitMs}ms` : `${limitMs / 1000}s`;
  return new FunctionError(`Function execution timed out (maximum duration: ${limit})`);
}

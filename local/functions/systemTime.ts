/**
 * The system time of one query or mutation: how long it has waited for system calls, in all. The platform gives up on one
 * that waits for too long, and blames itself.
 */
import type { Environment, Timer } from "../environment.js";
import { PlatformError } from "./errors.js";

/** knobs.rs: DATABASE_UDF_SYSTEM_TIMEOUT. */
const SYSTEM_TIME_MS = 15_000;

export class SystemTime {
  #timer: Timer | null = null;
  #waiting = 0;
  #waitingSince = 0;
  #spentMs = 0;

  constructor(
    private readonly env: Environment,
    private readonly overrun: (error: PlatformError) => void,
  ) {
    this.#watch(SYSTEM_TIME_MS);
  }

  /** It waits for a system call, until `done`. */
  begin(): void {
    if (this.#waiting++ === 0) this.#waitingSince = this.env.now();
  }

  done(): void {
    if (--this.#waiting === 0) this.#spentMs += this.env.now() - this.#waitingSince;
  }

  end(): void {
    this.#timer?.cancel();
  }

  #watch(ms: number): void {
    this.#timer = this.env.timer(ms, () => {
      const now = this.#waiting === 0 ? 0 : this.env.now() - this.#waitingSince;
      const left = SYSTEM_TIME_MS - this.#spentMs - now;
      if (left > 0) return this.#watch(left);
      // The platform's words: termination.rs, common/src/errors.rs.
      this.overrun(new PlatformError(503, "SystemTimeoutError", "Your request timed out."));
    });
  }
}

/**
 * The user time of the calls in one thread: how long its JavaScript was at work, without the waits for system calls. A
 * nested call's time is its own and not its caller's, as on the platform, where it has an isolate of its own.
 *
 * Two clocks. A thread's event loop tells how long it was not idle; that is cheap, but on a busy machine much of it may
 * be waiting for a processor. So a call that seems to overrun is measured by processor time too, where the system tells
 * it.
 */
import { readFileSync } from "node:fs";
import type { Worker } from "node:worker_threads";
import { STANDSTILL_MS, WATCH_EVERY_MS } from "./limits.js";

interface Frame {
  call: number;
  limitMs: number;
  activeMs: number;
  /** Of processor time, since the first measurement. */
  usedMs: number | null;
}

export class Meter {
  /** The calls in the thread, the innermost last: it is the one at work. */
  readonly #frames: Frame[] = [];
  #activeAt = 0;
  #usedAt: number | null = null;
  /** Set when the thread has sent it. */
  task: number | null = null;

  constructor(private readonly worker: Worker) {}

  begin(call: number, limitMs: number): void {
    this.#charge();
    this.#frames.push({ call, limitMs, activeMs: 0, usedMs: null });
  }

  /** From here on counts something else: loading is over, the function begins. */
  restart(call: number, limitMs: number): void {
    this.#charge();
    const frame = this.#frames.find((candidate) => candidate.call === call);
    if (frame !== undefined) Object.assign(frame, { limitMs, activeMs: 0, usedMs: null });
  }

  end(call: number): void {
    this.#charge();
    const at = this.#frames.findIndex((frame) => frame.call === call);
    if (at !== -1) this.#frames.splice(at, 1);
  }

  /** To be called now and then. The limit that is overrun, if one is. */
  overrun(): number | null {
    this.#charge();
    const frame = this.#frames.at(-1);
    if (frame === undefined) return null;
    this.#usedAt = this.#processorMs();
    if (this.#usedAt !== null) frame.usedMs ??= 0;
    if (frame.activeMs < frame.limitMs) return null;
    // It is measured only so often: of its first time nothing is known.
    const used = frame.usedMs === null ? frame.activeMs : frame.usedMs + 2 * WATCH_EVERY_MS;
    // Standing still costs no processor time and is no waiting for a system call either.
    const standsStill = frame.activeMs >= frame.limitMs + STANDSTILL_MS;
    return used >= frame.limitMs || standsStill ? frame.limitMs : null;
  }

  #charge(): void {
    const { active } = this.worker.performance.eventLoopUtilization();
    const frame = this.#frames.at(-1);
    if (frame !== undefined) {
      frame.activeMs += active - this.#activeAt;
      if (this.#usedAt !== null && frame.usedMs !== null) {
        frame.usedMs += (this.#processorMs() ?? this.#usedAt) - this.#usedAt;
      }
    }
    this.#activeAt = active;
    this.#usedAt = null;
  }

  /** Linux: the first number is nanoseconds on a processor. */
  #processorMs(): number | null {
    if (this.task === null) return null;
    try {
      const text = readFileSync(`/proc/self/task/${this.task}/schedstat`, "utf8");
      return Number(text.slice(0, text.indexOf(" "))) / 1e6;
    } catch {
      return null;
    }
  }
}

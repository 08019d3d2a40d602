/**
 * Jobs whose handlers run here, also after the attempt was lost: such a handler may go on after its signal, and a
 * second handler of the same job would disturb it.
 */
import type { Outcome } from "../shared/index.js";
import { atMost, type Clock } from "./clock.js";
import { BESIDE_BACK_MAX_MS, BESIDE_MS } from "./limits.js";

export class Beside {
  private readonly running = new Map<string, Promise<unknown>>();
  /** How often a job has gone back to wait for the handler that runs here. */
  private readonly backs = new Map<string, number>();

  constructor(private readonly clock: Clock) {}

  has(job: string): boolean {
    return this.running.has(job);
  }

  /** The handler of the job runs until that has ended. */
  async run<End>(job: string, handler: Promise<End>): Promise<End> {
    this.running.set(job, handler);
    try {
      return await handler;
    } finally {
      this.end(job, handler);
    }
  }

  /** The handler is done with the job, though it may go on with others. A later handler of the job stays. */
  end(job: string, handler: Promise<unknown>): void {
    if (this.running.get(job) !== handler) return;
    this.running.delete(job);
    this.backs.delete(job);
  }

  /** Waits for the handler of the job, for a second at most. */
  async wait(job: string): Promise<void> {
    await atMost(this.clock, BESIDE_MS, this.running.get(job));
  }

  /**
   * The end of an attempt that has waited in vain: another worker may have its job at once. One that comes here again has
   * found none, and comes ever more seldom: the handler may never end.
   */
  back(job: string): Outcome {
    const backs = this.backs.get(job) ?? 0;
    this.backs.set(job, backs + 1);
    if (backs === 0) return { kind: "released" };
    return { kind: "snoozed", runAfter: Math.min(BESIDE_BACK_MAX_MS, BESIDE_MS * 2 ** backs) };
  }
}

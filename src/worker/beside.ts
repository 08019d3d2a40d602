/**
 * Jobs whose handlers run here, also after the attempt was lost: such a handler may go on after its signal, and a
 * second handler of the same job would disturb it.
 */
import { atMost, type Clock } from "./clock.js";

export class Beside {
  private readonly running = new Map<string, Promise<unknown>>();

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
    if (this.running.get(job) === handler) this.running.delete(job);
  }

  /** Waits for the handler of the job, for a second at most. */
  async wait(job: string): Promise<void> {
    await atMost(this.clock, BESIDE_MS, this.running.get(job));
  }
}

/** Then the job goes back, for a worker that has no handler of it. */
const BESIDE_MS = 1_000;

/**
 * Inline handlers of batches: jobs of all lanes of a queue that run in this process wait here for their batch, by the
 * same code as a worker's. A waiting job has its lane's lease and its place. It makes no calls.
 */
import type { CheckedBatching, LaneJob } from "../shared/index.js";
import type { Attempt } from "../worker/attempts.js";
import { Batch } from "../worker/batch.js";
import { systemClock, type Clock } from "../worker/clock.js";
import { Gathering } from "../worker/gathering.js";
import { outcomeOfAbandoned } from "../worker/outcome.js";
import type { HandlerEnd } from "../worker/runner.js";
import type { BatchJob } from "../worker/types.js";
import type { Ended, Handling } from "./inline.js";

interface BatchHandlers {
  batching: (queue: string) => CheckedBatching;
  run: (queue: string, jobs: BatchJob[]) => unknown;
}

export class HandledBatches {
  private readonly gathering: Gathering;
  private readonly ends = new Map<Attempt, (end: HandlerEnd) => void>();

  constructor(
    private readonly handling: Handling,
    private readonly handlers: BatchHandlers,
    private readonly clock: Clock = systemClock,
  ) {
    this.gathering = new Gathering({
      ...{ clock, batching: handlers.batching },
      // A process has as many jobs as it has places: nothing else bounds its batches.
      slots: () => ({ used: 0, had: Infinity }),
      largest: Infinity,
      begin: (attempts, ended) => this.begin(attempts, ended),
      unwanted: (attempt) => this.end(attempt, { outcome: outcomeOfAbandoned(attempt) }),
      giveBack: (attempt) => this.end(attempt, { outcome: { kind: "released" } }),
      changed: () => {},
    });
  }

  /** Runs a job with others of its queue; resolves when this one has ended. */
  async run(one: LaneJob): Promise<Ended> {
    return await this.handling.runBy(one, (attempt, ended) => {
      this.ends.set(attempt, ended);
      this.gathering.add(attempt);
    });
  }

  private begin(attempts: Attempt[], over: () => void): Batch {
    for (const attempt of attempts) this.handling.traced(attempt, () => {});
    const batch = new Batch(attempts, {
      clock: this.clock,
      jobOf: (attempt) => this.handling.jobOf(attempt),
      ended: (attempt, end) => this.end(attempt, end),
      abandoned: over,
    });
    const { queue } = attempts[0]!.job;
    void batch.run((jobs: BatchJob[]) => this.handlers.run(queue, jobs)).then(over);
    return batch;
  }

  private end(attempt: Attempt, end: HandlerEnd): void {
    this.ends.get(attempt)?.(end);
    this.ends.delete(attempt);
  }
}

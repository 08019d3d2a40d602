/**
 * Jobs of a lane that go on in transactions of their own, since their step has lost a conflict, or was too large. Each
 * is repeated with jitter until it is answered, while its lane goes on with all other jobs. For a while after a loss
 * all jobs of the lane go this way: the contended row is most likely theirs too.
 */
import type { Answer, LaneApart, Lease } from "../shared/index.js";
import { backoff, type Clock } from "../worker/clock.js";
import { REFUSALS_BEFORE_DEFERRING, REPEAT_MAX_MS, REPEAT_MIN_MS } from "../worker/limits.js";
import type { Report } from "../worker/transport.js";
import { isBlameless } from "./blameless.js";
import { outcomeOfThrown } from "./handlers.js";

/** One such call, before its result has been checked. */
export type ApartReport = Omit<LaneApart, "finished"> & { finished?: Report };

/** A job with a mutation as its handler. */
export interface Execution extends Omit<LaneApart, "finished" | "deferCallbacks"> {
  /** How often it failed before. */
  failures: number;
}

export class Apart {
  /** Jobs that have ended so, not yet reported by the lane: it still holds the leases. */
  over: readonly Lease[] = [];
  /** Under way. */
  size = 0;
  private calls = 0;
  private waiting: (() => void)[] = [];
  private lostUntil = -Infinity;

  constructor(
    private readonly call: (report: ApartReport) => Promise<Answer>,
    private readonly clock: Clock,
    private readonly changed: () => void,
  ) {}

  /** Whether a job of the lane has lost a moment ago. */
  get isHot(): boolean {
    return this.clock.now() < this.lostUntil;
  }

  /** Has an outcome recorded. */
  async record(finished: Report): Promise<void> {
    const { id, attempt } = finished;
    this.size += 1;
    for (let refusals = 0; !(await this.says({ id, attempt, finished }, refusals)).isOver;)
      refusals += 1;
    this.end({ id, attempt });
  }

  /** Runs a handler that is a mutation. One that brings its transaction down by itself has failed. */
  async execute({ failures, ...job }: Execution): Promise<void> {
    const { id, attempt } = job;
    this.size += 1;
    for (let refusals = 0; ; refusals += 1) {
      const { isOver, error } = await this.says(job, refusals);
      if (isOver) return this.end({ id, attempt });
      if (isBlameless(error)) continue;
      this.size -= 1;
      const outcome = outcomeOfThrown(error, { attempt, failures });
      return await this.record({ id, attempt, queue: "", outcome });
    }
  }

  /** The lane has said that these are over. */
  forget(leases: readonly Lease[]): void {
    this.over = this.over.filter((one) => !leases.includes(one));
  }

  /** It has lost, or may have. */
  lost(): void {
    this.lostUntil = this.clock.now() + HOT_MS;
  }

  /** One call of a job, when it is its turn, and the wait after it, during which it holds no turn. */
  private async says(
    said: ApartReport,
    refusals: number,
  ): Promise<{ isOver: boolean; error?: unknown }> {
    await this.turn();
    const from = this.clock.now();
    try {
      const isDeferred = refusals >= REFUSALS_BEFORE_DEFERRING;
      await this.call({ ...said, ...(isDeferred ? { deferCallbacks: true } : {}) });
      if (this.clock.now() > from + LOST_MS) this.lost();
      this.next();
      return { isOver: true };
    } catch (error) {
      this.lost();
      this.next();
      const wait = backoff(this.clock, refusals, REPEAT_MIN_MS, REPEAT_MAX_MS);
      await new Promise<void>((resolve) => this.clock.after(wait, resolve));
      return { isOver: false, error };
    }
  }

  private async turn(): Promise<void> {
    if (this.calls === AT_ONCE) await new Promise<void>((resolve) => this.waiting.push(resolve));
    else this.calls += 1;
  }

  /** Its turn goes to the job that has waited longest. */
  private next(): void {
    const [first, ...others] = this.waiting;
    this.waiting = others;
    if (first === undefined) this.calls -= 1;
    else first();
  }

  private end(lease: Lease): void {
    this.size -= 1;
    this.over = [...this.over, lease];
    this.changed();
  }
}

/** So long after a loss the lane's jobs go apart from the first. */
const HOT_MS = 10_000;
/** A call that took longer has lost, most likely. */
const LOST_MS = 100;
/** So many calls at once: more lose to each other (docs/internals/choices/push.md). A refused one gives up its turn while it waits. */
const AT_ONCE = 3;

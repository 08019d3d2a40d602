/**
 * Jobs in hand that wait for their batch, and the batches that run. A batch takes one slot.
 *
 *     waiting ──`size` wait, or the oldest has for `waitMs`, and a slot is free──► in a batch
 *        ├──canceled, out of time, lease lost──► concluded without a handler
 *        └──the worker stops──► given back
 *
 * A waiting job is leased: heartbeats include it. It knows nothing of calls.
 */
import type { CheckedBatching } from "../shared/index.js";
import type { Attempt } from "./attempts.js";
import type { Batch } from "./batch.js";
import type { Clock } from "./clock.js";

export interface GatheringDeps {
  clock: Clock;
  /** How a queue's jobs are gathered. */
  batching: (queue: string) => CheckedBatching;
  /** Slots that no handler takes. */
  freeSlots: () => number;
  /** Makes a batch of these jobs, and calls back when its handler has ended. */
  begin: (attempts: Attempt[], ended: () => void) => Batch;
  /** A waiting job is not to be begun any more. */
  unwanted: (attempt: Attempt) => void;
  giveBack: (attempt: Attempt) => void;
  /** A slot has come free. */
  changed: () => void;
}

interface Group {
  attempts: Attempt[];
  /** When it begins, full or not. */
  dueAt: number;
}

export class Gathering {
  private waiting: Attempt[] = [];
  private readonly batches = new Set<Batch>();
  private isSoon = false;
  private cancelTimer = () => {};

  constructor(private readonly deps: GatheringDeps) {}

  /** Jobs that wait. */
  get size(): number {
    return this.waiting.length;
  }

  /** Batches whose handlers run. */
  get slotsUsed(): number {
    return [...this.batches].filter(({ isRunning }) => isRunning).length;
  }

  add(attempt: Attempt): void {
    attempt.batch = "waiting";
    this.waiting.push(attempt);
    attempt.abort.signal.addEventListener("abort", () => this.aborted(attempt), { once: true });
    this.changed();
  }

  /** Jobs or slots have come. What a batch begins with is decided once all jobs of an answer are here. */
  changed(): void {
    if (this.isSoon || this.waiting.length === 0) return;
    this.isSoon = true;
    void Promise.resolve().then(() => {
      this.isSoon = false;
      this.beginDue();
    });
  }

  /** Gives all waiting jobs back. */
  giveBack(): void {
    for (const attempt of this.takeAll()) this.deps.giveBack(attempt);
  }

  /** No batch is waited for, and none begins. */
  end(): void {
    this.takeAll();
    this.batches.clear();
  }

  private takeAll(): Attempt[] {
    this.cancelTimer();
    const { waiting } = this;
    this.waiting = [];
    return waiting;
  }

  private aborted(attempt: Attempt): void {
    if (!this.waiting.includes(attempt)) return;
    this.waiting = this.waiting.filter((other) => other !== attempt);
    this.deps.unwanted(attempt);
  }

  private beginDue(): void {
    this.cancelTimer();
    const now = this.deps.clock.now();
    let next = this.next();
    while (next !== undefined && next.dueAt <= now && this.deps.freeSlots() > 0) {
      this.begin(next.attempts);
      next = this.next();
    }
    // Where no slot is free the end of a batch calls.
    if (next === undefined || next.dueAt <= now) return;
    this.cancelTimer = this.deps.clock.after(next.dueAt - now, () => this.beginDue());
  }

  private begin(attempts: Attempt[]): void {
    this.waiting = this.waiting.filter((attempt) => !attempts.includes(attempt));
    for (const attempt of attempts) attempt.batch = "begun";
    const batch = this.deps.begin(attempts, () => {
      this.batches.delete(batch);
      this.deps.changed();
    });
    this.batches.add(batch);
  }

  /** The group that begins first. A full one is due since its oldest job came: no other is overtaken for ever. */
  private next(): Group | undefined {
    const groups = new Map<string, Group>();
    for (const attempt of this.waiting) {
      const { queue, group } = attempt.job;
      const { size, waitMs, by } = this.deps.batching(queue);
      const key = JSON.stringify([queue, by === "group" ? (group ?? null) : null]);
      const found = groups.get(key);
      if (found === undefined) {
        const dueAt = attempt.startedAt + (size === 1 ? 0 : waitMs);
        groups.set(key, { attempts: [attempt], dueAt });
      } else if (found.attempts.length < size) {
        found.attempts.push(attempt);
        if (found.attempts.length === size) found.dueAt = found.attempts[0]!.startedAt;
      }
    }
    return [...groups.values()].reduce<Group | undefined>(
      (first, one) => (first === undefined || one.dueAt < first.dueAt ? one : first),
      undefined,
    );
  }
}

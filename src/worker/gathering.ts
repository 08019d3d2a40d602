/**
 * Jobs in hand that wait for their batch, and the batches that run. A batch takes one slot.
 *
 *     waiting ──`size` wait, or the oldest has for `waitMs`, and a slot is free──► in a batch
 *        ├──canceled, out of time, lease lost──► concluded without a handler
 *        ├──due, no slot is free, and each slot has a batch that waits for it──► given back
 *        └──the worker stops──► given back
 *
 * A waiting job is leased: heartbeats include it. Jobs of one answer may fall into more batches than slots come free in
 * their time: so few wait, and nothing more is asked for meanwhile. It knows nothing of calls.
 */
import type { CheckedBatching } from "../shared/index.js";
import type { Attempt } from "./attempts.js";
import type { Batch } from "./batch.js";
import type { Clock } from "./clock.js";

export interface GatheringDeps {
  clock: Clock;
  /** How a queue's jobs are gathered. */
  batching: (queue: string) => CheckedBatching;
  /** Slots with handlers, and all. */
  slots: () => { used: number; had: number };
  /** The jobs of the largest batch of any queue. */
  largest: number;
  /** Makes a batch of these jobs, and calls back when its handler has ended. */
  begin: (attempts: Attempt[], ended: () => void) => Batch;
  /** A waiting job is not to be begun any more. */
  unwanted: (attempt: Attempt) => void;
  giveBack: (attempt: Attempt) => void;
  /** A slot has come free, or there is room for more jobs. */
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
  /** A batch is due, and waits for a slot. */
  private isBehind = false;
  /** Jobs to ask for with each free slot: fewer after jobs were given back, and more again after a batch of so many. */
  private perSlot: number;
  private cancelTimer = () => {};

  constructor(private readonly deps: GatheringDeps) {
    this.perSlot = deps.largest;
  }

  /** How many jobs to ask for with so many free slots. */
  room(freeSlots: number): number {
    return this.isBehind ? 0 : freeSlots * this.perSlot - this.waiting.length;
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

  /** Tells the answers of running batches that have not been told. */
  tell(): void {
    for (const batch of this.batches) batch.tell();
  }

  /** No batch is waited for, and none begins. */
  end(): void {
    this.takeAll();
    for (const batch of this.batches) batch.forget();
    this.batches.clear();
  }

  private takeAll(): Attempt[] {
    this.cancelTimer();
    this.isBehind = false;
    const { waiting } = this;
    this.waiting = [];
    return waiting;
  }

  private aborted(attempt: Attempt): void {
    if (!this.waiting.includes(attempt)) return;
    this.leave([attempt]);
    this.deps.unwanted(attempt);
    this.changed();
  }

  private leave(attempts: readonly Attempt[]): void {
    this.waiting = this.waiting.filter((attempt) => !attempts.includes(attempt));
  }

  private beginDue(): void {
    this.cancelTimer();
    const now = this.deps.clock.now();
    const groups = this.groups();
    const due = groups.filter(({ dueAt }) => dueAt <= now);
    while (due.length > 0 && this.freeSlots() > 0) this.begin(due.shift()!);
    this.limit(due);
    // Where no slot is free the end of a batch calls.
    const later = groups.find(({ dueAt }) => dueAt > now);
    if (later === undefined) return;
    this.cancelTimer = this.deps.clock.after(later.dueAt - now, () => this.beginDue());
  }

  private freeSlots(): number {
    const { used, had } = this.deps.slots();
    return had - used;
  }

  /** Of the groups that are due and find no slot, one for each slot may wait. The others go back. */
  private limit(due: readonly Group[]): void {
    const wasBehind = this.isBehind;
    this.isBehind = due.length > 0;
    const surplus = due.slice(this.deps.slots().had).flatMap(({ attempts }) => attempts);
    if (surplus.length > 0) {
      this.perSlot = Math.ceil(this.perSlot / 2);
      this.leave(surplus);
      for (const attempt of surplus) this.deps.giveBack(attempt);
    }
    if (wasBehind && !this.isBehind) this.deps.changed();
  }

  private begin({ attempts }: Group): void {
    this.leave(attempts);
    if (attempts.length >= this.perSlot)
      this.perSlot = Math.min(2 * this.perSlot, this.deps.largest);
    for (const attempt of attempts) attempt.batch = "begun";
    const batch = this.deps.begin(attempts, () => {
      this.batches.delete(batch);
      this.deps.changed();
    });
    this.batches.add(batch);
  }

  /**
   * The batches that waiting jobs make, first those that begin first. A full one is due since its oldest job came: no
   * other is overtaken for ever. Half of a job's time is left for its handler.
   */
  private groups(): Group[] {
    const groups: Group[] = [];
    const open = new Map<string, Group>();
    for (const attempt of this.waiting) {
      const { queue, group, timeoutMs = Infinity } = attempt.job;
      const { size, waitMs, by } = this.deps.batching(queue);
      const key = JSON.stringify([queue, by === "group" ? (group ?? null) : null]);
      const dueAt = attempt.startedAt + (size === 1 ? 0 : Math.min(waitMs, timeoutMs / 2));
      const found = open.get(key);
      if (found === undefined) {
        const made = { attempts: [attempt], dueAt };
        groups.push(made);
        if (size > 1) open.set(key, made);
        continue;
      }
      found.attempts.push(attempt);
      found.dueAt = Math.min(found.dueAt, dueAt);
      if (found.attempts.length < size) continue;
      found.dueAt = Math.min(found.dueAt, found.attempts[0]!.startedAt);
      open.delete(key);
    }
    return groups.sort((a, b) => a.dueAt - b.dueAt);
  }
}

/**
 * The waiting jobs of each of a worker's queues, as its subscriptions report them, and when the worker comes for them.
 * Pure but for the clock.
 *
 * Where few jobs wait they are named. Each has one worker that comes at once: all of a queue's workers find the same one, by
 * a hash of the job's id and their places in an order that all know. The rest come one gap after the other, in case
 * that one is busy, or dead; the news that the job has been taken keeps them away. Where more jobs wait than are named,
 * a worker scans (`idle.ts`).
 *
 * A name is a hint: a named job that the worker did not get it asks for again, ever more seldom; from the second time
 * on its claim also scans the queue.
 */
import { LEASES_MAX, stableHash, type Places, type Waiting as Answer } from "../shared/index.js";
import type { Clock } from "./clock.js";
import {
  EMPTY_WAIT_GAP_MS,
  EMPTY_WAIT_MAX_MS,
  EMPTY_WAIT_MIN_MS,
  EMPTY_WAITS_SHORT,
  FAILED_PATIENCE_MS,
  LATE_WINS,
  NAMED_GAP_MS,
  NAMED_TAKEN_MS,
  PLACES_SURE_MAX_MS,
  PLACES_SURE_MIN_MS,
} from "./limits.js";
import type { PlaceInFleet } from "./transport.js";
import { turnAt } from "./turns.js";

interface Known {
  id: string;
  queue: string;
  /** When this worker comes for it. */
  dueAt: number;
  /** Whether it is the one that comes at once. */
  isFirst: boolean;
  /** How often it came in vain. */
  failures: number;
  /** It has it, and the news of that is on its way. */
  takenUntil: number;
}

/** Its place in a queue, and for how long it is sure of it. */
interface Place extends PlaceInFleet {
  sureMs: number;
  until: number;
}

/** Whether the other workers of a queue are there, as far as it has seen. */
class Others {
  private readonly lateWins = new Map<string, number>();

  /** It got a job after the turns of other workers. */
  gotLate(queue: string): void {
    this.lateWins.set(queue, (this.lateWins.get(queue) ?? 0) + 1);
  }

  /** Another got a job. */
  took(queue: string): void {
    this.lateWins.delete(queue);
  }

  areAway(queue: string): boolean {
    return (this.lateWins.get(queue) ?? 0) >= LATE_WINS;
  }
}

export class Waiting {
  private readonly jobs = new Map<string, Known>();
  /** Whether more waits in a queue than is named; absent while its subscription says nothing. */
  private readonly more = new Map<string, boolean>();
  /** Other workers that jobs of a queue prefer. */
  private readonly preferring = new Map<string, string[]>();
  private readonly places = new Map<string, Place>();
  private readonly others = new Others();
  /** Jobs that have gone since the last answer, by their queues: one more than a claim can have got at most. */
  private readonly gone = new Map<string, Set<string>>();
  /** The queues of the jobs that the claim on its way has named: their news may come before its answer. */
  private asked = new Map<string, string>();

  constructor(
    private readonly clock: Clock,
    private readonly queues: readonly string[],
    private readonly name: string,
  ) {}

  /** A queue's subscription has spoken. One of an older deployment says only whether anything waits. */
  subscriptionAnswered(queue: string, answer: boolean | Answer): void {
    const { jobs, more } = typeof answer === "boolean" ? { jobs: [], more: answer } : answer;
    this.more.set(queue, more);
    // A job that is for another worker only is told again when it is for any.
    const mine = jobs.filter(({ worker = this.name }) => worker === this.name);
    const named = jobs.flatMap(({ worker }) => worker ?? []);
    this.preferring.set(
      queue,
      named.filter((worker) => worker !== this.name),
    );
    const ids = new Set(mine.map(({ id }) => id));
    for (const known of this.of(queue)) if (!ids.has(known.id)) this.forget(known, !more);
    for (const { id, failedBy = [], worker } of mine) {
      if (this.jobs.has(id)) continue;
      const hasFailedIt = failedBy.includes(this.name);
      const wait = worker === this.name ? 0 : this.untilTurn(queue, id, hasFailedIt);
      const dueAt = this.clock.now() + wait;
      this.jobs.set(id, { id, queue, dueAt, isFirst: wait === 0, failures: 0, takenUntil: 0 });
    }
  }

  /** It is not named any more. If it waits no more, it may be this worker's, and the answer that says so on its way. */
  private forget({ id, queue, takenUntil }: Known, isGone: boolean): void {
    this.jobs.delete(id);
    if (!isGone || takenUntil > this.clock.now()) return;
    const gone = this.gone.get(queue) ?? new Set();
    this.gone.set(queue, gone);
    if (gone.size <= LEASES_MAX) gone.add(id);
  }

  /** A queue's subscription has failed. */
  subscriptionFailed(queue: string): void {
    this.more.delete(queue);
    this.preferring.delete(queue);
    for (const { id } of this.of(queue)) this.jobs.delete(id);
  }

  /** Its places among the workers of these queues. */
  placed(places: Places): void {
    for (const { queues, size, rank } of places) {
      for (const queue of queues) {
        const known = this.places.get(queue);
        const isSame = known?.size === size && known.rank === rank;
        const sureMs = isSame ? Math.min(PLACES_SURE_MAX_MS, 2 * known.sureMs) : PLACES_SURE_MIN_MS;
        this.places.set(queue, { size, rank, sureMs, until: this.clock.now() + sureMs });
      }
    }
  }

  /** Whether it is sure of its places in the queues of these jobs: none is old, and nothing has spoken against it. */
  isPlaced(named: readonly string[]): boolean {
    const now = this.clock.now();
    return named.every((id) => {
      const known = this.jobs.get(id);
      if (known === undefined) return true;
      return (
        known.isFirst && known.failures === 0 && (this.places.get(known.queue)?.until ?? 0) > now
      );
    });
  }

  /** Whether anywhere more waits than is named; `undefined` while a subscription says nothing. */
  get isBacklog(): boolean | undefined {
    const answers = this.queues.map((queue) => this.more.get(queue));
    if (answers.includes(true)) return true;
    return answers.includes(undefined) ? undefined : false;
  }

  get named(): number {
    return this.jobs.size;
  }

  /** Other workers that waiting jobs prefer by their names. */
  get preferred(): string[] {
    return [...new Set([...this.preferring.values()].flat())].slice(0, LEASES_MAX);
  }

  /** Whether the other workers of all queues where more waits than is named are away. */
  get isAlone(): boolean {
    return this.backlogs().every((queue) => this.others.areAway(queue));
  }

  /** Where more waits than is named. */
  backlogs(): string[] {
    return this.queues.filter((queue) => this.more.get(queue) === true);
  }

  /** When it comes for the next that was named, in these queues or any, or null. */
  nextDueAt(queues?: readonly string[]): number | null {
    const due = [...this.jobs.values()]
      .filter(({ queue }) => queues?.includes(queue) !== false)
      .map(({ dueAt, takenUntil }) => Math.max(dueAt, takenUntil));
    return due.length === 0 ? null : Math.min(...due);
  }

  /** The first jobs that it comes for now, in these queues or any, and the queues that it also scans. */
  due(max: number, queues?: readonly string[]): { named: string[]; lookIn: string[] } {
    const now = this.clock.now();
    const due = [...this.jobs.values()]
      .filter(({ queue }) => queues?.includes(queue) !== false)
      .filter(({ dueAt, takenUntil }) => Math.max(dueAt, takenUntil) <= now)
      .slice(0, max);
    this.asked = new Map(due.map(({ id, queue }) => [id, queue]));
    const stubborn = due.filter(({ failures }) => failures > 1).map(({ queue }) => queue);
    return { named: due.map(({ id }) => id), lookIn: [...new Set(stubborn)] };
  }

  /** Whether a queue may have jobs for this worker, now or soon, as far as it is known. */
  mayHave(queue: string): boolean {
    const now = this.clock.now();
    const waits = ({ dueAt, failures, takenUntil }: Known) =>
      takenUntil <= now && (failures === 0 || dueAt <= now);
    return this.more.get(queue) !== false || this.of(queue).some(waits);
  }

  /** The queue of a job that was named, or is asked for. */
  queueOf(id: string): string | undefined {
    return this.jobs.get(id)?.queue ?? this.asked.get(id);
  }

  /** Some queues from a random one on, to scan besides the named jobs. */
  some(count: number): string[] {
    const start = Math.floor(this.clock.random() * this.queues.length);
    return [...this.queues.slice(start), ...this.queues.slice(0, start)].slice(0, count);
  }

  /** A claim that named these jobs was answered, or refused. */
  claimed(named: readonly string[], got: readonly { id: string }[]): void {
    const now = this.clock.now();
    for (const { id } of got) {
      const known = this.jobs.get(id);
      if (known === undefined) continue;
      known.takenUntil = now + NAMED_TAKEN_MS;
      if (!known.isFirst) this.others.gotLate(known.queue);
    }
    const mine = new Set(got.map(({ id }) => id));
    for (const [queue, ids] of this.gone)
      if ([...ids].some((id) => !mine.has(id))) this.others.took(queue);
    this.gone.clear();
    for (const id of named) {
      if (mine.has(id)) continue;
      this.doubt(this.asked.get(id));
      const known = this.jobs.get(id);
      if (known === undefined) continue;
      const wait = Math.min(EMPTY_WAIT_MAX_MS, EMPTY_WAIT_MIN_MS * 2 ** known.failures);
      const { size } = this.placeIn(known.queue);
      const most = known.failures < EMPTY_WAITS_SHORT ? wait : EMPTY_WAIT_MAX_MS;
      const spread = Math.min(most, (size - 1) * EMPTY_WAIT_GAP_MS);
      known.dueAt = now + wait + this.clock.random() * spread;
      known.failures += 1;
    }
  }

  /** Another worker has the job that it came for: they may not be of one mind about their places. */
  private doubt(queue: string | undefined): void {
    if (queue !== undefined) this.others.took(queue);
    const place = queue === undefined ? undefined : this.places.get(queue);
    if (place === undefined) return;
    place.sureMs = PLACES_SURE_MIN_MS;
    place.until = 0;
  }

  private of(queue: string): Known[] {
    return [...this.jobs.values()].filter((known) => known.queue === queue);
  }

  private placeIn(queue: string): PlaceInFleet {
    return this.places.get(queue) ?? { size: 1, rank: 0 };
  }

  /**
   * How long it leaves a job to workers with an earlier turn. A job that it has failed it leaves to all other workers
   * first.
   */
  private untilTurn(queue: string, id: string, hasFailedIt: boolean): number {
    const { size, rank } = this.placeIn(queue);
    const known = rank ?? Math.floor(this.clock.random() * size);
    const before = (known - (stableHash(id) % size) + size) % size;
    if (this.others.areAway(queue)) return 0;
    if (!hasFailedIt || size === 1) return turnAt(before, size, NAMED_GAP_MS);
    const latest = FAILED_PATIENCE_MS * (1 + this.clock.random() / 2);
    return Math.min((before + size) * NAMED_GAP_MS, latest);
  }
}

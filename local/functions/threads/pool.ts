/**
 * The threads of one backend. It grows while a call waits, the thread used last is used next, and one that has rested
 * for a while is ended. A thread that has run code of an earlier push is ended when it is free: V8 never gives back all
 * that modules of a context take, but with the thread.
 */
import type { Environment, Timer } from "../../environment.js";
import { guestProgram } from "./bundle.js";
import { watchHeaps } from "./heapGauge.js";
import {
  IDLE_THREAD_MS,
  MAX_STARTING,
  MAX_THREADS,
  WATCH_EVERY_MS,
  type ThreadKind,
} from "./limits.js";
import { Thread } from "./thread.js";

const KINDS = Object.keys(MAX_THREADS) as ThreadKind[];

interface Member {
  thread: Thread;
  generation: number;
  /** The number of its users: one, but for actions when there are as many threads as may be. */
  holders: number;
  idleSince: number;
}

interface Waiter {
  kind: ThreadKind;
  take(member: Member): void;
  fail(reason: Error): void;
}

export class ThreadPool {
  readonly #members = new Set<Member>();
  readonly #byThread = new WeakMap<Thread, Member>();
  #waiters: Waiter[] = [];
  readonly #starting: Record<ThreadKind, number> = { transaction: 0, action: 0, node: 0 };
  #generation = 0;
  #stopped: Error | null = null;
  #watch: Timer | null = null;

  constructor(
    private readonly env: Environment,
    private readonly userTimeMs: number,
  ) {
    watchHeaps();
  }

  /** A thread of one's own, as far as there are enough. */
  async acquire(kind: ThreadKind): Promise<Thread> {
    if (this.#stopped !== null) throw this.#stopped;
    const free = this.#free(kind);
    if (free !== undefined) return this.#hold(free);
    return new Promise((resolve, reject) => {
      this.#waiters.push({
        kind,
        take: (member) => resolve(this.#hold(member)),
        fail: reject,
      });
      this.#grow();
    });
  }

  release(thread: Thread): void {
    const member = this.#byThread.get(thread);
    if (member === undefined || thread.ended) return;
    member.holders--;
    if (member.holders > 0) return;
    if (member.generation !== this.#generation) return thread.end(new Error("Its code is old."));
    member.idleSince = this.env.now();
    this.#serve();
  }

  /** Other code is deployed. */
  retire(): void {
    this.#generation++;
    for (const { thread, holders } of [...this.#members]) {
      if (holders === 0) thread.end(new Error("Its code is old."));
    }
    this.#grow();
  }

  stop(reason: Error): void {
    this.#stopped = reason;
    this.#watch?.cancel();
    for (const { thread } of [...this.#members]) thread.end(reason);
    for (const waiter of this.#waiters) waiter.fail(reason);
    this.#waiters = [];
  }

  #free(kind: ThreadKind): Member | undefined {
    let best: Member | undefined;
    for (const member of this.#members) {
      if (member.thread.kind !== kind || member.holders > 0) continue;
      if (member.generation !== this.#generation) continue;
      if (best === undefined || member.idleSince > best.idleSince) best = member;
    }
    return best;
  }

  #hold(member: Member): Thread {
    member.holders++;
    this.#watch ??= this.#look();
    return member.thread;
  }

  #count(kind: ThreadKind): number {
    let count = 0;
    for (const { thread } of this.#members) if (thread.kind === kind) count++;
    return count;
  }

  /** Free threads go to waiting calls, the longest waiting first; where there can be no more threads, actions share. */
  #serve(): void {
    const still: Waiter[] = [];
    for (const waiter of this.#waiters) {
      const member = this.#free(waiter.kind) ?? this.#shared(waiter.kind);
      if (member === undefined) still.push(waiter);
      else waiter.take(member);
    }
    this.#waiters = still;
    this.#grow();
  }

  /**
   * Transactions never share: they end soon. An action may wait for other actions, which must not wait for its thread.
   */
  #shared(kind: ThreadKind): Member | undefined {
    if (kind === "transaction" || this.#count(kind) < MAX_THREADS[kind]) return undefined;
    let best: Member | undefined;
    for (const member of this.#members) {
      if (member.thread.kind !== kind || member.generation !== this.#generation) continue;
      if (best === undefined || member.holders < best.holders) best = member;
    }
    return best;
  }

  #grow(): void {
    for (const kind of KINDS) {
      const wanted = this.#waiters.filter((waiter) => waiter.kind === kind).length;
      const room = MAX_THREADS[kind] - this.#count(kind) - this.#starting[kind];
      const more =
        Math.min(wanted, MAX_STARTING, this.#starting[kind] + room) - this.#starting[kind];
      for (let i = 0; i < more; i++) void this.#start(kind);
    }
  }

  async #start(kind: ThreadKind): Promise<void> {
    this.#starting[kind]++;
    let counted = true;
    const started = () => {
      if (counted) this.#starting[kind]--;
      counted = false;
    };
    try {
      const program = await guestProgram();
      if (this.#stopped !== null) return;
      const thread = new Thread(program, { kind, userTimeMs: this.userTimeMs }, () =>
        this.#lost(member),
      );
      const member: Member = {
        thread,
        generation: this.#generation,
        holders: 1,
        idleSince: this.env.now(),
      };
      this.#members.add(member);
      this.#byThread.set(thread, member);
      await thread.ready;
      started();
      this.release(thread);
    } catch (error) {
      for (const waiter of this.#waiters) waiter.fail(error as Error);
      this.#waiters = [];
    } finally {
      started();
    }
    if (this.#stopped === null) this.#serve();
  }

  #lost(member: Member): void {
    this.#members.delete(member);
    if (this.#stopped === null) this.#serve();
  }

  /** Only while calls run or threads lie idle, so that nothing holds a process that has nothing left to do. */
  #look(): Timer {
    return this.env.timer(WATCH_EVERY_MS, () => {
      this.#watch = null;
      const now = this.env.now();
      let open = false;
      for (const { thread, holders, idleSince } of [...this.#members]) {
        if (holders > 0) thread.watch();
        else if (now - idleSince > IDLE_THREAD_MS) thread.end(new Error("It is not needed."));
        open ||= holders > 0;
      }
      if (this.#stopped === null && (open || this.#members.size > 0)) this.#watch = this.#look();
    });
  }
}

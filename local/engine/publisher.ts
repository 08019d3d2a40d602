/**
 * Makes commits visible: after the latency of storing them, which is modelled or a store's own, strictly in the order
 * of their timestamps, one at a time. Then, in this order, listeners, waiters for that timestamp, and the commit's own
 * caller.
 *
 * With a store, nothing is visible before the store has it. While it writes, the commits that come in gather, and go to
 * it together.
 */
import type { Environment } from "../environment.js";
import { callBack } from "./callbacks.js";
import { MAX_STORE_BATCH, STORE_RETRY } from "./limits.js";
import { RecentSnapshots } from "./recentSnapshots.js";
import type { Snapshot } from "./snapshot.js";
import { StoreClosedError, type Store, type StoredCommit } from "./store.js";
import type { PublishedCommit, Ts } from "./types.js";

/** A commit's change of the latest snapshot, and its record for the store. */
export interface Change {
  stored: StoredCommit;
  apply: (latest: Snapshot) => Snapshot;
}

interface Pending {
  commit: PublishedCommit;
  /** `null` until a change that depends on all before it is prepared. */
  change: Change | null;
  prepare: ((latest: Snapshot) => Change) | null;
  /** Why it could not be prepared: it is then published without effect. */
  failure: { error: unknown } | null;
  /** Its latency is over. */
  ready: boolean;
  settle: { resolve: () => void; reject: (error: unknown) => void };
}

export interface PublisherOptions {
  latencyMs: number;
  store: Store | undefined;
  onPublished: (ts: Ts) => void;
}

export class Publisher {
  #latest: Snapshot;
  readonly #recent = new RecentSnapshots();
  #pending: Pending[] = [];
  #waiting: { ts: Ts; resolve: () => void }[] = [];
  #busy = false;
  /** Set when the store is gone: nothing can be committed any more. */
  #gone: StoreClosedError | null = null;
  readonly #listeners = new Set<(commit: PublishedCommit) => void>();

  constructor(
    private readonly env: Environment,
    initial: Snapshot,
    private readonly options: PublisherOptions,
  ) {
    this.#latest = initial;
  }

  get latest(): Snapshot {
    return this.#latest;
  }

  /** The snapshot that was the latest at that time; `null` when it is forgotten, or yet to come. */
  at(ts: Ts): Snapshot | null {
    if (ts > this.#latest.ts) return null;
    return ts === this.#latest.ts ? this.#latest : this.#recent.at(ts);
  }

  /** Called in the order of timestamps. Resolves when the commit is visible. */
  publish(commit: PublishedCommit, change: Change): Promise<void> {
    return this.#enqueue(commit, change, null);
  }

  /**
   * For a change that depends on the latest snapshot: `prepare` is called when everything before it is visible, and
   * nothing else becomes visible until it is. When it throws, the timestamp is published without effect.
   */
  publishInTurn(commit: PublishedCommit, prepare: (latest: Snapshot) => Change): Promise<void> {
    return this.#enqueue(commit, null, prepare);
  }

  published(ts: Ts): Promise<void> {
    if (ts <= this.#latest.ts) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ ts, resolve }));
  }

  listen(listener: (commit: PublishedCommit) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #enqueue(
    commit: PublishedCommit,
    change: Change | null,
    prepare: Pending["prepare"],
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#gone !== null) return reject(this.#gone);
      const settle = { resolve, reject };
      const pending = { commit, change, prepare, failure: null, ready: false, settle };
      this.#pending.push(pending);
      if (change !== null) void this.#delay(pending, change);
      this.#advance();
    });
  }

  async #delay(pending: Pending, { stored }: Change): Promise<void> {
    const { latencyMs } = this.options;
    await this.env.spend({ kind: "persist", ...stored.size });
    if (latencyMs > 0) await this.env.sleep(latencyMs);
    pending.ready = true;
    this.#advance();
  }

  /** Publishes finished commits, or begins to store the next. Called whenever that may have changed. */
  #advance(): void {
    while (!this.#busy) {
      const batch = this.#nextBatch();
      if (batch.length === 0) return;
      this.#busy = true;
      const { store } = this.options;
      if (store === undefined) this.#publishAll(batch);
      else void this.#storeAndPublish(store, batch);
    }
  }

  /** The longest prefix that can be made visible together. */
  #nextBatch(): Pending[] {
    const head = this.#pending[0];
    if (head?.prepare) this.#prepare(head, head.prepare);
    const batch: Pending[] = [];
    for (const pending of this.#pending) {
      // Not ready: its latency is not over, or it is not its turn to be prepared.
      if (!pending.ready || batch.length === MAX_STORE_BATCH) break;
      batch.push(pending);
    }
    return batch;
  }

  #prepare(pending: Pending, prepare: (latest: Snapshot) => Change): void {
    pending.prepare = null;
    try {
      pending.change = prepare(this.#latest);
    } catch (error) {
      pending.failure = { error };
      pending.change = withoutEffect(pending.commit.ts);
    }
    void this.#delay(pending, pending.change);
  }

  async #storeAndPublish(store: Store, batch: readonly Pending[]): Promise<void> {
    try {
      await this.#store(
        store,
        batch.map(({ change }) => change!.stored),
      );
    } catch (error) {
      this.#gone = error as StoreClosedError;
      for (const { settle } of this.#pending.splice(0)) settle.reject(error);
      return;
    }
    this.#publishAll(batch);
    this.#advance();
  }

  /** Until it is stored: later commits depend on this one, so there is no way around it. */
  async #store(store: Store, commits: readonly StoredCommit[]): Promise<void> {
    for (let failures = 0; ; failures++) {
      try {
        return await store.append(commits);
      } catch (error) {
        if (error instanceof StoreClosedError) throw error;
        const delayMs = Math.min(STORE_RETRY.initialMs * 2 ** failures, STORE_RETRY.maxMs);
        console.error(
          `${commits.length} commits are not stored and not acknowledged: ${(error as Error).message}. ` +
            `Trying again in ${delayMs} ms.`,
        );
        await this.env.sleep(delayMs);
      }
    }
  }

  #publishAll(batch: readonly Pending[]): void {
    for (const pending of batch) {
      this.#pending.shift();
      this.#publishNext(pending);
    }
    this.#busy = false;
  }

  #publishNext({ commit, change, failure: unprepared, settle }: Pending): void {
    let failure = unprepared;
    this.#recent.replaced(this.#latest, commit.ts, this.env.now());
    try {
      this.#latest = change!.apply(this.#latest).at(commit.ts);
    } catch (error) {
      // The timestamp is spent and other transactions may wait for it: it is published, without effect.
      failure = { error };
      this.#latest = this.#latest.at(commit.ts);
    }
    this.options.onPublished(commit.ts);
    for (const listener of this.#listeners) callBack(() => listener(commit));
    const { ts } = this.#latest;
    const waited = this.#waiting.filter((waiter) => waiter.ts <= ts);
    this.#waiting = this.#waiting.filter((waiter) => waiter.ts > ts);
    for (const waiter of waited) waiter.resolve();
    if (failure) settle.reject(failure.error);
    else settle.resolve();
  }
}

function withoutEffect(ts: Ts): Change {
  return {
    stored: { ts, tables: [], writes: [], settings: new Map(), size: { documents: 0, bytes: 0 } },
    apply: (latest) => latest,
  };
}

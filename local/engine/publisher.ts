/**
 * Makes commits visible: after the modelled latency of storing them, strictly in the order of their timestamps, one at
 * a time. Then, in this order, listeners, those who waited for that timestamp, and the commit's own caller.
 */
import type { Environment } from "../environment.js";
import { callBack } from "./callbacks.js";
import type { Snapshot } from "./snapshot.js";
import type { PublishedCommit, Ts } from "./types.js";

interface Pending {
  commit: PublishedCommit;
  apply: (latest: Snapshot) => Snapshot;
  stored: boolean;
  settle: { resolve: () => void; reject: (error: unknown) => void };
}

export class Publisher {
  #latest: Snapshot;
  #pending: Pending[] = [];
  #waiting: { ts: Ts; resolve: () => void }[] = [];
  readonly #listeners = new Set<(commit: PublishedCommit) => void>();

  constructor(
    private readonly env: Environment,
    initial: Snapshot,
    private readonly options: { latencyMs: number; onPublished: (ts: Ts) => void },
  ) {
    this.#latest = initial;
  }

  get latest(): Snapshot {
    return this.#latest;
  }

  /** Called in the order of timestamps. Resolves when the commit is visible. */
  publish(commit: PublishedCommit, apply: (latest: Snapshot) => Snapshot): Promise<void> {
    return new Promise((resolve, reject) => {
      const pending = { commit, apply, stored: false, settle: { resolve, reject } };
      this.#pending.push(pending);
      void this.#store(pending);
    });
  }

  published(ts: Ts): Promise<void> {
    if (ts <= this.#latest.ts) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ ts, resolve }));
  }

  listen(listener: (commit: PublishedCommit) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #store(pending: Pending): Promise<void> {
    await this.env.sleep(this.options.latencyMs);
    pending.stored = true;
    while (this.#pending[0]?.stored) this.#publishNext(this.#pending.shift()!);
  }

  #publishNext({ commit, apply, settle }: Pending): void {
    let failure: { error: unknown } | undefined;
    try {
      this.#latest = apply(this.#latest).at(commit.ts);
    } catch (error) {
      // The timestamp is spent and others may wait for it: it is published, without effect.
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

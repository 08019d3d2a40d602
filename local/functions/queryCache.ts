/**
 * Results of queries, each with the span in which it holds: from the snapshot it was read at until the first commit
 * that writes into its read set. Runs under way are shared too, when they turn out to hold for the caller that joined.
 *
 * An error is kept for no caller, and one that waited for a run that failed runs the query anew.
 * application/src/cache/mod.rs: _get, perform_cache_op.
 */
import type { Database, PublishedCommit, ReadSet, Ts } from "../engine/types.js";
import { MAX_CACHED_QUERIES, TIME_DEPENDENT_CACHE_MS } from "./limits.js";
import type { Environment } from "../environment.js";

export interface Cacheable {
  /** False where it is an error. */
  ok: boolean;
  ts: Ts;
  reads: ReadSet;
  /** Whether it was computed from the time. */
  readsTime: boolean;
  /** Whether the result depends on the caller. */
  readsIdentity: boolean;
}

export interface Answer<T extends Cacheable> {
  result: T;
  /** Whether another call has run for it. */
  cached: boolean;
}

/** Where a result is looked for: among the results for any caller, and among the results for this one. */
export interface CacheKeys {
  anyone: string;
  caller: string;
}

interface Entry<T extends Cacheable> {
  result: T;
  at: number;
}

interface Run<T extends Cacheable> {
  beginTs: Ts;
  result: Promise<T>;
  /** Commits published since it began, which may have written into its read set. */
  commits: PublishedCommit[];
}

export class QueryCache<T extends Cacheable> {
  /** In the order of their last use: the first is the next to go. */
  readonly #entries = new Map<string, Entry<T>>();
  readonly #runs = new Map<string, Run<T>>();
  readonly #stop: () => void;

  constructor(
    private readonly env: Environment,
    private readonly database: Database,
  ) {
    this.#stop = database.onPublish((commit) => this.#follow(commit));
  }

  /**
   * Never waits before it searches: its result holds at `at`, or at the timestamp that is the latest when it is called.
   */
  get(keys: CacheKeys, run: () => Promise<T>, at?: Ts): Promise<Answer<T>> {
    const latest = this.database.latestTs;
    const wanted = at ?? latest;
    const key = this.#entries.has(keys.anyone) ? keys.anyone : keys.caller;
    const entry = this.#entries.get(key);
    if (
      entry !== undefined &&
      wanted <= latest &&
      entry.result.ts <= wanted &&
      this.#isFresh(entry)
    ) {
      this.#entries.delete(key);
      this.#entries.set(key, entry);
      return Promise.resolve({ result: { ...entry.result, ts: wanted }, cached: true });
    }
    const running = this.#runs.get(keys.caller);
    // Only a run on this very snapshot surely gives the result that this caller must see.
    if (running?.beginTs === wanted) return this.#join(running, () => this.get(keys, run, at));
    // Commits since then are not followed, so the span of the result is not known.
    return own(wanted === latest ? this.#start(keys, wanted, run) : run());
  }

  /** Other code gives other results. */
  clear(): void {
    this.#entries.clear();
    this.#runs.clear();
  }

  close(): void {
    this.#stop();
    this.clear();
  }

  async #join({ result }: Run<T>, again: () => Promise<Answer<T>>): Promise<Answer<T>> {
    const shared = await result;
    return shared.ok ? { result: shared, cached: true } : again();
  }

  #start(keys: CacheKeys, beginTs: Ts, run: () => Promise<T>): Promise<T> {
    const started: Run<T> = { beginTs, commits: [], result: run() };
    this.#runs.set(keys.caller, started);
    started.result.then(
      (result) => this.#finish(keys, started, result),
      () => this.#forget(keys.caller, started),
    );
    return started.result;
  }

  #finish(keys: CacheKeys, run: Run<T>, result: T): void {
    // A newer run, or a push, has taken its place.
    if (!this.#forget(keys.caller, run)) return;
    if (!result.ok || run.commits.some((commit) => commit.touches(result.reads))) return;
    const key = result.readsIdentity ? keys.caller : keys.anyone;
    this.#entries.set(key, { result, at: this.env.now() });
    if (this.#entries.size <= MAX_CACHED_QUERIES) return;
    const [oldest] = this.#entries.keys();
    this.#entries.delete(oldest!);
  }

  #forget(key: string, run: Run<T>): boolean {
    return this.#runs.get(key) === run && this.#runs.delete(key);
  }

  #isFresh({ result, at }: Entry<T>): boolean {
    return !result.readsTime || this.env.now() - at < TIME_DEPENDENT_CACHE_MS;
  }

  #follow(commit: PublishedCommit): void {
    for (const { commits } of this.#runs.values()) commits.push(commit);
    for (const [key, { result }] of this.#entries) {
      if (commit.touches(result.reads)) this.#entries.delete(key);
    }
  }
}

async function own<T extends Cacheable>(run: Promise<T>): Promise<Answer<T>> {
  return { result: await run, cached: false };
}

/**
 * The stage of a race: one function runner, and for every round an engine and a virtual clock of its own, drawn from a seed.
 * Costly state without influence is kept from round to round (contexts with the component's modules, which hold no state); state
 * that could make one round depend on another is not.
 */
import { createDatabase } from "../../local/engine/database.js";
import { seededEnvironment } from "../../local/engine/testing.js";
import type { Database, PublishedCommit, Transaction } from "../../local/engine/types.js";
import type { Environment, Timer } from "../../local/environment.js";
import { createFunctionRunner } from "../../local/functions/runner.js";
import type { Deployment, FunctionRunner } from "../../local/functions/types.js";

export interface RoundOptions {
  /** For controls: the engine commits without validation. */
  skipValidation?: boolean;
  /**
   * How many commits a snapshot query may lag behind its transaction, at most; each lag is drawn. The platform
   * promises no age, and the local backend's own snapshots have none.
   */
  snapshotLag?: number;
}

/** The seeded clock needs a timer to go on; so one rings this often, and does not count as waiting. */
const TICK_MS = 1_000;

/** A round has some fifty commits; one with more than this goes on without end, which is reported at once. */
const COMMITS_MAX = 600;

/** How long, in virtual time, a round may go on by itself after its last call. */
const REST_MS = 3_600_000;

/** A virtual clock that counts the timers that wait for it. */
class Clock implements Environment {
  waiting = 0;
  #seeded = seededEnvironment(0);
  #tick: Timer | null = null;
  #round = 0;

  restart(seed: number): void {
    this.stop();
    this.waiting = 0;
    this.#seeded = seededEnvironment(seed);
    this.#wind();
  }

  /** No pending timer rings any more: a round that failed may be left as it is. */
  stop(): void {
    this.#tick?.cancel();
    this.#round += 1;
  }

  #wind(): void {
    this.#tick = this.#seeded.timer(TICK_MS, () => this.#wind());
  }

  now = () => this.#seeded.now();
  random = () => this.#seeded.random();
  randomBytes = (length: number) => this.#seeded.randomBytes(length);
  pause = () => this.sleep(0);
  spend = () => this.sleep(0);
  outside: Environment["outside"] = (work) => work;
  fetch: Environment["fetch"] = (...args) => this.#seeded.fetch(...args);
  sleep = (ms: number) => new Promise<void>((resolve) => void this.timer(ms, resolve));

  timer = (ms: number, run: () => void): Timer => {
    const round = this.#round;
    // Finished jobs are purged in days: a round does not wait for that.
    let over = ms > REST_MS;
    const end = () => {
      if (!over) this.waiting -= 1;
      over = true;
    };
    if (!over) this.waiting += 1;
    const timer = this.#seeded.timer(ms, () => {
      if (round !== this.#round) return;
      end();
      run();
    });
    return {
      cancel: () => {
        end();
        timer.cancel();
      },
    };
  };
}

export class Stage {
  readonly clock = new Clock();
  readonly runner: FunctionRunner;
  /** The round's state after each of its commits, oldest first. */
  commits: { commit: PublishedCommit; state: Transaction }[] = [];
  /** Called once in a round that goes on without end. */
  onRestless: (() => void) | undefined;
  #database: Database = createDatabase(this.clock);
  readonly #listeners = new Set<(commit: PublishedCommit) => void>();
  #lag = 0;

  constructor(private readonly deployment: Deployment) {
    this.clock.restart(0);
    this.runner = createFunctionRunner(this.clock, this.#facade());
  }

  /** An empty database with the deployment on it. The last round must have come to rest. */
  async begin(seed: number, options: RoundOptions = {}): Promise<void> {
    const { skipValidation = false, snapshotLag = 0 } = options;
    this.clock.restart(seed);
    this.#lag = snapshotLag;
    this.#database = createDatabase(this.clock, { skipValidation });
    this.commits = [];
    this.onRestless = undefined;
    for (const [namespace, { definition }] of this.deployment.instances) {
      const { tables, schemaValidation: enforce } = definition;
      await this.#database.applySchema(namespace, tables, { enforce });
    }
    await this.runner.install(this.deployment);
    this.#database.onPublish((commit) => {
      this.commits.push({ commit, state: this.#database.begin() });
      if (this.commits.length === COMMITS_MAX) this.onRestless?.();
      for (const listener of this.#listeners) listener(commit);
    });
  }

  /** Resolves when nothing waits any more: no call, no scheduled function. `false` if that never comes. */
  async rest(): Promise<boolean> {
    const limit = this.clock.now() + REST_MS;
    for (let quiet = 0; quiet < 3;) {
      await new Promise((resolve) => setImmediate(resolve));
      quiet = this.clock.waiting === 0 ? quiet + 1 : 0;
      if (this.clock.now() > limit || this.commits.length > COMMITS_MAX) return false;
    }
    return true;
  }

  close(): void {
    this.clock.stop();
  }

  /** The runner's database: it passes calls on to each round's own. */
  #facade(): Database {
    const own: Partial<Database> = {
      begin: () => this.#begin(),
      onPublish: (listener) => {
        this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
      },
    };
    return new Proxy({} as Database, {
      get: (_, name: keyof Database) => {
        const value: unknown = own[name] ?? Reflect.get(this.#database, name, this.#database);
        return typeof value === "function" ? value.bind(this.#database) : value;
      },
    });
  }

  #begin(): Transaction {
    const transaction = this.#database.begin();
    const lag = Math.floor(this.clock.random() * (this.#lag + 1));
    const older = this.commits.at(-1 - lag)?.state;
    if (lag > 0 && older !== undefined)
      Object.assign(transaction, { staleSnapshot: () => older.staleSnapshot() });
    return transaction;
  }
}

/**
 * Permits to run: so many of a kind at once, first come first served. A call that waits too long is refused, as on the
 * platform; only runs that the scheduler has begun may wait without bound.
 *
 * A permit is held while a function runs, and by nothing else: not while its transaction commits, not while it waits
 * for a retry. It knows nothing of functions or transactions.
 */
import type { Environment } from "../environment.js";
import type { ClassLimits } from "./classes.js";
import { PlatformError } from "./errors.js";
import type { WaitKind } from "./events.js";
import { ACTION_PERMIT_WAIT_MS, PERMIT_WAIT_MS } from "./limits.js";

export interface Permits {
  queries: PermitPool;
  mutations: PermitPool;
  /** HTTP actions run on these too. */
  v8Actions: PermitPool;
  nodeActions: PermitPool;
}

export function createPermits(
  env: Environment,
  limits: ClassLimits,
  onWait: (kind: WaitKind, ms: number) => void,
): Permits {
  const pool = (what: string, kind: WaitKind, limit: number, maxWaitMs: number): PermitPool =>
    new PermitPool(env, { what, limit, maxWaitMs, onWait: (ms) => onWait(kind, ms) });
  return {
    queries: pool("queries", "queryPermit", limits.queries, PERMIT_WAIT_MS),
    mutations: pool("mutations", "mutationPermit", limits.mutations, PERMIT_WAIT_MS),
    v8Actions: pool("actions", "actionPermit", limits.v8Actions, ACTION_PERMIT_WAIT_MS),
    nodeActions: pool("Node actions", "actionPermit", limits.nodeActions, ACTION_PERMIT_WAIT_MS),
  };
}

export interface PoolOptions {
  /** The kind of call that runs with these permits, for the refusal. */
  what: string;
  limit: number;
  maxWaitMs: number;
  /** Called for each call that could not begin at once, refused or not. */
  onWait?: (ms: number) => void;
}

export class PermitPool {
  #running = 0;
  readonly #waiting = new Set<() => void>();

  constructor(
    private readonly env: Environment,
    private readonly options: PoolOptions,
  ) {}

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Runs with a permit, and gives it back however that ends. `patient`: waits without bound. */
  async run<T>(task: () => Promise<T>, { patient = false } = {}): Promise<T> {
    const waits = this.#running >= this.options.limit;
    if (waits) await this.#handedOver(patient);
    else this.#running++;
    try {
      if (waits) await this.env.spend({ kind: "permit" });
      return await task();
    } finally {
      this.#giveBack();
    }
  }

  /** Resolves when another call's permit has become the caller's. */
  #handedOver(patient: boolean): Promise<void> {
    const { env, options } = this;
    const since = env.now();
    return new Promise((resolve, reject) => {
      const told = () => options.onWait?.(env.now() - since);
      const timer = patient
        ? null
        : env.timer(options.maxWaitMs, () => {
            this.#waiting.delete(take);
            told();
            reject(tooManyConcurrentRequests(options));
          });
      const take = () => {
        timer?.cancel();
        told();
        resolve();
      };
      this.#waiting.add(take);
    });
  }

  /** To the call that has waited longest; without a gap in which a new call could take it. */
  #giveBack(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#running--;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}

/** The platform's code and status. */
function tooManyConcurrentRequests({ what, limit, maxWaitMs }: PoolOptions): PlatformError {
  return new PlatformError(
    429,
    "TooManyConcurrentRequests",
    `Too many concurrent requests. Your backend is limited to ${limit} concurrent ${what}, and none of them ended ` +
      `within ${maxWaitMs / 1000} s. Call fewer at once, or use a larger deployment class.`,
  );
}

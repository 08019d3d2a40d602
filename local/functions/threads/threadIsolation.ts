/** Functions in threads: each transaction and each action has one to itself, and nested calls run there too. */
import type { JSONValue } from "convex/values";
import type { Environment } from "../../environment.js";
import { PlatformError } from "../errors.js";
import { untilSettled, type Invocation, type Isolate, type Isolation } from "../invoke.js";
import { resultOf } from "../json.js";
import { ABORT_GRACE_MS, USER_TIME_MS, type ThreadKind } from "./limits.js";
import { ThreadPool } from "./pool.js";
import type { Thread } from "./thread.js";

export function threadIsolation(env: Environment, userTimeMs = USER_TIME_MS): Isolation {
  const pool = new ThreadPool(env, userTimeMs);
  return {
    open: () => new ThreadIsolate(env, pool),
    retire: () => pool.retire(),
    async stop() {
      pool.stop(new PlatformError(503, "BackendIsStopping", "The backend has stopped."));
    },
  };
}

class ThreadIsolate implements Isolate {
  #thread: Promise<Thread> | undefined;
  readonly #calls: Promise<string>[] = [];

  constructor(
    private readonly env: Environment,
    private readonly pool: ThreadPool,
  ) {}

  async run(invocation: Invocation): Promise<JSONValue> {
    const { host } = invocation;
    // Several at once may be nested in one transaction's first moment; they share the thread.
    this.#thread ??= this.pool.acquire(kindOf(invocation));
    const call = this.#thread.then((thread) => {
      const { id, result } = thread.call(invocation);
      this.#calls.push(result);
      host.aborted.catch(() => this.#giveUp(thread, id));
      return result;
    });
    return resultOf(await untilSettled(host, call), invocation.target.address.path);
  }

  /** The thread is free when nothing of this runs in it any more. */
  close(): void {
    this.#thread?.then(
      async (thread) => {
        await Promise.allSettled(this.#calls);
        this.pool.release(thread);
      },
      () => {},
    );
  }

  /** The call has ended for its caller. A call that does not end in its thread then, ends with the thread. */
  #giveUp(thread: Thread, call: number): void {
    if (!thread.has(call)) return;
    thread.abort(call);
    this.env.timer(ABORT_GRACE_MS, () => {
      if (thread.has(call)) thread.end(new PlatformError(503, "Aborted", "The call was aborted."));
    });
  }
}

function kindOf({ host, target: { instance, module } }: Invocation): ThreadKind {
  if (host.facts().kind === "transaction") return "transaction";
  return instance.definition.modules.get(module)?.environment === "node" ? "node" : "action";
}

/**
 * Mutations of clients' sessions that run now: one that is sent again over another connection, while the first still
 * runs, waits for that one. A finished one is known by its row, written in the mutation's own transaction.
 */
import type { Ts } from "../../engine/types.js";
import type { FunctionResult, SessionRequest } from "../../functions/types.js";

export type MutationOutcome = FunctionResult & { ts: Ts };

export class MutationLedger {
  readonly #running = new Map<string, Promise<MutationOutcome>>();

  /** Runs `run`, or gives the outcome of a running call with these numbers. */
  once(
    { sessionId, requestId }: SessionRequest,
    run: () => Promise<MutationOutcome>,
  ): Promise<MutationOutcome> {
    const key = `${sessionId}:${requestId}`;
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    const outcome = run().finally(() => this.#running.delete(key));
    this.#running.set(key, outcome);
    return outcome;
  }
}

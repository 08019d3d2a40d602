/**
 * Remembers what each client's mutations came to, so that one that is sent again after a lost connection is not run
 * again: the client keeps its session id and request numbers when it reconnects.
 *
 * The platform writes this record in the mutation's own transaction. Here data and record lie in the same memory, and
 * are lost together.
 */
import type { Ts } from "../../engine/types.js";
import type { FunctionResult } from "../../functions/types.js";
import { MAX_KEPT_MUTATION_CHARS, MAX_KEPT_MUTATIONS } from "../limits.js";

export type MutationOutcome = FunctionResult & { ts: Ts };

interface Kept {
  outcome: Promise<MutationOutcome>;
  /** How much is kept of it; 0 while it runs. */
  chars: number;
}

export class MutationLedger {
  readonly #outcomes = new Map<string, Kept>();
  #chars = 0;

  /** Runs `run`, or gives what an earlier or still running call with these numbers comes to. */
  once(
    sessionId: string,
    requestId: number,
    run: () => Promise<MutationOutcome>,
  ): Promise<MutationOutcome> {
    const key = `${sessionId}:${requestId}`;
    const known = this.#outcomes.get(key);
    if (known) return known.outcome;
    const kept: Kept = { outcome: run(), chars: 0 };
    this.#outcomes.set(key, kept);
    kept.outcome.then(
      (result) => {
        // What failed has changed nothing and is not remembered: sent again, it is tried again.
        if (!result.ok) return this.#forget(key, kept);
        if (this.#outcomes.get(key) !== kept) return;
        kept.chars = JSON.stringify([result.value, result.logs]).length;
        this.#chars += kept.chars;
        this.#trim();
      },
      () => this.#forget(key, kept),
    );
    this.#trim();
    return kept.outcome;
  }

  #forget(key: string, kept: Kept): void {
    if (this.#outcomes.get(key) !== kept) return;
    this.#outcomes.delete(key);
    this.#chars -= kept.chars;
  }

  /** Oldest first; a client only ever repeats what it sent last. */
  #trim(): void {
    for (const [key, oldest] of this.#outcomes) {
      const fits = this.#chars <= MAX_KEPT_MUTATION_CHARS || this.#outcomes.size === 1;
      if (fits && this.#outcomes.size <= MAX_KEPT_MUTATIONS) return;
      this.#forget(key, oldest);
    }
  }
}

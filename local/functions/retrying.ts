/**
 * Runs a transaction until it commits: again on a new snapshot when somebody else wrote what it had read.
 *
 * The snapshot of the first attempt is taken when this is called, before anything waits. A delay grows by doubling and
 * is drawn uniformly from zero up (full jitter), and never ends before the commit that was in the way can be seen: it
 * may still be on its way, and a new attempt would lose to it again.
 */
import { ConflictError, OutOfRetentionError } from "../engine/conflict.js";
import type { ConflictInfo, Transaction, Ts } from "../engine/types.js";
import type { Environment } from "../environment.js";
import { PlatformError } from "./errors.js";
import type { Services } from "./scope.js";

export interface RetryPolicy {
  maxRetries: number;
  initialBackoffMs: number;
  maxBackoffMs: number;
}

/** Clients' mutations, and those that actions call: 5 attempts in all. */
export const CALLED_MUTATION: RetryPolicy = {
  maxRetries: 4,
  initialBackoffMs: 100,
  maxBackoffMs: 2000,
};
/** Scheduled mutations are never given up. */
export const SCHEDULED_MUTATION: RetryPolicy = {
  maxRetries: Infinity,
  initialBackoffMs: 100,
  maxBackoffMs: 60_000,
};
/** What an action schedules or cancels. */
export const ACTION_WRITE: RetryPolicy = {
  maxRetries: 3,
  initialBackoffMs: 10,
  maxBackoffMs: 2000,
};
/** The scheduler's own writes: a run that ended must be recorded. */
export const SCHEDULER_WRITE: RetryPolicy = { ...ACTION_WRITE, maxRetries: Infinity };

export interface Attempt<T> {
  /** False drops the transaction, unvalidated: the function failed on its own. */
  commit: boolean;
  value: T;
}

export interface Committed<T> {
  value: T;
  /** The commit's, or the snapshot's where there was nothing to commit. */
  ts: Ts;
  /** Attempts that lost. */
  conflicts: number;
}

/** `source` is what those read who lose to this. */
export async function transact<T>(
  { env, database }: Pick<Services, "env" | "database">,
  source: string,
  policy: RetryPolicy,
  attempt: (tx: Transaction) => Promise<Attempt<T>>,
): Promise<Committed<T>> {
  for (let conflicts = 0; ; conflicts++) {
    const tx = database.begin();
    const { commit, value } = await attempt(tx);
    if (!commit) return { value, ts: tx.beginTs, conflicts };
    try {
      return { value, ts: await database.commit(tx, source), conflicts };
    } catch (error) {
      if (!(error instanceof ConflictError) && !(error instanceof OutOfRetentionError)) throw error;
      if (conflicts >= policy.maxRetries)
        throw new TransactionLostError(error, source, conflicts + 1);
      const seen =
        error instanceof ConflictError ? database.published(error.conflict.ts) : Promise.resolve();
      await Promise.all([env.sleep(backoffMs(env, policy, conflicts)), seen]);
    }
  }
}

export function backoffMs(env: Environment, policy: RetryPolicy, failures: number): number {
  const ceiling = Math.min(policy.initialBackoffMs * 2 ** failures, policy.maxBackoffMs);
  return ceiling * env.random();
}

/** Every attempt lost to another transaction. */
export class TransactionLostError extends PlatformError {
  constructor(
    cause: ConflictError | OutOfRetentionError,
    source: string,
    readonly conflicts: number,
  ) {
    const message =
      cause instanceof ConflictError ? conflictMessage(cause.conflict, source) : cause.message;
    super(503, "OptimisticConcurrencyControlFailure", message);
  }
}

function conflictMessage({ table, id, source: other }: ConflictInfo, source: string): string {
  if (table.startsWith("_")) {
    return "Data read or written in this mutation changed while it was being run. Consider reducing the amount of data read by using indexed queries with selective index range expressions (https://docs.convex.dev/database/indexes/).";
  }
  const writer = other === source ? "Another call to this mutation" : `A call to "${other}"`;
  return (
    `Documents read from or written to the "${table}" table changed while this mutation was being run and on every ` +
    `subsequent retry. ${writer} changed the document with ID "${id}". See https://docs.convex.dev/error#1`
  );
}

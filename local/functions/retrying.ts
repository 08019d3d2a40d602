/**
 * Runs a transaction until it commits: again on a new snapshot when another commit wrote into its read set, or when the
 * deployment has written too much.
 *
 * The snapshot of the first attempt is taken when this is called, before anything waits. A delay grows by doubling and
 * is drawn uniformly from zero up (full jitter).
 */
import { ConflictError, OutOfRetentionError } from "../engine/conflict.js";
import type { ConflictInfo, Transaction, Ts } from "../engine/types.js";
import type { Environment } from "../environment.js";
import { Account } from "./account.js";
import { PlatformError } from "./errors.js";
import type { Services } from "./scope.js";
import { TooManyWritesError } from "./writeRate.js";

export interface RetryPolicy {
  maxRetries: number;
  initialBackoffMs: number;
  maxBackoffMs: number;
  /**
   * Whether it retries only once the commit that it lost to is visible: that one may still be on its way, and a new
   * attempt would lose to it again. The platform's scheduler does not wait for it.
   */
  waitsForWriter: boolean;
}

/** Mutations of clients and of actions: 5 attempts in all. knobs.rs: UDF_EXECUTOR_OCC_*. */
export const CALLED_MUTATION: RetryPolicy = {
  maxRetries: 4,
  initialBackoffMs: 100,
  maxBackoffMs: 2000,
  waitsForWriter: true,
};
/** Scheduled mutations are never given up. knobs.rs: SCHEDULER_OCC_*. */
export const SCHEDULED_MUTATION: RetryPolicy = {
  maxRetries: Infinity,
  initialBackoffMs: 100,
  maxBackoffMs: 60_000,
  waitsForWriter: false,
};
/** An action's own schedules and cancellations. database.rs. */
export const ACTION_WRITE: RetryPolicy = {
  maxRetries: 3,
  initialBackoffMs: 10,
  maxBackoffMs: 2000,
  waitsForWriter: true,
};
/** The scheduler's own writes: the caller decides about a failure. */
export const ONCE: RetryPolicy = { ...ACTION_WRITE, maxRetries: 0 };

export interface Attempt<T> {
  /** False drops the transaction, unvalidated: the function failed on its own. */
  commit: boolean;
  value: T;
}

export interface Committed<T> {
  value: T;
  /** The commit's, or the snapshot's where there was nothing to commit. */
  ts: Ts;
  /** Attempts that lost to another transaction. */
  conflicts: number;
}

/** Work that is the platform's own and no function's: its cost is reported here, where it ends. */
export async function transact<T>(
  services: Pick<Services, "env" | "database" | "events">,
  source: string,
  policy: RetryPolicy,
  attempt: (tx: Transaction) => Promise<Attempt<T>>,
): Promise<Committed<T>> {
  const account = new Account();
  try {
    return await transactFor(services, { source, author: source, account }, policy, attempt);
  } finally {
    services.events.housekept({ source, spent: account });
  }
}

/** The transaction's owner. */
export interface OnBehalf {
  /** The name that conflict errors show to the losing transaction. */
  source: string;
  /** The name of the real author. */
  author: string;
  /** Receives the cost of each attempt. */
  account: Account;
}

export async function transactFor<T>(
  { env, database }: Pick<Services, "env" | "database">,
  { source, author, account }: OnBehalf,
  policy: RetryPolicy,
  attempt: (tx: Transaction) => Promise<Attempt<T>>,
): Promise<Committed<T>> {
  let conflicts = 0;
  for (let failures = 0; ; failures++) {
    const tx = database.begin();
    try {
      const { commit, value } = await attempt(tx);
      const ts = commit ? await database.commit(tx, source, author) : tx.beginTs;
      account.stands(tx, commit ? "committed" : "dropped");
      return { value, ts, conflicts };
    } catch (error) {
      const lost = error instanceof ConflictError ? error.conflict : null;
      if (lost !== null) {
        account.loses(tx, lost);
        conflicts++;
      }
      const passing = lost !== null || error instanceof TooManyWritesError;
      if (!passing || failures >= policy.maxRetries) {
        throw refusalOf(error, source, conflicts);
      }
      account.retries++;
      await env.sleep(backoffMs(env, policy, failures));
      if (lost !== null && policy.waitsForWriter) await database.published(lost.ts);
    }
  }
}

export function backoffMs(env: Environment, policy: RetryPolicy, failures: number): number {
  const ceiling = Math.min(policy.initialBackoffMs * 2 ** failures, policy.maxBackoffMs);
  return ceiling * env.random();
}

/** For work that must be done however often it fails. */
export async function untilDone<T>(
  env: Environment,
  policy: RetryPolicy,
  work: () => Promise<T>,
): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await work();
    } catch {
      await env.sleep(backoffMs(env, policy, failures));
    }
  }
}

/** The caller's error when there is no other attempt. */
function refusalOf(error: unknown, source: string, conflicts: number): unknown {
  if (error instanceof ConflictError) {
    return new TransactionLostError(conflictMessage(error.conflict, source), conflicts);
  }
  if (error instanceof OutOfRetentionError) {
    return new PlatformError(503, "OutOfRetention", error.message);
  }
  return error;
}

/** Every attempt lost to another transaction. */
export class TransactionLostError extends PlatformError {
  constructor(
    message: string,
    readonly conflicts: number,
  ) {
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

/**
 * The shared parts of the engine's tests: an environment with virtual time and an interleaving drawn from a seed, so
 * that a race that was seen once is seen every time; and transactions that retry as the platform's callers do.
 */
import type { Environment } from "../environment.js";
import { createVirtualClock } from "../virtual/clock.js";
import { ConflictError } from "./conflict.js";
import type { Database, Doc, IndexRange, RangeBound, Transaction, Ts } from "./types.js";

/** More attempts than any test needs: a livelock fails instead of hanging. */
const MAX_ATTEMPTS = 1000;

/** Time is virtual and drives itself: a pause waits until it is drawn, among all that are due. */
export function seededEnvironment(seed: number): Environment {
  return createVirtualClock({ seed, selfDriven: true });
}

/** Runs a transaction until it commits, each time on a new snapshot. */
export async function transact<T>(
  database: Database,
  source: string,
  run: (transaction: Transaction) => Promise<T>,
): Promise<{ value: T; ts: Ts; conflicts: number }> {
  for (let conflicts = 0; conflicts < MAX_ATTEMPTS; conflicts++) {
    const transaction = database.begin();
    const value = await run(transaction);
    try {
      return { value, ts: await database.commit(transaction, source), conflicts };
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      await database.published(error.conflict.ts);
    }
  }
  throw new Error(`"${source}" has lost to other commits ${MAX_ATTEMPTS} times.`);
}

export function range(
  table: string,
  index: string,
  bounds: RangeBound[] = [],
  order: "asc" | "desc" = "asc",
): IndexRange {
  return { table, index, range: bounds, order };
}

/** The first `n` rows of a range, read as `take(n)` does: without asking for one more. */
export async function take(transaction: Transaction, where: IndexRange, n: number): Promise<Doc[]> {
  const rows: Doc[] = [];
  if (n === 0) return rows;
  for await (const doc of transaction.stream("", where)) {
    rows.push(doc);
    if (rows.length === n) break;
  }
  return rows;
}

export function collect(transaction: Transaction, where: IndexRange): Promise<Doc[]> {
  return take(transaction, where, Infinity);
}

/**
 * The budget of one transaction, as the functions in it see it: the limits, the remainder, and the `transactionLimits`
 * of a nested call, which come on top of the transaction's earlier use and never lift a limit. The engine enforces its
 * own counters; scheduling is counted here.
 */
import { LimitError } from "../limitErrors.js";
import type { TransactionLimits } from "../limits.js";
import type { TransactionScope } from "./scope.js";
import { requireCounts } from "./syscalls.js";

type Scope = Pick<TransactionScope, "tx" | "scheduled">;

export function usedBy({ tx: { usage }, scheduled }: Scope): TransactionLimits {
  return {
    bytesRead: usage.bytesRead,
    bytesWritten: usage.bytesWritten,
    databaseQueries: usage.databaseQueries,
    documentsRead: usage.documentsRead,
    documentsWritten: usage.documentsWritten,
    functionsScheduled: scheduled.functions,
    scheduledFunctionArgsBytes: scheduled.argsBytes,
  };
}

/** Runs with less, and puts things back. Limits on files are let pass: the engine counts none. */
export async function withBudget<T>(
  scope: Scope,
  budget: Partial<Record<string, number>> | undefined,
  run: () => Promise<T>,
): Promise<T> {
  const { tx } = scope;
  const outer = tx.limits;
  const used = usedBy(scope);
  requireCounts(
    "runUdf",
    Object.fromEntries(Object.entries(budget ?? {}).filter(([name]) => name in used)),
  );
  const lowered = Object.entries(used).map(([name, spent]) => {
    const counter = name as keyof TransactionLimits;
    return [counter, Math.min(spent + (budget?.[counter] ?? Infinity), outer[counter])];
  });
  tx.limits = Object.fromEntries(lowered);
  try {
    return await run();
  } finally {
    tx.limits = outer;
  }
}

/** Refused before it is counted; schedules that were rolled back stay counted, as reads do. */
export function countScheduled({ tx, scheduled }: Scope, argsBytes: number): void {
  const { limits, global } = tx;
  if (scheduled.functions >= limits.functionsScheduled) {
    throw new LimitError("functionsScheduled", limits, global);
  }
  if (scheduled.argsBytes + argsBytes > limits.scheduledFunctionArgsBytes) {
    throw new LimitError("scheduledFunctionArgsBytes", limits, global);
  }
  scheduled.functions++;
  scheduled.argsBytes += argsBytes;
}

/**
 * `transactionLimits` of a nested call: what it may still use, on top of what its transaction has used already, and
 * never more than the platform allows in all. Whoever goes over gets an error that it, or its caller, can catch.
 */
import { FunctionError } from "./errors.js";
import { TRANSACTION_LIMITS } from "./limits.js";
import type { TransactionScope } from "./scope.js";
import type { AsyncSyscalls } from "./syscalls.js";

type Counter = keyof typeof TRANSACTION_LIMITS;
/** What a transaction's counters may reach while a call runs. */
export type Ceilings = Partial<Record<Counter, number>>;

/** The platform's codes and words. */
const OVERRUN: Record<Counter, [code: string, what: string]> = {
  bytesRead: ["TooManyBytesRead", "Too many bytes read in a single function execution"],
  bytesWritten: ["TooManyBytesWritten", "Too many bytes written in a single function execution"],
  databaseQueries: ["TooManyReads", "Too many reads in a single function execution"],
  documentsRead: ["TooManyDocumentsRead", "Too many documents read in a single function execution"],
  documentsWritten: ["TooManyWrites", "Too many writes in a single function execution"],
  functionsScheduled: ["TooManyFunctionsScheduled", "Too many functions scheduled"],
  scheduledFunctionArgsBytes: [
    "ScheduledFunctionsArgumentsTooLarge",
    "Too large arguments of scheduled functions",
  ],
};
const COUNTERS = Object.keys(TRANSACTION_LIMITS) as Counter[];

export function usedBy({ tx: { usage }, scheduled }: TransactionScope): Record<Counter, number> {
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

/** A call inside a limited one is limited by both. Limits on files are let pass: there are none to count. */
export function ceilingsOf(
  scope: TransactionScope,
  outer: Ceilings,
  limits: Record<string, number> = {},
): Ceilings {
  const used = usedBy(scope);
  const ceilings = { ...outer };
  for (const counter of COUNTERS) {
    const limit = limits[counter];
    if (limit === undefined) continue;
    const ceiling = Math.min(used[counter] + limit, TRANSACTION_LIMITS[counter]);
    ceilings[counter] = Math.min(ceiling, outer[counter] ?? Infinity);
  }
  return ceilings;
}

/** The operations, each of which fails when it, or one before it, has gone over. */
export function within(
  ceilings: Ceilings,
  scope: TransactionScope,
  operations: AsyncSyscalls,
): AsyncSyscalls {
  if (Object.keys(ceilings).length === 0) return operations;
  const limited = Object.entries(operations).map(([name, run]): [string, typeof run] => [
    name,
    async (args) => {
      const value = await run(args);
      requireWithin(ceilings, scope);
      return value;
    },
  ]);
  return Object.fromEntries(limited);
}

function requireWithin(ceilings: Ceilings, scope: TransactionScope): void {
  const used = usedBy(scope);
  for (const counter of COUNTERS) {
    const ceiling = ceilings[counter];
    if (ceiling === undefined || used[counter] <= ceiling) continue;
    const [code, what] = OVERRUN[counter];
    throw new FunctionError(
      `${code}: ${what} (limit: ${ceiling}, by transactionLimits.${counter} of the call). ` +
        `Do less in one call, or give it more.`,
    );
  }
}

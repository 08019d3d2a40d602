/**
 * `ctx.runQuery` and `ctx.runMutation` inside a query or mutation: the callee runs in its own sandbox and component, in
 * the caller's transaction.
 */
import type { JSONValue } from "convex/values";
import { withBudget } from "./budget.js";
import { FunctionError } from "./errors.js";
import { seededRandom, SEED_BYTES } from "./random.js";
import { resolveReference, type Reference } from "./references.js";
import type { Execution, Services } from "./scope.js";
import type { AsyncSyscalls } from "./syscalls.js";
import { checkReturns } from "./values.js";

type Run = (services: Services, execution: Execution, args: JSONValue) => Promise<JSONValue>;

interface RunArgs extends Reference {
  udfType: "query" | "mutation" | "snapshotQuery";
  args: JSONValue;
  transactionLimits?: Record<string, number>;
}

export function nestedCalls(services: Services, caller: Execution, run: Run): AsyncSyscalls {
  return {
    "1.0/runUdf": ({ udfType, args, transactionLimits: limits, ...reference }: RunArgs) => {
      switch (udfType) {
        case "query":
          return limited(callee(caller, reference, "Query"), limits, (execution) =>
            runQuery(services, execution, args, run),
          );
        case "snapshotQuery":
          return limited(onSnapshot(callee(caller, reference, "Query")), limits, (execution) =>
            runQuery(services, execution, args, run),
          );
        case "mutation":
          return limited(callee(caller, reference, "Mutation"), limits, (execution) =>
            runMutation(services, execution, args, run),
          );
      }
    },
  };
}

/** System calls of a transaction run one after the other, so no other call runs under the callee's limits. */
function limited<T>(
  execution: Execution,
  limits: Record<string, number> | undefined,
  run: (execution: Execution) => Promise<T>,
): Promise<T> {
  return withBudget(execution.scope, limits, () => run(execution));
}

function callee(caller: Execution, reference: Reference, type: "Query" | "Mutation"): Execution {
  const { scope, target, depth } = caller;
  if (type === "Mutation" && target.analyzed.udfType !== "Mutation") {
    throw new FunctionError(
      `'${target.address.path}' is a query and cannot run a mutation. Make it a mutation.`,
    );
  }
  const { callDepth } = scope.tx.global;
  if (depth + 1 > callDepth) {
    throw new FunctionError(
      `Cross component call depth limit exceeded. Limit is ${callDepth} nested calls: call less deep, or do ` +
        `the work in one function.`,
    );
  }
  return {
    scope,
    target: resolveReference(scope.deployment, target.address.namespace, reference, type),
    // From the caller's, so that one seed replays the whole transaction.
    random: seededRandom(caller.random.bytes(SEED_BYTES)),
    depth: depth + 1,
    ...(caller.isolate === undefined ? {} : { isolate: caller.isolate }),
  };
}

async function runQuery(
  services: Services,
  execution: Execution,
  args: JSONValue,
  run: Run,
): Promise<JSONValue> {
  const value = await run(services, execution, args);
  checkReturns(execution.target, value, execution.scope.tx);
  return value;
}

/**
 * The caller's snapshot without the caller's writes; its reads join no read set. A hint, never a proof. It counts from
 * zero, up to where its caller may count.
 */
function onSnapshot(execution: Execution): Execution {
  const scope = { ...execution.scope, tx: execution.scope.tx.staleSnapshot() };
  return { ...execution, scope };
}

/**
 * A failed mutation's writes are undone, its reads stay: the caller may have decided by it. As on the platform, the
 * writes are the caller's before the return value is checked: a caller that catches a `ReturnsValidationError` keeps
 * them.
 */
async function runMutation(
  services: Services,
  execution: Execution,
  args: JSONValue,
  run: Run,
): Promise<JSONValue> {
  const { scope, target } = execution;
  const savepoint = scope.tx.savepoint();
  let value: JSONValue;
  try {
    value = await run(services, execution, args);
  } catch (error) {
    savepoint.rollback();
    throw error;
  }
  savepoint.release();
  checkReturns(target, value, scope.tx);
  return value;
}

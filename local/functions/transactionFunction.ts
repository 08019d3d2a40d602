/** Runs a query or mutation, and its nested calls, inside a transaction that its caller begins and commits. */
import type { JSONValue } from "convex/values";
import { storageReads, storageWrites } from "../files/storageSyscalls.js";
import { databaseReads, databaseWrites } from "./databaseSyscalls.js";
import { commonMetadata, transactionMetrics } from "./metadataSyscalls.js";
import { nestedCalls } from "./nestedCalls.js";
import { scheduling } from "./schedulingSyscalls.js";
import type { Execution, Services } from "./scope.js";
import type { AsyncSyscalls } from "./syscalls.js";
import { TransactionHost } from "./transactionHost.js";
import { checkArguments, requireResult } from "./values.js";

/** The result is not checked here: the moment of that check differs between the outermost function and nested ones. */
export async function runInTransaction(
  services: Services,
  execution: Execution,
  args: JSONValue,
): Promise<JSONValue> {
  const { scope, target, isolate } = execution;
  if (isolate === undefined) return inIsolateOfItsOwn(services, execution, args);
  checkArguments(target, args, scope.tx, { nested: execution.depth > 0 });
  const reads = databaseReads(execution);
  const operations: AsyncSyscalls = {
    ...reads.async,
    ...storageReads(services, execution),
    ...nestedCalls(services, execution, runInTransaction),
    ...commonMetadata(services, scope.request, target, scope.deployment, scope.observed),
    ...transactionMetrics(scope),
  };
  if (target.analyzed.udfType === "Mutation") {
    Object.assign(operations, databaseWrites(execution), scheduling(services, execution));
    Object.assign(operations, storageWrites(services, execution));
  }
  await services.env.spend({ kind: "context", nested: execution.depth > 0 });
  const host = new TransactionHost(services, execution, reads.sync, operations);
  const { requestId } = scope.request;
  const value = await isolate.run({ target, host, args, requestId });
  requireResult(target, value, scope.tx);
  return value;
}

/** The outermost function's: nested functions run in it too. */
async function inIsolateOfItsOwn(
  services: Services,
  execution: Execution,
  args: JSONValue,
): Promise<JSONValue> {
  const isolate = services.sandboxes.open();
  try {
    return await runInTransaction(services, { ...execution, isolate }, args);
  } finally {
    isolate.close();
  }
}

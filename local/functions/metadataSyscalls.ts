/** The functions' view of themselves: `ctx.meta`, `ctx.auth`, and handles of functions. */
import type { JSONValue } from "convex/values";
import { usedBy } from "./budget.js";
import { FunctionError } from "./errors.js";
import { userOf } from "./identity.js";
import { shownPath, type Target } from "./lookup.js";
import { handleOf, resolveReference, type Reference } from "./references.js";
import type { Request, Services, TransactionScope } from "./scope.js";
import type { AsyncSyscalls } from "./syscalls.js";
import type { Deployment } from "./types.js";

/** For all three types of function. */
export function commonMetadata(
  { options }: Services,
  request: Request,
  { address, analyzed }: Target,
  deployment: Deployment,
  observed: { identity: boolean } = { identity: false },
): AsyncSyscalls {
  const requestMetadata: AsyncSyscalls = {
    "1.0/getRequestMetadata": async () => ({
      // Nothing between client and backend is remembered here.
      ip: null,
      userAgent: null,
      authToken: request.identity.kind === "user" ? request.identity.token : null,
      requestId: request.requestId,
      scheduledFunctionId: request.scheduledBy?.id ?? null,
    }),
  };
  return {
    "1.0/getUserIdentity": async () => {
      observed.identity = true;
      const { identity } = request;
      // Only to actions, as on the platform: a transaction knows nothing of it (action/task_executor.rs, `user_identity`).
      if (analyzed.udfType === "Action" && identity.kind === "none" && identity.refusal) {
        throw new FunctionError(identity.refusal);
      }
      return userOf(identity);
    },
    "1.0/createFunctionHandle": async (reference: Reference) =>
      handleOf(resolveReference(deployment, address.namespace, reference, null).address),
    "1.0/getFunctionMetadata": async () => ({
      name: shownPath(address.path),
      componentPath: address.namespace,
    }),
    "1.0/getDeploymentMetadata": async () => ({
      name: options.deploymentName,
      region: null,
      class: options.class,
    }),
    // A query's result is shared by all its callers, so it must not depend on the caller.
    ...(analyzed.udfType === "Query" ? {} : requestMetadata),
  };
}

/** For queries and mutations: the transaction's use so far, and the remainder of this call's budget. */
export function transactionMetrics(scope: TransactionScope): AsyncSyscalls {
  return {
    "1.0/getTransactionMetrics": async () => {
      const metrics: Record<string, JSONValue> = { ...NO_FILES };
      const { limits } = scope.tx;
      for (const [name, used] of Object.entries(usedBy(scope))) {
        // Below zero once a limit was hit and the function went on: the excess is counted.
        metrics[name] = { used, remaining: limits[name as keyof typeof limits] - used };
      }
      return metrics;
    },
  };
}

/** There is no file storage here, so none of it is used and none is left. */
const NO_FILES = Object.fromEntries(
  ["filesWritten", "fileWriteBytes", "filesRead", "fileReadBytes"].map((name) => [
    name,
    { used: 0, remaining: 0 },
  ]),
);

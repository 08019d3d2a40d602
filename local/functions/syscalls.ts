/**
 * The types of system calls, and the errors of operations that are not implemented. Each operation is in the file named
 * for it.
 */
import type { JSONValue } from "convex/values";
import { FunctionError } from "./errors.js";
import type { Target } from "./lookup.js";

/** By operation: `1.0/get`. Arguments come as `convex/server` sends them. */
export type SyncSyscalls = Record<string, (args: any) => JSONValue>;
export type AsyncSyscalls = Record<string, (args: any) => Promise<JSONValue>>;

/** Operations of the platform that this backend does not have, by the names that developers know. */
const LEFT_OUT: [RegExp, string][] = [
  [/vectorSearch$/, "Vector search (ctx.vectorSearch)"],
  [/^1\.0\/signJwt$/, "Signing tokens (ctx.auth.signJwt)"],
  [/^1\.0\/createServiceToken$|^1\.0\/getServiceUrl$/, "Convex-managed services"],
  [/^1\.0\/auditLog$/, "The audit log"],
];

/** In a transaction there is no waiting for bytes. */
const FILES: Record<string, string> = {
  "1.0/storageStore": "storage.store",
  "1.0/storageGet": "storage.get",
};

/** Operations that exist, but not for this type of function. */
const WRITES =
  /^1\.0\/(insert|shallowMerge|replace|remove|schedule|cancel_job|storageDelete|storageGenerateUploadUrl)$/;

export function unknownSyscall(operation: string, { analyzed, address }: Target): Error {
  const leftOut = LEFT_OUT.find(([pattern]) => pattern.test(operation));
  if (leftOut !== undefined) {
    return new Error(
      `${leftOut[1]} is not supported by the local backend ("${operation}", called by '${address.path}'). ` +
        `Use a real deployment for it.`,
    );
  }
  const file = FILES[operation];
  if (file !== undefined) {
    return new Error(
      `Can't use ${file} in queries and mutations. Please consider using an action. ` +
        `See https://docs.convex.dev/functions/actions for more details.`,
    );
  }
  if (analyzed.udfType === "Query" && WRITES.test(operation)) {
    return new Error(`"${operation}" writes, and '${address.path}' is a query. Use a mutation.`);
  }
  // `convex/server` searches for the first three words.
  return new Error(
    `Unknown async operation "${operation}": the local backend has none of that name for a ${analyzed.udfType.toLowerCase()}.`,
  );
}

/**
 * Counts are whole on the platform, and anything else is refused as it reads the call. With serde's words for a fraction;
 * what JSON has no number for comes as `null` (async_syscall.rs: with_argument_error).
 */
export function requireCounts(operation: string, counts: Record<string, unknown>): void {
  for (const [name, count] of Object.entries(counts)) {
    if (Number.isInteger(count) && (count as number) >= 0 && (count as number) < 2 ** 64) continue;
    throw new Error(
      `Invalid arguments for \`${operation}\`: invalid type: ${JSON.stringify(count)}, expected usize. ` +
        `${name} must be a whole number of 0 or more.`,
    );
  }
}

/** As `convex/server` expects a rejection: the message, and a `ConvexError`'s data in JSON beside it. */
export function syscallError(error: unknown): Error {
  const failure = new Error(error instanceof Error ? error.message : String(error));
  if (error instanceof FunctionError && error.data !== undefined) {
    Object.assign(failure, { data: error.data });
  }
  return failure;
}

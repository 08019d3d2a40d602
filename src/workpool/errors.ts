/** Failures that no retry mends, thrown by a function that a pool runs. */
import { ConvexError, type Value } from "convex/values";
import { NON_RETRYABLE_OF_WORKPOOL } from "../shared/index.js";

/**
 * Thrown by an action, ends its work as failed, however many retries are left. `onComplete` receives
 * `{ kind: "failed", error: message }`.
 *
 * @example
 * if (!email.includes("@")) throw new NonRetryableError("Invalid email address");
 */
export class NonRetryableError extends ConvexError<{ message: string } & Record<string, Value>> {
  constructor(message: string, options?: ErrorOptions) {
    // Only the data of a ConvexError crosses from a function to its caller.
    super({ conveyor: "nonRetryable", [NON_RETRYABLE_OF_WORKPOOL]: true, message });
    this.name = new.target.name;
    if (options?.cause !== undefined) this.cause = options.cause;
  }
}

/** Whether it is a {@link NonRetryableError}, also one that has crossed from another function or was bundled twice. */
export function isNonRetryableError(error: unknown): boolean {
  if (error instanceof NonRetryableError) return true;
  if (!(error instanceof ConvexError)) return false;
  const data: unknown = error.data;
  if (typeof data !== "object" || data === null) return false;
  return (
    ("conveyor" in data && data.conveyor === "nonRetryable") || NON_RETRYABLE_OF_WORKPOOL in data
  );
}

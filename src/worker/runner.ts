/** Runs one handler and says how it ended. Knows nothing of leases, slots or calls. */
import type { Outcome } from "../shared/index.js";
import { outcomeOfError, outcomeOfValue } from "./outcome.js";
import type { Job } from "./types.js";

export interface HandlerEnd {
  outcome: Outcome;
  /** Why the result that it returned is none. */
  refused?: string;
  /** It returned nothing: after a signal to stop that is no success. */
  isSilent?: boolean;
  /** The thrown value, if it has thrown. */
  thrown?: unknown;
}

/** Always resolves: each end of the handler is an outcome. A handler that never ends leaves it pending. */
export async function runHandler<Given = Job>(
  handler: (job: Given) => unknown,
  job: Given,
): Promise<HandlerEnd> {
  try {
    return await runOnce(handler, job);
  } catch {
    // The error or value throws again when it is read.
    return { outcome: { kind: "failed", error: UNREADABLE } };
  }
}

async function runOnce<Given>(handler: (job: Given) => unknown, job: Given): Promise<HandlerEnd> {
  let value: unknown;
  try {
    value = await handler(job);
  } catch (error) {
    return { outcome: outcomeOfError(error), thrown: error };
  }
  const outcome = outcomeOfValue(value);
  if (outcome.kind === "failed") return { outcome, refused: outcome.error };
  return { outcome, isSilent: value === undefined };
}

export const UNREADABLE = "The handler's error or result cannot be read: reading it throws.";

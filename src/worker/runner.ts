/** Runs one handler and says how it ended. Knows nothing of leases, slots or calls. */
import { COST_DEFAULT, PRIORITY_DEFAULT, type ClaimedJob, type Outcome } from "../shared/index.js";
import { outcomeOfError, outcomeOfValue } from "./outcome.js";
import type { Handler, HandlerContext, Job } from "./types.js";

export interface HandlerEnd {
  outcome: Outcome;
  /** Why the result that it returned is none. */
  refused?: string;
  /** It returned nothing: of a handler that was told to stop that is no success. */
  isSilent?: boolean;
}

/** Always resolves: whatever the handler does is an outcome. A handler that never ends leaves it pending. */
export async function runHandler(
  handler: Handler,
  claimed: ClaimedJob,
  context: HandlerContext,
): Promise<HandlerEnd> {
  try {
    return await runOnce(handler, claimed, context);
  } catch {
    // The error or value throws again when it is looked at.
    return { outcome: { kind: "failed", error: UNREADABLE } };
  }
}

async function runOnce(
  handler: Handler,
  claimed: ClaimedJob,
  context: HandlerContext,
): Promise<HandlerEnd> {
  let value: unknown;
  try {
    value = await handler(jobOf(claimed), context);
  } catch (error) {
    return { outcome: outcomeOfError(error) };
  }
  const outcome = outcomeOfValue(value);
  if (outcome.kind === "failed") return { outcome, refused: outcome.error };
  return { outcome, isSilent: value === undefined };
}

const UNREADABLE = "The handler's error or result cannot be read: looking at it throws.";

/** The job as its handler gets it: what says nothing is filled in. */
function jobOf({ leaseMs: _, ...job }: ClaimedJob): Job {
  return {
    ...job,
    // What is due once a round must not be taken for what was done in the last.
    idempotencyKey: job.rounds === undefined ? job.id : `${job.id}:${job.rounds}`,
    priority: job.priority ?? PRIORITY_DEFAULT,
    tags: job.tags ?? [],
    labels: job.labels ?? [],
    cost: job.cost ?? COST_DEFAULT,
    rounds: job.rounds ?? 0,
  } as Job;
}

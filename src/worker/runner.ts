/** Runs one handler and says how it ended. Knows nothing of leases, slots or calls. */
import type { ClaimedJob, Outcome } from "../shared/index.js";
import { outcomeOfError, outcomeOfValue } from "./outcome.js";
import type { Handler, HandlerContext, Job } from "./types.js";

/** Always resolves: whatever the handler does is an outcome. A handler that never ends leaves it pending. */
export async function runHandler(
  handler: Handler,
  { leaseMs: _, ...job }: ClaimedJob,
  context: HandlerContext,
): Promise<Outcome> {
  try {
    return outcomeOfValue(await handler(job as Job, context));
  } catch (error) {
    return outcomeOfError(error);
  }
}

/**
 * What a handler's signal says to it. What a handler throws to ask for something is in `shared/asks.ts`: handlers inside
 * Convex throw the same.
 */
import type { AbortReason } from "./types.js";

/**
 * Why a handler's signal was aborted: `signal.reason` of every job.
 *
 * @example
 * if (signal.aborted && (signal.reason as JobAborted).reason === "canceled") await removePartialOutput();
 */
export class JobAborted extends Error {
  override readonly name = "JobAborted";

  /** @internal */
  constructor(
    readonly reason: AbortReason,
    message: string,
  ) {
    super(message);
  }
}

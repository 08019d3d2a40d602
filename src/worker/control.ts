/**
 * The reason in a handler's signal. The errors by which a handler asks for an outcome are in `shared/asks.ts`: handlers
 * inside Convex throw the same.
 */
import type { AbortReason } from "./events.js";

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

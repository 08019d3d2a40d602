/**
 * What a handler throws to say more than "it failed", and what its signal says to it. They are told by their names and
 * not by their classes: a bundle may hold two copies of this file.
 */
import { checkInteger, RUN_AT_FUTURE_MAX_MS } from "../shared/index.js";
import type { AbortReason } from "./types.js";

/**
 * Fails the job for good, whatever retries its queue allows: another attempt would fail as well.
 *
 * @example
 * if (response.status === 404) throw new NonRetryableError(`There is no ${payload.url}.`);
 */
export class NonRetryableError extends Error {
  override readonly name = "NonRetryableError";
}

/**
 * Fails the attempt; where the queue's retries allow another, it begins after so long, instead of after the backoff.
 * To come back later without a failure, see `snooze`.
 *
 * @example
 * if (response.status === 429) throw new RetryAfterError(30_000, "The mail service is busy.");
 */
export class RetryAfterError extends Error {
  override readonly name = "RetryAfterError";

  /**
   * @param retryAfterMs How long to wait, in milliseconds, a whole number from 0 to four years.
   * @param message Why, for people.
   * @throws `invalidArgument` for a time out of bounds.
   */
  constructor(
    readonly retryAfterMs: number,
    message = "The handler asks to be tried again later.",
    options?: ErrorOptions,
  ) {
    super(message, options);
    checkInteger("retryAfterMs", retryAfterMs, 0, RUN_AT_FUTURE_MAX_MS);
  }
}

/** What `snooze` throws: it must pass through the handler. */
export class Snoozed extends Error {
  override readonly name = "Snoozed";

  constructor(readonly runAfterMs: number) {
    super(`The handler gives the job back for ${runAfterMs} ms.`);
    checkInteger("The time of a snooze", runAfterMs, 0, RUN_AT_FUTURE_MAX_MS);
  }
}

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

/** What an error asks for, if it is one of these. */
export function askedBy(error: unknown): {
  snoozeMs?: number;
  retryAfterMs?: number;
  retryable?: false;
} {
  if (!(error instanceof Error)) return {};
  const { name, runAfterMs, retryAfterMs } = error as {
    name: string;
    runAfterMs?: unknown;
    retryAfterMs?: unknown;
  };
  if (name === "NonRetryableError") return { retryable: false };
  if (name === "Snoozed" && typeof runAfterMs === "number") return { snoozeMs: runAfterMs };
  if (name === "RetryAfterError" && typeof retryAfterMs === "number") return { retryAfterMs };
  return {};
}

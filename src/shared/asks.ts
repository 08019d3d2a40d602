/**
 * The errors by which a handler asks for more than a failure, in a lane and in a worker. Each is a `ConvexError`: its data
 * cross from an action or mutation to the caller, and its class does not. The data also tell these errors apart, since a bundle
 * may hold two copies of this file. Pure.
 */
import { ConvexError } from "convex/values";
import { checkInteger } from "./checks.js";
import { RUN_AT_FUTURE_MAX_MS } from "./limits.js";
import { wellFormed } from "./text.js";
import { NON_RETRYABLE_OF_WORKPOOL } from "./workpool.js";

/** By this the platform knows a `ConvexError`, of whichever copy. */
const MARK = Symbol.for("ConvexError");

type Ask = { conveyor: string; message: string; ms?: number };

/** The data of a `ConvexError` have the request; the sentence is for people. */
class AskingError<Data extends Ask> extends ConvexError<Data> {
  constructor(data: Data, options?: ErrorOptions) {
    super(data);
    this.message = data.message;
    if (options !== undefined && "cause" in options) this.cause = options.cause;
  }
}

/**
 * Fails the job for good, also where its queue allows retries: another attempt would fail as well.
 *
 * @example
 * if (response.status === 404) throw new NonRetryableError(`There is no ${payload.url}.`);
 */
export class NonRetryableError extends AskingError<{ conveyor: "nonRetryable"; message: string }> {
  override readonly name = "NonRetryableError";

  /** @param message Why, for people. */
  constructor(message = "", options?: ErrorOptions) {
    super({ conveyor: "nonRetryable", message: wellFormed(String(message)) }, options);
  }
}

/**
 * Fails the attempt; where the queue's retries allow another, it begins after so long, instead of after the backoff.
 * To come back later without a failure, see `snooze`.
 *
 * @example
 * if (response.status === 429) throw new RetryAfterError(30_000, "The mail service is busy.");
 */
export class RetryAfterError extends AskingError<{
  conveyor: "retryAfter";
  message: string;
  ms: number;
}> {
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
    checkInteger("retryAfterMs", retryAfterMs, 0, RUN_AT_FUTURE_MAX_MS);
    const text = wellFormed(String(message));
    super({ conveyor: "retryAfter", message: text, ms: retryAfterMs }, options);
  }
}

/** The error of `snooze`: it must pass through the handler. */
export class Snoozed extends AskingError<{ conveyor: "snooze"; message: string; ms: number }> {
  override readonly name = "Snoozed";

  constructor(readonly runAfterMs: number) {
    checkInteger("The time of a snooze", runAfterMs, 0, RUN_AT_FUTURE_MAX_MS);
    const message = `The handler gives the job back for ${runAfterMs} ms.`;
    super({ conveyor: "snooze", message, ms: runAfterMs });
  }
}

/** The request of an error, if it is one of these. */
export function askedBy(error: unknown): {
  snoozeMs?: number;
  retryAfterMs?: number;
  retryable?: false;
  /** Its message: a `ConvexError` that has crossed shows its data instead. */
  message?: string;
} {
  if (typeof error !== "object" || error === null) return {};
  if (!(MARK in error)) {
    // A class of the app's own, by the same name, asks for the same.
    const isNamed = error instanceof Error && error.name === "NonRetryableError";
    return isNamed ? { retryable: false } : {};
  }
  const { data } = error as unknown as { data: unknown };
  if (typeof data !== "object" || data === null) return {};
  const { conveyor, message, ms } = data as { conveyor?: unknown; message?: unknown; ms?: unknown };
  const given = typeof message === "string" ? { message } : {};
  // A library may go on throwing the work pool's own.
  const isFinal = conveyor === "nonRetryable" || NON_RETRYABLE_OF_WORKPOOL in data;
  if (isFinal) return { retryable: false, ...given };
  if (conveyor === "snooze" && typeof ms === "number") return { snoozeMs: ms };
  if (conveyor === "retryAfter" && typeof ms === "number") return { retryAfterMs: ms, ...given };
  return {};
}

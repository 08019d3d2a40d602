/**
 * Tries a part of a handler again before anything is reported: for calls to services that fail now and then. A loop of
 * its own, and not a package: it sleeps by the worker's clock, ends with the job's signal, and leaves errors alone that
 * ask for an outcome (`NonRetryableError`, `RetryAfterError`, a snooze).
 */
import { askedBy, checkInteger, conveyorError } from "../shared/index.js";
import { backoff, type Clock } from "./clock.js";
import { RETRY_LOCALLY_DEFAULT, RETRY_LOCALLY_MAX_MS, RETRY_LOCALLY_TIMES_MAX } from "./limits.js";
import type { RetryLocallyOptions } from "./types.js";

export async function retryLocally<Result>(
  run: (attempt: number) => Result | Promise<Result>,
  options: RetryLocallyOptions,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<Result> {
  const { attempts, minMs, maxMs } = checked(options);
  for (let attempt = 1; ; attempt += 1) {
    signal.throwIfAborted();
    try {
      return await run(attempt);
    } catch (error) {
      const isLast = attempt >= attempts || signal.aborted || asksForAnOutcome(error);
      if (isLast || options.shouldRetry?.(error, attempt) === false) throw error;
    }
    await pause(backoff(clock, attempt - 1, minMs, maxMs), { clock, signal });
  }
}

function checked(options: RetryLocallyOptions) {
  const given = { ...RETRY_LOCALLY_DEFAULT, ...options };
  checkInteger("attempts", given.attempts, 1, RETRY_LOCALLY_TIMES_MAX);
  checkInteger("minMs", given.minMs, 0, RETRY_LOCALLY_MAX_MS);
  checkInteger("maxMs", given.maxMs, 0, RETRY_LOCALLY_MAX_MS);
  if (given.minMs <= given.maxMs) return given;
  throw conveyorError(
    "invalidArgument",
    `minMs must be at most maxMs, ${given.maxMs}; got ${given.minMs}.`,
    { argument: "minMs", got: given.minMs },
  );
}

function asksForAnOutcome(error: unknown): boolean {
  const { snoozeMs, retryable, retryAfterMs } = askedBy(error);
  return snoozeMs !== undefined || retryable === false || retryAfterMs !== undefined;
}

/** Ends with the signal's reason when that aborts. */
function pause(
  ms: number,
  { clock, signal }: { clock: Pick<Clock, "after">; signal: AbortSignal },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      cancel();
      reject(signal.reason as Error);
    };
    const cancel = clock.after(ms, () => {
      signal.removeEventListener("abort", stop);
      resolve();
    });
    signal.addEventListener("abort", stop, { once: true });
  });
}

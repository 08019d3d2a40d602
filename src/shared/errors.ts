/**
 * Conveyor's errors: a code for programs, a sentence for people, and the value given. Pure.
 *
 * Every error says the rule, the value, and the way out. A stale or foreign lease is not an error but an answer (`leaseLost`),
 * since one bad lease must not undo the rest of its batch.
 */
import { ConvexError, type Value } from "convex/values";
import { wellFormed } from "./text.js";

export const ERROR_CODES = [
  /** No code has ever defined this queue, or it is not served here. */
  "unknownQueue",
  /** Between the app and its component: queues are to be declared before the call. */
  "queuesUndeclared",
  /** No job has this id. */
  "unknownJob",
  /** No worker outside has this id. */
  "unknownWorker",
  /** A job with this key is active, and the caller asked to be refused. */
  "duplicateKey",
  /** The queue is being drained and takes no new jobs. */
  "queueDraining",
  /** The waiting jobs of the queue have too many different sets of labels and costs. */
  "tooManyRoutes",
  /** Its shards, times the priorities and sets of labels in use, are too many. */
  "tooManyPlaces",
  /** A number, name or list outside its bounds. */
  "invalidArgument",
  /** A payload or context that fails the queue's validator, or that no row can hold. */
  "invalidPayload",
  /** A payload or progress value over its size. */
  "payloadTooLarge",
  /** A job has not ended in the time for which its result was waited for. It goes on. */
  "resultTimedOut",
  /** An action's batch failed in the middle: the jobs enqueued before stay. */
  "batchInterrupted",
  /** No worker token with this secret. */
  "tokenUnknown",
  "tokenRevoked",
  /** A token of another deployment. */
  "tokenForeign",
  /** `authorize` in the app's code did not answer true for this call. */
  "forbidden",
  /** A queue outside the token's scope. */
  "queueForbidden",
  /** A group outside the token's scope. */
  "groupForbidden",
  /** A token that has as many sessions as it may. */
  "tooManySessions",
  /** The workers of a token have written as much as they may within an hour. */
  "quotaExceeded",
  /** A session that belongs to another token. */
  "sessionForbidden",
  /** A call older than the session's last. */
  "staleCall",
  /** In the app's backend: `convex.config.ts` does not mount the component. */
  "componentNotMounted",
  /** In a worker: the deployment has no worker functions. */
  "workerApiMissing",
  /**
   * In a worker: nothing handles a queue that it is to serve. In the app's backend: the function that a queue names is not
   * deployed.
   */
  "handlerMissing",
] as const;

export type ConveyorErrorCode = (typeof ERROR_CODES)[number];

/** The data of an error across the wire: the code, the sentence, and details by name. */
export type ConveyorErrorData<Code extends ConveyorErrorCode = ConveyorErrorCode> = {
  code: Code;
  message: string;
  [detail: string]: Value;
};

/** A `ConvexError` with one of Conveyor's codes in its data. */
export type ConveyorError<Code extends ConveyorErrorCode = ConveyorErrorCode> = ConvexError<
  ConveyorErrorData<Code>
>;

/** Makes an error. `message` states the rule, the value given, and how to get it right. */
export function conveyorError<Code extends ConveyorErrorCode>(
  code: Code,
  message: string,
  details: Record<string, Value> = {},
): ConveyorError<Code> {
  // Cut texts of callers among them may end in half a character, which no call could carry.
  return new ConvexError(wellFormedIn({ ...details, code, message }));
}

function wellFormedIn<T extends Value>(value: T): T {
  if (typeof value === "string") return wellFormed(value) as T & string;
  if (Array.isArray(value)) return value.map(wellFormedIn) as T & Value[];
  if (typeof value !== "object" || value === null || value instanceof ArrayBuffer) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, wellFormedIn(one)]),
  ) as T;
}

/**
 * Whether a caught value is one of Conveyor's errors, of the given code if one is given.
 *
 * It looks at the shape and not at the class: a bundle may hold two copies of `ConvexError`.
 *
 * @example
 * try { await tiles.enqueue(ctx, payload) } catch (error) {
 *   if (isConveyorError(error, "payloadTooLarge")) return await storeInFiles(payload);
 *   throw error;
 * }
 */
export function isConveyorError<Code extends ConveyorErrorCode = ConveyorErrorCode>(
  error: unknown,
  code?: Code,
): error is ConveyorError<Code> {
  try {
    if (typeof error !== "object" || error === null || !("data" in error)) return false;
    const data = error.data;
    if (typeof data !== "object" || data === null) return false;
    if (!("code" in data) || !("message" in data) || typeof data.message !== "string") return false;
    const codes: readonly unknown[] = ERROR_CODES;
    return code === undefined ? codes.includes(data.code) : data.code === code;
  } catch {
    // It throws when it is read.
    return false;
  }
}

/** The message of a caught value. Anything can be thrown, also a value that has no text or throws when it is read. */
export function errorText(error: unknown): string {
  try {
    return wellFormed(String(error instanceof Error ? error.message : error));
  } catch {
    return "Something was thrown that says nothing of itself.";
  }
}

/**
 * Of a caught value that says, in the platform's words, that a function is not deployed: the function's name, or `""` where
 * the platform names none. Any other: `null`.
 */
export function functionNotFound(error: unknown): string | null {
  const found = /Could not find (?:public )?function(?: for '([^']+)')?/.exec(errorText(error));
  return found === null ? null : (found[1] ?? "");
}

/**
 * The jobs that a handler enqueues after its own, checked at the call. They cross with the outcome, and an outcome with
 * arguments that its call refuses would never be recorded, however often it is sent. Pure.
 */
import { getConvexSize, type Value } from "convex/values";
import { validate } from "convex-helpers/validators";
import {
  checkContinueKey,
  checkName,
  checkTraceparent,
  CONTINUED_MAX,
  conveyorError,
  ENQUEUE_MAX_BYTES,
  errorText,
  vContinueOptions,
  type Continuation,
  type ContinueOptions,
} from "../shared/index.js";
import { checkSendable } from "./outcome.js";

/** One more job to follow, after these. */
export function continuation(
  before: readonly Continuation[],
  queue: string,
  payload: unknown,
  options: ContinueOptions | undefined,
): Continuation {
  if (before.length >= CONTINUED_MAX) {
    throw conveyorError(
      "invalidArgument",
      `A job may be followed by ${CONTINUED_MAX} jobs. Let one of them enqueue the rest.`,
      { max: CONTINUED_MAX },
    );
  }
  const one: Continuation = {
    queue: checkQueue(queue),
    payload: checkSendable(`The payload for the queue "${queue}"`, payload),
    ...(options === undefined ? {} : { options: checkOptions(queue, options) }),
  };
  const bytes = [...before, one].reduce((sum, each) => sum + getConvexSize(each as Value), 0);
  if (bytes <= ENQUEUE_MAX_BYTES) return one;
  throw conveyorError(
    "payloadTooLarge",
    `The jobs that follow another may have ${ENQUEUE_MAX_BYTES} bytes together; these have ${bytes}. ` +
      "Put large values into file storage, and their ids in their place.",
    { got: bytes, max: ENQUEUE_MAX_BYTES },
  );
}

/** In most programs without types it comes from the environment, where it was forgotten. */
function checkQueue(queue: unknown): string {
  const name = typeof queue === "string" ? queue : "";
  checkName("The name of the queue to continue with", name);
  return name;
}

function checkOptions(queue: string, given: ContinueOptions): ContinueOptions {
  const what = `The options with which to continue in the queue "${queue}"`;
  const options = checkSendable(what, given);
  try {
    validate(vContinueOptions, options, { throw: true });
  } catch (error) {
    throw conveyorError("invalidArgument", `${what} are invalid: ${errorText(error)}`, { queue });
  }
  checkContinueKey(queue, options as ContinueOptions);
  const { traceparent } = options as ContinueOptions;
  if (traceparent !== undefined) checkTraceparent(traceparent);
  return options as ContinueOptions;
}

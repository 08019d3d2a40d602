/** Failures that a handler did not cause: such a job is put off, and no failure is counted. Pure. */
import type { Blocked, ClaimedJob, Outcome } from "../shared/index.js";
import { messageOf } from "../worker/errors.js";

/**
 * The platform's messages where it had no room for the handler or does not know it (yet), so that it was never begun;
 * or did not commit it, since another transaction wrote into its read set. An error of a function that the handler
 * called reads as the platform's `Uncaught …`, and is a failure. So is a transaction that is too large:
 * `Too many writes in a single function execution`.
 */
const BLAMELESS =
  /^(?!Uncaught).*(Too many concurrent|TooManyConcurrent|Too many writes per second|Could not find function|changed while this mutation|OptimisticConcurrency)/is;
/** Of these, the handlers that were never begun. */
const BLOCKED: readonly [RegExp, Blocked][] = [
  [/Could not find function/i, "handlerMissing"],
  [/Too many concurrent|TooManyConcurrent|Too many writes per second/i, "noPermit"],
];
/** How long such a job waits: this, twice as long with each time, up to the other, and at random half less to half more. */
const WAIT_MS = 1_000;
const WAIT_MAX_MS = 5 * 60_000;

/** Whether the platform alone is to blame for this. */
export function isBlameless(error: unknown): boolean {
  return BLAMELESS.test(messageOf(error));
}

/** How the job of a handler that is not to blame for this is put off; else null. */
export function blameless(
  error: unknown,
  { attempt, failures }: Pick<ClaimedJob, "attempt" | "failures">,
): Outcome | null {
  if (!isBlameless(error)) return null;
  const before = Math.min(Math.max(0, attempt - 1 - failures), 30);
  const wait = Math.min(WAIT_MS * 2 ** before, WAIT_MAX_MS);
  const runAfter = Math.round(wait * (0.5 + Math.random()));
  const text = messageOf(error);
  const blocked = BLOCKED.find(([words]) => words.test(text))?.[1];
  return { kind: "snoozed", runAfter, ...(blocked === undefined ? {} : { blocked, error: text }) };
}

/**
 * Whether results fit their queue's rule, where it has one: of handlers that the component itself calls. Inline ones,
 * and workers outside, are checked by the app's functions, which have the validator itself. Pure.
 */
import type { Value } from "convex/values";
import type { Finished } from "../../shared/index.js";
import { explainBadResult } from "../../shared/mismatch.js";
import { readValidator } from "../../shared/writtenValidator.js";
import type { Queue } from "../rows/queues.js";

/** Why this is no result of the queue with this rule; null where it is one, or there is no rule. */
export function whyNoResult(queue: string, rule: string | undefined, result: Value): string | null {
  return rule === undefined ? null : explainBadResult(queue, readValidator(rule), result);
}

/** The finished jobs, with a failure in place of each result that does not fit: the call's other outcomes stand. */
export function withFittingResults(
  { name, config }: Pick<Queue, "name" | "config">,
  finished: readonly Finished[],
): Finished[] {
  return finished.map((one) => {
    const { id, attempt, outcome } = one;
    if (outcome.kind !== "succeeded") return one;
    const error = whyNoResult(name, config.result, (outcome.result ?? null) as Value);
    return error === null ? one : { id, attempt, outcome: { kind: "failed", error } };
  });
}

/** Validators that an app declares with, under the names and of the shapes of `@convex-dev/workpool`. */
import { v, type Validator, type VAny, type VString } from "convex/values";
import { vWorkLogLevel, type WorkLogLevel } from "../shared/index.js";

/** The id of a piece of work. */
export type WorkId = string & { __isWorkId: true };
/** The validator of a {@link WorkId}. It checks a string. */
export const vWorkId = v.string() as VString<WorkId>;

export const vLogLevel = vWorkLogLevel;
export type LogLevel = WorkLogLevel;

/** How often and when a failed action is tried again. */
export interface RetryBehavior {
  /** Attempts in all, the first included; up to 1,000. Below 2 nothing is tried again. */
  maxAttempts: number;
  /** The wait before the second attempt, in milliseconds, up to 31,622,400,000 (366 days). */
  initialBackoffMs: number;
  /** The factor of each further wait, 1 to 10. */
  base: number;
}
export const vRetryBehavior = v.object({
  maxAttempts: v.number(),
  initialBackoffMs: v.number(),
  base: v.number(),
});

/** The meaning of `retry: true` where the pool has no `defaultRetryBehavior`. */
export const DEFAULT_RETRY_BEHAVIOR: RetryBehavior = {
  maxAttempts: 5,
  initialBackoffMs: 250,
  base: 2,
};

/** How a piece of work has ended. */
export type RunResult<Returns = unknown> =
  | { kind: "success"; returnValue: Returns }
  | { kind: "failed"; error: string }
  | { kind: "canceled" };

/** The validator of a {@link RunResult} of a function that returns values of `returnValue`. */
export function vRunResult<VReturn extends Validator<any, any, any> = VAny>(returnValue: VReturn) {
  return v.union(
    v.object({ kind: v.literal("success"), returnValue }),
    v.object({ kind: v.literal("failed"), error: v.string() }),
    v.object({ kind: v.literal("canceled") }),
  );
}

/** The same for any return value. */
export const vResult = vRunResult(v.any());

/** The arguments of an `onComplete` mutation. */
export type OnCompleteArgs<Context = unknown, Returns = unknown> = {
  workId: string;
  /** The context given at the work's enqueue. */
  context: Context;
  result: RunResult<Returns>;
};

/**
 * The arguments of an `onComplete` mutation.
 *
 * @param context The validator of the context; without it, any, or none.
 * @param returnValue The validator of the function's return value; without it, anything.
 * @example
 * export const sent = internalMutation({
 *   args: vOnCompleteArgs(v.object({ user: v.id("users") })),
 *   handler: async (ctx, { workId, context, result }) => { … },
 * });
 */
export function vOnCompleteArgs<
  VContext extends Validator<any, any, any> = VAny,
  VReturn extends Validator<any, any, any> = VAny,
>(context?: VContext, returnValue?: VReturn) {
  return v.object({
    workId: vWorkId,
    context: context ?? (v.optional(v.any()) as unknown as VContext),
    result: vRunResult(returnValue ?? (v.optional(v.any()) as unknown as VReturn)),
  });
}

/** `vOnCompleteArgs` of any context. */
export const vOnComplete = vOnCompleteArgs(v.any());

/** Validators that an app declares with: a job's id in its own tables, and the arguments of `onComplete`. */
import { v, type VAny, type VString } from "convex/values";
import { vTimedOutCode, type JobId } from "../shared/index.js";
import type { ValueValidator } from "./types.js";

/**
 * A validator for a job's id, for the app's own tables and arguments. It checks a string; the type remembers the queue.
 *
 * @param _queue The queue's name, for the type alone; without it, a job of any queue.
 * @example
 * defineTable({ picture: v.id("pictures"), job: vJobId("tiles") })
 */
export function vJobId<Queue extends string = string>(_queue?: Queue): VString<JobId<Queue>> {
  return v.string() as VString<JobId<Queue>>;
}

/**
 * The arguments of an `onComplete` mutation, for payloads and results of these validators. A defined queue has them
 * as {@link Queue.onCompleteArgs}; this is for callbacks that are written before their queue, or shared by several.
 *
 * `attempt` is the last one, 0 if there was none. `worker` is absent when no worker ever had the job; `name` and
 * `context` are from the job's enqueue.
 *
 * @param of.payload The queue's validator of payloads.
 * @param of.result The queue's validator of results.
 * @param of.name The queue, for the type of `id`; without it, any.
 * @param of.context The queue's validator of contexts; without it, any value.
 * @example
 * export const tileDone = internalMutation({
 *   args: vOnComplete({ payload: vTile, result: vPixels, name: "tiles" }),
 *   handler: async (ctx, { id, payload, outcome }) => {
 *     if (outcome.status === "succeeded") await ctx.db.patch(payload.tile, outcome.result);
 *   },
 * });
 */
export function vOnComplete<
  VPayload extends ValueValidator,
  VResult extends ValueValidator,
  Name extends string = string,
  VContext extends ValueValidator = VAny,
>(of: { payload: VPayload; result: VResult; name?: Name; context?: VContext }) {
  return v.object({
    id: vJobId(of.name),
    queue: v.string() as VString<Name>,
    payload: of.payload,
    outcome: v.union(
      v.object({ status: v.literal("succeeded"), result: of.result }),
      v.object({ status: v.literal("failed"), error: v.string() }),
      v.object({
        status: v.literal("timedOut"),
        error: v.string(),
        code: v.optional(vTimedOutCode),
      }),
      v.object({ status: v.literal("canceled"), error: v.string() }),
    ),
    attempt: v.number(),
    worker: v.optional(v.string()),
    name: v.optional(v.string()),
    context: v.optional(of.context ?? (v.any() as ValueValidator as VContext)),
  });
}

/** The type of {@link vOnComplete}'s answer, which TypeScript can only name by the function that returns it. */
export type VOnComplete<
  VPayload extends ValueValidator,
  VResult extends ValueValidator,
  Name extends string,
  VContext extends ValueValidator = VAny,
> = ReturnType<typeof vOnComplete<VPayload, VResult, Name, VContext>>;

/** The arguments of an app's `onComplete`. Pure. */
import { v, type Infer } from "convex/values";
import { vTimedOutCode } from "./protocol.js";

/** How a job ended, as `onComplete` is told. */
export const vFinalOutcome = v.union(
  v.object({ status: v.literal("succeeded"), result: v.any() }),
  v.object({ status: v.literal("failed"), error: v.string() }),
  v.object({
    status: v.literal("timedOut"),
    error: v.string(),
    code: v.optional(vTimedOutCode),
  }),
  v.object({ status: v.literal("canceled"), error: v.string() }),
);
export type FinalOutcome = Infer<typeof vFinalOutcome>;

/** The arguments of the app's `onComplete` mutation. */
export const vOnCompleteArgs = v.object({
  id: v.string(),
  queue: v.string(),
  payload: v.any(),
  outcome: vFinalOutcome,
  attempt: v.number(),
  /** Absent when no worker ever had the job. */
  worker: v.optional(v.string()),
  /** The name given to `enqueue`. */
  name: v.optional(v.string()),
  context: v.optional(v.any()),
});
export type OnCompleteArgs = Infer<typeof vOnCompleteArgs>;

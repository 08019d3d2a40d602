/**
 * Jobs that a worker wants to be enqueued with another's result, as it says so to the app: the app knows the queues and
 * their validators, and makes of them what the component takes. Pure.
 *
 * A worker may say less than the app's own code: not who is told how the job ends, since that names a function.
 */
import { v, type Infer } from "convex/values";
import { vOnConflict, vRetry } from "./protocol.js";

export const vContinueOptions = v.object({
  name: v.optional(v.string()),
  priority: v.optional(v.number()),
  runAt: v.optional(v.number()),
  runAfter: v.optional(v.number()),
  key: v.optional(
    v.union(
      v.string(),
      v.object({
        value: v.string(),
        windowMs: v.optional(v.number()),
        onConflict: v.optional(vOnConflict),
      }),
    ),
  ),
  group: v.optional(v.string()),
  tags: v.optional(v.array(v.string())),
  labels: v.optional(v.array(v.string())),
  cost: v.optional(v.number()),
  expiresAfterMs: v.optional(v.number()),
  timeoutMs: v.optional(v.number()),
  leaseMs: v.optional(v.number()),
  maxResets: v.optional(v.number()),
  retry: v.optional(v.union(v.boolean(), vRetry.partial())),
  context: v.optional(v.any()),
});

/** What a job that follows another may be given: as with `enqueue`. */
export type ContinueOptions = Infer<typeof vContinueOptions>;

export const vContinuation = v.object({
  queue: v.string(),
  payload: v.any(),
  options: v.optional(vContinueOptions),
});
export type Continuation = Infer<typeof vContinuation>;

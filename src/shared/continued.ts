/**
 * Jobs that a worker asks to enqueue together with another job's result, as the worker sends them to the app: the app knows the
 * queues and their validators, and turns them into the component's arguments. Pure.
 *
 * A worker may set less than the app's own code: no `onComplete`, since that names a function, and no key that replaces another
 * job.
 */
import { v, type Infer } from "convex/values";
import { conveyorError } from "./errors.js";
import { vOnConflict, vPrefer, vRetry, type OnConflict, type UniqueKey } from "./protocol.js";

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
  prefer: v.optional(vPrefer),
  cost: v.optional(v.number()),
  expiresAfterMs: v.optional(v.number()),
  deadlineMs: v.optional(v.number()),
  timeoutMs: v.optional(v.number()),
  leaseMs: v.optional(v.number()),
  maxResets: v.optional(v.number()),
  retry: v.optional(v.union(v.boolean(), vRetry.partial())),
  context: v.optional(v.any()),
  traceparent: v.optional(v.string()),
});

/** The options of a job that follows another: as with `enqueue`, but its key may replace no other job. */
export type ContinueOptions = Omit<Infer<typeof vContinueOptions>, "key"> & {
  key?: string | (Omit<UniqueKey, "onConflict"> & { onConflict?: Exclude<OnConflict, "replace"> });
};

/** Refuses a key that cancels the job which has it: that job may be the app's. */
export function checkContinueKey(queue: string, { key }: Infer<typeof vContinueOptions>): void {
  if (typeof key !== "object" || key.onConflict !== "replace") return;
  throw conveyorError(
    "invalidArgument",
    `A job to continue with may not replace one that has its key; the key ${JSON.stringify(key.value.slice(0, 100))} ` +
      `in the queue "${queue}" has \`onConflict: "replace"\`. Use "existing" or "refuse", or let the app enqueue it.`,
    { queue, onConflict: key.onConflict },
  );
}

export const vContinuation = v.object({
  queue: v.string(),
  payload: v.any(),
  options: v.optional(vContinueOptions),
});
export type Continuation = Infer<typeof vContinuation>;

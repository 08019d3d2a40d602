/**
 * The queue that only Convex itself processes: a summary of each picture that is drawn. Workers outside draw tiles; a
 * short job that needs only the app's data needs none of them.
 */
import { v } from "convex/values";
import { internal } from "../_generated/api.js";
import { vSummary } from "../summary.js";
import { conveyor } from "./farm.js";

export const summaries = conveyor.queue("summaries", {
  payload: {
    picture: v.id("pictures"),
    /** Fails on its first attempt, to show how Convex tries again by itself. */
    fragile: v.boolean(),
  },
  result: vSummary,
  action: () => internal.summaries.write,
  onComplete: () => internal.summaries.finished,
  maxParallelism: 4,
  // The wait is random, from none to this long: long enough to be seen.
  retry: { maxAttempts: 3, initialBackoffMs: 6_000 },
  timeoutMs: 60_000,
});

/**
 * The functions that a `Workpool` needs besides `lib.enqueue`: its work is jobs of one queue, read and canceled as
 * `@convex-dev/workpool` does. An id that names no work of the pool is work that has ended and is gone, and not an
 * error.
 *
 * Status: reads the job's row and nothing else, so that a subscription is invalidated only when the job moves. Cancel:
 * as `cancel.ts` and `bulk.ts`.
 */
import { v } from "convex/values";
import {
  BULK_CHANGED,
  checkLength,
  vWorkStatus,
  WORK_CANCEL_DEFAULT,
  WORK_STATUS_MAX,
  WORKPOOL_QUEUE,
  workStatus,
  type WorkStatus,
} from "../shared/index.js";
import { mutation, query } from "./_generated/server.js";
import { changeMany } from "./manage/bulk.js";
import { cancel as cancelJob } from "./manage/cancel.js";
import { findJobOf } from "./rows/jobs.js";
import { findQueue } from "./rows/queues.js";

/** How each of these stands, in their order. */
export const statusBatch = query({
  args: { ids: v.array(v.string()) },
  returns: v.array(vWorkStatus),
  handler: async (ctx, { ids }): Promise<WorkStatus[]> => {
    checkLength("The ids of a call", ids, 0, WORK_STATUS_MAX);
    const jobs = ids.map((id) => findJobOf(ctx.db, id, WORKPOOL_QUEUE));
    return (await Promise.all(jobs)).map(workStatus);
  },
});

/** Ends work that has not begun, and keeps running work from being retried. */
export const cancel = mutation({
  args: { id: v.string() },
  returns: v.null(),
  handler: async (ctx, { id }): Promise<null> => {
    const job = await findJobOf(ctx.db, id, WORKPOOL_QUEUE);
    if (job !== null) await cancelJob(ctx, id, { queue: WORKPOOL_QUEUE });
    return null;
  },
});

/** The same for all work, the newest first: up to `limit` in this transaction, the rest by itself. */
export const cancelAll = mutation({
  args: { limit: v.optional(v.number()) },
  returns: v.null(),
  handler: async (ctx, { limit = WORK_CANCEL_DEFAULT }): Promise<null> => {
    // Without any enqueue yet, there is nothing to cancel.
    if ((await findQueue(ctx.db, WORKPOOL_QUEUE)) === null) return null;
    await changeMany(ctx, {
      ...{ queue: WORKPOOL_QUEUE, action: "cancel" as const, filter: {} },
      limit: Math.min(limit, BULK_CHANGED),
    });
    return null;
  },
});

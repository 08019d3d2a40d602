/**
 * Replace: cancels a job and, only if it has not begun, enqueues another in its place, in one transaction.
 *
 * Reads for real: the job that is to go, the roll-up's alarm, and as `enqueue`. Writes: that job, and as `enqueue`.
 * Conflicts with: a claim of that job: one of the two retries, and finds the other's result; and as `cancel` and
 * `enqueue`.
 */
import {
  conveyorError,
  mayMove,
  type NewJob,
  type QueueDeclaration,
  type Status,
} from "../../shared/index.js";
import type { MutationCtx } from "../_generated/server.js";
import { withEffects } from "../edges/applyEffects.js";
import { tellAll } from "../edges/callbacks.js";
import { cancelJob } from "./cancel.js";
import { enqueueJobs, REPLACED } from "../enter/enqueue.js";
import { getJob } from "../rows/jobs.js";
import { freeKey } from "../rows/keys.js";
import { declaredQueues } from "../rows/queues.js";

export interface Replaced {
  replaced: boolean;
  /** Of the new job; of the one that stays, if it was not replaced. */
  id: string;
  /** The status, after the call, of the job that was to go. */
  status: Status;
}

export async function replace(
  ctx: MutationCtx,
  id: string,
  declaration: QueueDeclaration,
  job: NewJob,
): Promise<Replaced> {
  const there = await getJob(ctx.db, id, declaration.name);
  if (!mayMove("cancel", there.status)) {
    return { replaced: false, id: there._id, status: there.status };
  }
  const now = Date.now();
  const [queue] = await declaredQueues(ctx.db, [declaration], now);
  return await withEffects(ctx, { now, deliver: tellAll }, async (ctx) => {
    // Its key goes first: the new job may have the same, which is then free before its window is over.
    const { status } = await cancelJob(ctx, there, REPLACED);
    const { keyUntil: _, ...keyed } = there;
    if (job.options?.key?.value === there.key) await freeKey(ctx.db, keyed);
    const [enqueued] = await enqueueJobs(ctx, queue!, [job]);
    // Nothing is canceled for a job that is not enqueued.
    if (!enqueued!.isNew) throw keyTaken(declaration.name, job.options!.key!.value, enqueued!.id);
    return { replaced: true, id: enqueued!.id, status };
  });
}

function keyTaken(queue: string, key: string, id: string): Error {
  return conveyorError(
    "duplicateKey",
    `The job was not replaced: a third job of the queue "${queue}" has the new one's key ${JSON.stringify(key.slice(0, 100))}, and ` +
      "stays. Use that by the id given here, cancel it first, or give the new job another key.",
    { queue, key, id },
  );
}
